// Environment of the recovery orchestrator.
import { integer, oneOf, optional, url } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { LEASE_CONFIG, SERVICE_CONFIG } from '@recourse/service';
import type { Rates } from './rules/admission/pace.decisions.js';
import { CHILDREN_FIRST_MS } from './rules/lineage/dependents.decisions.js';
import { RISK_LEVELS, RISK_LIMIT } from './rules/policy.messages.js';

export const CONFIG = {
  ...SERVICE_CONFIG,
  ...LEASE_CONFIG,
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
  traceUrl: optional(
    url('RECOURSE_TRACE_URL', {
      doc: 'Where people look at a trace: an address with {trace_id} in its place, which review items link to.',
      protocols: ['http:', 'https:'],
    }),
  ),
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

export type OrchestratorConfig = ConfigOf<typeof CONFIG>;

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
