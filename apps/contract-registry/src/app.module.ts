// What the contract registry is made of.
import type { ServiceSpec } from '@recourse/service';
import { registryCore, REGISTRY_COMMANDS } from './core.js';
import { CONTRACTS_LOG } from './rows.js';
import { EntriesController } from './http/entries.controller.js';
import { ContractListsController, ContractsController } from './http/contracts.controller.js';
import { ContractDraftsController } from './http/drafts.controller.js';
import { ANSWERS } from './generated/answers.js';

export function serviceSpec(): ServiceSpec {
  return {
    name: 'contract-registry',
    commandTopic: REGISTRY_COMMANDS,
    commandLog: CONTRACTS_LOG,
    cores: [registryCore()],
    answers: ANSWERS,
    controllers: [ContractsController, ContractListsController, ContractDraftsController, EntriesController],
  };
}
