// Environment of the mutation ledger.
import { integer, optional, secretFile } from '@recourse/config';
import type { ConfigOf, ConfigRule } from '@recourse/config';
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = {
  ...SERVICE_CONFIG,
  concludeWithinMs: integer('RECOURSE_CONCLUDE_WITHIN_MS', {
    doc: 'How long an intent or an uncertain outcome may stand before a person is asked.',
    min: 1_000,
    max: 30 * 86_400_000,
    unit: 'milliseconds',
    fallback: '900000',
  }),
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
      doc: 'How far back a rollback reaches over lineage: older descendants are not rolled back but reviewed by a person. Unset means no bound. Set the same in ledger and orchestrator.',
      min: 1_000,
      max: 3_650 * 86_400_000,
      unit: 'milliseconds',
    }),
  ),
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
