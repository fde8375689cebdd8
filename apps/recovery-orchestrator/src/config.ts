// Environment of the recovery orchestrator.
import { integer, secretFile } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = {
  ...SERVICE_CONFIG,
  leaseKey: secretFile('RECOURSE_LEASE_KEY_FILE', { doc: 'Secret of the leases: nobody can answer a request that they were not sent.' }),
  leaseMs: integer('RECOURSE_LEASE_MS', { doc: 'Longest a worker may hold a leg.', min: 1_000, max: 3_600_000, unit: 'milliseconds', fallback: '30000' }),
  reviewDeadlineMs: integer('RECOURSE_REVIEW_DEADLINE_MS', { doc: 'How long an open item may wait for a person.', min: 1_000, max: 30 * 86_400_000, unit: 'milliseconds', fallback: '86400000' }),
  forwardValidMs: integer('RECOURSE_FORWARD_VALID_MS', { doc: 'How long a forward approval may wait for its effect to begin.', min: 1_000, max: 30 * 86_400_000, unit: 'milliseconds', fallback: '900000' }),
  retryBaseMs: integer('RECOURSE_RETRY_BASE_MS', { doc: 'Wait before a leg\'s second attempt; doubles with each.', min: 10, max: 600_000, unit: 'milliseconds', fallback: '500' }),
  retryMaxMs: integer('RECOURSE_RETRY_MAX_MS', { doc: 'Longest wait between two attempts.', min: 10, max: 3_600_000, unit: 'milliseconds', fallback: '30000' }),
} as const;

export type OrchestratorConfig = ConfigOf<typeof CONFIG>;
