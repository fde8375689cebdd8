// Environment of the recovery orchestrator.
import { integer, oneOf, optional, secretFile } from '@recourse/config';
import type { ConfigOf, ConfigRule } from '@recourse/config';
import { SERVICE_CONFIG } from '@recourse/service';
import { THRESHOLD_MIN, WEIGHT_MAX } from './domain/admission/admission.messages.js';
import type { AdmissionLimits } from './domain/admission/admission.messages.js';
import type { Rates } from './domain/admission/pace.decisions.js';
import { BOUND_MAX_MS, BOUND_MIN_MS } from './domain/rollback/bound.decider.js';
import { CHILDREN_FIRST_MS } from './domain/lineage/dependents.decisions.js';
import { RISK_LEVELS, RISK_LIMIT } from './domain/policy.messages.js';

export const CONFIG = {
  ...SERVICE_CONFIG,
  leaseKey: secretFile('RECOURSE_LEASE_KEY_FILE', {
    doc: 'Secret that signs leases, so that nobody can answer a request they were not sent.',
  }),
  leaseMs: integer('RECOURSE_LEASE_MS', {
    doc: 'Longest a worker may hold a leg.',
    min: 1_000,
    max: 3_600_000,
    unit: 'milliseconds',
    fallback: '30000',
  }),
  reviewDeadlineMs: integer('RECOURSE_REVIEW_DEADLINE_MS', {
    doc: 'How long an open item may wait for a person.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '86400000',
  }),
  forwardValidMs: integer('RECOURSE_FORWARD_VALID_MS', {
    doc: 'How long a forward approval may wait for its effect to begin.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '900000',
  }),
  childrenFirstMs: integer('RECOURSE_CHILDREN_FIRST_MS', {
    doc: 'How long an effect waits for those that were derived from it in other runs to be undone first.',
    min: 0,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: String(CHILDREN_FIRST_MS),
  }),
  riskLimit: oneOf('RECOURSE_RISK_LIMIT', RISK_LEVELS, {
    doc: 'Declared risk above which no compensation runs without a person.',
    fallback: RISK_LIMIT,
  }),
  retryBaseMs: integer('RECOURSE_RETRY_BASE_MS', {
    doc: "Wait before a leg's second attempt; doubles with each.",
    min: 10,
    max: 600_000,
    unit: 'milliseconds',
    fallback: '500',
  }),
  retryMaxMs: integer('RECOURSE_RETRY_MAX_MS', {
    doc: 'Longest wait between two attempts.',
    min: 10,
    max: 3_600_000,
    unit: 'milliseconds',
    fallback: '30000',
  }),
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
  rollbackBoundMs: optional(
    integer('RECOURSE_ROLLBACK_BOUND_MS', {
      doc: 'How far back a rollback reaches over lineage: older descendants are not rolled back but reviewed by a person. Unset means no bound. Set the same in the ledger, which refuses a bound beyond the time states are kept.',
      min: BOUND_MIN_MS,
      max: BOUND_MAX_MS,
      unit: 'milliseconds',
    }),
  ),
  fullFidelityMs: integer('RECOURSE_FULL_FIDELITY_MS', {
    doc: 'How long the ledger keeps the states of commits: no rollback reaches back further. The same in ledger and orchestrator.',
    min: 1_000,
    max: 3_650 * 86_400_000,
    unit: 'milliseconds',
    fallback: '604800000',
  }),
  ratePerTenant: integer('RECOURSE_RATE_PER_TENANT', {
    doc: 'Compensations that may start for one tenant, over all partitions together. 0 means no limit.',
    min: 0,
    max: 1_000_000,
    unit: 'per minute',
    fallback: '0',
  }),
  ratePerCapability: integer('RECOURSE_RATE_PER_CAPABILITY', {
    doc: 'Compensations that may start with one capability for one tenant, over all partitions together. 0 means no limit.',
    min: 0,
    max: 1_000_000,
    unit: 'per minute',
    fallback: '0',
  }),
} as const;

/** What must hold between them (E38). */
export const CONFIG_RULES: readonly ConfigRule<typeof CONFIG>[] = [
  {
    fields: ['rollbackBoundMs', 'fullFidelityMs'],
    doc: 'a rollback may not reach back further than the states it has to bring back are kept; shorten the bound or keep states longer',
    holds: ({ rollbackBoundMs, fullFidelityMs }) => rollbackBoundMs === undefined || rollbackBoundMs <= fullFidelityMs,
  },
];

export type OrchestratorConfig = ConfigOf<typeof CONFIG>;

/** Limits over all partitions, as they are set. */
export function limitsOf({
  sourceTrust,
  sourceTrustThreshold,
  stormLimit,
  stormWindowMs,
  closureMax,
  rollbackBoundMs,
}: Pick<
  OrchestratorConfig,
  'sourceTrust' | 'sourceTrustThreshold' | 'stormLimit' | 'stormWindowMs' | 'closureMax' | 'rollbackBoundMs'
>): AdmissionLimits {
  return {
    trustThresholdPermille: sourceTrust === 'off' ? null : sourceTrustThreshold,
    storm: stormLimit === 0 ? null : { limit: stormLimit, windowMs: stormWindowMs },
    closureMax: closureMax === 0 ? null : closureMax,
    boundMs: rollbackBoundMs ?? null,
  };
}

/** Rates over all partitions, as they are set. */
export function ratesOf({
  ratePerTenant,
  ratePerCapability,
}: Pick<OrchestratorConfig, 'ratePerTenant' | 'ratePerCapability'>): Rates {
  return {
    tenantPerMinute: ratePerTenant === 0 ? null : ratePerTenant,
    capabilityPerMinute: ratePerCapability === 0 ? null : ratePerCapability,
  };
}
