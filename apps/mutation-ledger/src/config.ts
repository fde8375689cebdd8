// Environment of the mutation ledger.
import { integer, oneOf, optional } from '@recourse/config';
import type { ConfigOf, ConfigRule } from '@recourse/config';
import { LEASE_CONFIG, SERVICE_CONFIG } from '@recourse/service';
import type { MutationsConfig } from './policy.js';
import { THRESHOLD_MIN, WEIGHT_MAX } from './rules/admission/admission.messages.js';
import type { AdmissionLimits } from './rules/admission/admission.messages.js';
import { BOUND_MAX_MS, BOUND_MIN_MS } from './rules/rollback/bound.decider.js';

export const CONFIG = {
  ...SERVICE_CONFIG,
  ...LEASE_CONFIG,
  concludeWithinMs: integer('RECOURSE_CONCLUDE_WITHIN_MS', {
    doc: 'How long an intent or an uncertain outcome may stand before a person is asked.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '900000',
  }),
  askAttemptsMax: integer('RECOURSE_ASK_ATTEMPTS_MAX', {
    doc: 'How often workers are asked about a forward action before a person is asked.',
    min: 1,
    max: 20,
    unit: null,
    fallback: '5',
  }),
  askBaseMs: integer('RECOURSE_ASK_BASE_MS', {
    doc: 'Wait before workers are asked again; doubles with each attempt, up to a minute.',
    min: 10,
    max: 60_000,
    unit: 'milliseconds',
    fallback: '1000',
  }),
  warnLeadMs: integer('RECOURSE_WARN_LEAD_MS', {
    doc: 'How long before a window closes people are warned; for a short window, when a tenth of it is left.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '3600000',
  }),
  fullFidelityMs: integer('RECOURSE_FULL_FIDELITY_MS', {
    doc: 'How long the state of a commit is kept. Then its key is destroyed; the record, its lineage and its policy bundle stay.',
    min: 1_000,
    max: 3_650 * 86_400_000,
    unit: 'milliseconds',
    fallback: '604800000',
  }),
  softRollbackMs: integer('RECOURSE_SOFT_ROLLBACK_MS', {
    doc: 'How long the state of a rolled-back commit is kept so that people can look at it.',
    min: 100,
    max: 3_650 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
  janitorMs: integer('RECOURSE_JANITOR_MS', {
    doc: 'How often the keys of expired states are destroyed.',
    min: 100,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '60000',
  }),
  boundMs: optional(
    integer('RECOURSE_ROLLBACK_BOUND_MS', {
      doc: 'How far back a rollback reaches over lineage: older descendants are not rolled back but reviewed by a person. Unset means no bound.',
      min: BOUND_MIN_MS,
      max: BOUND_MAX_MS,
      unit: 'milliseconds',
    }),
  ),
  sourceTrust: oneOf('RECOURSE_SOURCE_TRUST', ['weighed', 'off'], {
    doc: 'Whether a trigger of a source below the threshold waits for a person. `off` lets every source roll back by itself: for development.',
    fallback: 'weighed',
  }),
  sourceTrustThreshold: integer('RECOURSE_SOURCE_TRUST_THRESHOLD_PERMILLE', {
    doc: 'Weight from which a source rolls back by itself. A source that nobody registered or judged weighs 500.',
    min: THRESHOLD_MIN,
    max: WEIGHT_MAX,
    unit: 'thousandths',
    fallback: '600',
  }),
  stormLimit: integer('RECOURSE_STORM_LIMIT', {
    doc: 'Rollbacks, each with evidence of its own, that one source, tenant or capability may start within the window before a breaker holds the next ones for a person, over all partitions together. 0 means no limit.',
    min: 0,
    max: 1_000_000,
    unit: 'rollbacks',
    fallback: '600',
  }),
  stormWindowMs: integer('RECOURSE_STORM_WINDOW_MS', {
    doc: 'Window in which they are counted.',
    min: 1_000,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '60000',
  }),
  closureMax: integer('RECOURSE_CLOSURE_MAX', {
    doc: 'Commits one event may roll back before the rest waits for a person, over all partitions together. 0 means no limit.',
    min: 0,
    max: 100_000_000,
    unit: 'commits',
    fallback: '10000',
  }),
  trendMin: integer('RECOURSE_TREND_MIN', {
    doc: 'Rollbacks, each with evidence of its own, that one tenant or agent must have in each of the newest three windows before a steady rise is told to a person, over all partitions together. It holds nothing. 0 means that nobody is told.',
    min: 0,
    max: 1_000_000,
    unit: 'rollbacks',
    fallback: '30',
  }),
  trendFactor: integer('RECOURSE_TREND_FACTOR', {
    doc: 'How many times the usual number of rollbacks is a rise.',
    min: 2,
    max: 100,
    unit: null,
    fallback: '3',
  }),
  trendWindowMs: integer('RECOURSE_TREND_WINDOW_MS', {
    doc: 'Window in which rollbacks are counted; what is usual is told from up to 24 of them.',
    min: 1_000,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '3600000',
  }),
  ackSyncMs: integer('RECOURSE_ACK_SYNC_MS', {
    doc: 'How long a synchronous consumer has to acknowledge a rollback before a person is told.',
    min: 100,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '5000',
  }),
  ackAsyncMs: integer('RECOURSE_ACK_ASYNC_MS', {
    doc: 'The same for an asynchronous consumer.',
    min: 100,
    max: 7 * 86_400_000,
    unit: 'milliseconds',
    fallback: '60000',
  }),
  ackPollMs: integer('RECOURSE_ACK_POLL_MS', {
    doc: 'The same for a consumer that polls.',
    min: 100,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
} as const;

/** What must hold between them. */
export const CONFIG_RULES: readonly ConfigRule<typeof CONFIG>[] = [
  {
    fields: ['boundMs', 'fullFidelityMs'],
    doc: 'a rollback may not reach back further than the states it has to bring back are kept; shorten the bound or keep states longer',
    holds: ({ boundMs, fullFidelityMs }) => boundMs === undefined || boundMs <= fullFidelityMs,
  },
];

export type LedgerConfig = ConfigOf<typeof CONFIG>;

/** Limits of triggers over all partitions, as they are set. */
export function limitsOf({
  sourceTrust,
  sourceTrustThreshold,
  stormLimit,
  stormWindowMs,
  closureMax,
  trendMin,
  trendFactor,
  trendWindowMs,
}: Pick<
  LedgerConfig,
  | 'sourceTrust'
  | 'sourceTrustThreshold'
  | 'stormLimit'
  | 'stormWindowMs'
  | 'closureMax'
  | 'trendMin'
  | 'trendFactor'
  | 'trendWindowMs'
>): AdmissionLimits {
  return {
    trustThresholdPermille: sourceTrust === 'off' ? null : sourceTrustThreshold,
    storm: stormLimit === 0 ? null : { limit: stormLimit, windowMs: stormWindowMs },
    closureMax: closureMax === 0 ? null : closureMax,
    trend: trendMin === 0 ? null : { windowMs: trendWindowMs, min: trendMin, factor: trendFactor },
  };
}

/** Longest wait before workers are asked again, milliseconds. */
const ASK_MAX_MS = 60_000;

/** What the core of mutations is told. */
export function mutationsConfigOf(config: Pick<LedgerConfig, CoreSetting>): MutationsConfig {
  const { concludeWithinMs, reviewDeadlineMs, leaseKey, leaseMs, askAttemptsMax } = config;
  const { warnLeadMs, fullFidelityMs, softRollbackMs } = config;
  return {
    ...{ concludeWithinMs, reviewDeadlineMs, leaseKey, leaseMs, askAttemptsMax },
    ...{ warnLeadMs, fullFidelityMs, softRollbackMs },
    backoff: { baseMs: config.askBaseMs, maxMs: ASK_MAX_MS },
    boundMs: config.boundMs ?? null,
    admission: limitsOf(config),
    ackWaits: { sync: config.ackSyncMs, async: config.ackAsyncMs, poll: config.ackPollMs },
  };
}

/** What decisions on mutations follow from, the key of leases among it. */
type CoreSetting = keyof typeof LEASE_CONFIG | Exclude<keyof typeof CONFIG, keyof typeof SERVICE_CONFIG | 'janitorMs'>;
