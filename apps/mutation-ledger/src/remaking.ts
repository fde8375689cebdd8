// Decisions of the ledger about mutations, made again for packets: under the settings they were made with, but for the key that signs
// leases, which no packet holds; and as another policy bundle would have it.
import { bundleInstead, remaking } from '@recourse/service/replay';
import { CONFIG, mutationsConfigOf } from './config.js';
import { mutationsCore } from './core.js';

const { leaseMs, reviewDeadlineMs, concludeWithinMs, askAttemptsMax, askBaseMs, warnLeadMs } = CONFIG;
const { fullFidelityMs, softRollbackMs, boundMs, sourceTrust, sourceTrustThreshold } = CONFIG;
const { stormLimit, stormWindowMs, closureMax, trendMin, trendFactor, trendWindowMs } = CONFIG;
const { ackSyncMs, ackAsyncMs, ackPollMs } = CONFIG;

/** Leases that it signs are taken from the records instead. */
const NO_KEY = Buffer.alloc(32);

export const REMAKING = remaking(
  {
    ...{ leaseMs, reviewDeadlineMs, concludeWithinMs, askAttemptsMax, askBaseMs, warnLeadMs },
    ...{ fullFidelityMs, softRollbackMs, boundMs, sourceTrust, sourceTrustThreshold },
    ...{ stormLimit, stormWindowMs, closureMax, trendMin, trendFactor, trendWindowMs },
    ...{ ackSyncMs, ackAsyncMs, ackPollMs },
  },
  {
    coreOf: (config) => mutationsCore(mutationsConfigOf({ ...config, leaseKey: NO_KEY })),
    keyed: new Set(['lease_id']),
    whatIf: (other) => ({ record: bundleInstead(other), row: () => null }),
  },
);
