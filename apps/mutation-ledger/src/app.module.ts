// What the mutation ledger is made of: two logs, one process.
import type { ServiceSpec } from '@recourse/service';
import { assumptionsCore } from './application/assumptions.core.js';
import { mutationsCore } from './application/mutations.core.js';
import type { LedgerConfig } from './config.js';
import { MutationsController } from './inbound/http/mutations.controller.js';

export function serviceSpec({ concludeWithinMs }: LedgerConfig): ServiceSpec {
  return {
    name: 'mutation-ledger', commandTopic: 'recourse.ledger-commands', commandLog: 'recourse.mutations',
    cores: () => [assumptionsCore(), mutationsCore({ concludeWithinMs })],
    controllers: [MutationsController],
  };
}
