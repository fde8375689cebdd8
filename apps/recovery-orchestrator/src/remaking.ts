// Decisions of the orchestrator, made again for packets: under the settings they were made with, but for the key that signs leases, which
// no packet holds; and as another policy bundle would have it.
import { bundleInstead, remaking } from '@recourse/service/replay';
import { CONFIG, ratesOf } from './config.js';
import { recoveriesCore } from './core.js';

const { leaseMs, reviewDeadlineMs, forwardValidMs, childrenFirstMs, riskLimit } = CONFIG;
const { retryBaseMs, retryMaxMs, ratePerTenant, ratePerCapability } = CONFIG;

/** Leases that it signs are taken from the records instead. */
const NO_KEY = Buffer.alloc(32);

export const REMAKING = remaking(
  {
    ...{ leaseMs, reviewDeadlineMs, forwardValidMs, childrenFirstMs, riskLimit },
    ...{ retryBaseMs, retryMaxMs, ratePerTenant, ratePerCapability },
  },
  {
    coreOf: (config) =>
      recoveriesCore({
        leaseKey: NO_KEY,
        leaseMs: config.leaseMs,
        reviewDeadlineMs: config.reviewDeadlineMs,
        forwardValidMs: config.forwardValidMs,
        childrenFirstMs: config.childrenFirstMs,
        riskLimit: config.riskLimit,
        backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs },
        ownerOf: () => null,
        rates: ratesOf(config),
      }),
    // An action is named by what it is called with, which is sealed in the log.
    keyed: new Set(['lease_id', 'action_digest']),
    whatIf: (other) => ({ record: bundleInstead(other), row: () => null }),
  },
);
