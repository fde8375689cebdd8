// What each program reads of its environment.
import type { ConfigSpec } from '@recourse/config';
import { CONFIG as AUDITOR, WITNESS_CONFIG as WITNESS } from '../../apps/auditor/src/config.js';
import { CONFIG as ACCOUNTANT } from '../../apps/budget-accountant/src/config.js';
import { CONFIG as REGISTRY } from '../../apps/contract-registry/src/config.js';
import { CONFIG as LEDGER } from '../../apps/mutation-ledger/src/config.js';
import { CONFIG as NOTIFIER } from '../../apps/notifier/src/config.js';
import { CONFIG as ORCHESTRATOR } from '../../apps/recovery-orchestrator/src/config.js';
import type { AuditingName, ProgramName } from './containers.testing.js';

export const CONFIGS: Readonly<Record<ProgramName | AuditingName, ConfigSpec>> = {
  'contract-registry': REGISTRY,
  'mutation-ledger': LEDGER,
  'recovery-orchestrator': ORCHESTRATOR,
  'budget-accountant': ACCOUNTANT,
  notifier: NOTIFIER,
  auditor: AUDITOR,
  witness: WITNESS,
};

/** Names of the variables, and of those among them whose files are secret. */
export function variablesOf(program: ProgramName | AuditingName): {
  readonly all: readonly string[];
  readonly secret: readonly string[];
} {
  const variables = Object.values(CONFIGS[program]);
  return {
    all: variables.map(({ name }) => name),
    secret: variables.filter(({ isSecretFile }) => isSecretFile).map(({ name }) => name),
  };
}

/** Variables that have no value unless somebody gives one. */
export function requiredOf(program: ProgramName | AuditingName): readonly string[] {
  return Object.values(CONFIGS[program])
    .filter(({ fallback, isOptional }) => fallback === null && !isOptional)
    .map(({ name }) => name);
}
