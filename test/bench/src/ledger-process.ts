// The ledger's loop inside a measured process.
import { assumptionsCore, mutationsCore } from '@recourse/mutation-ledger';
import { startMeasured } from './measured-service.js';
import type { MeasuredAddress, MeasuredService, MeasuredWatch } from './measured-service.js';

export type LedgerAddress = MeasuredAddress;

/** Starts both logs of the ledger, and tells of the mutations. Errors: those of broker, registry and database. */
export function startLedger(address: LedgerAddress, watch: Omit<MeasuredWatch, 'log'>): Promise<MeasuredService> {
  return startMeasured([assumptionsCore(), mutationsCore()], address, { log: 'recourse.mutations', ...watch });
}
