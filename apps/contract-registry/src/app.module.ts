// What the contract registry is made of.
import type { ServiceSpec } from '@recourse/service';
import { CONTRACTS_LOG, registryCore, REGISTRY_COMMANDS } from './application/contracts.core.js';
import { EntriesController } from './inbound/http/entries.controller.js';
import { ContractProposalsController, ContractsController } from './inbound/http/contracts.controller.js';

export function serviceSpec(): ServiceSpec {
  return {
    name: 'contract-registry',
    commandTopic: REGISTRY_COMMANDS,
    commandLog: CONTRACTS_LOG,
    cores: () => [registryCore()],
    controllers: [ContractsController, ContractProposalsController, EntriesController],
  };
}
