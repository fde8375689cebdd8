// Environment of the mutation ledger.
import { integer } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = {
  ...SERVICE_CONFIG,
  concludeWithinMs: integer('RECOURSE_CONCLUDE_WITHIN_MS', { doc: 'How long an intent or an uncertain outcome may stand before a person is asked.', min: 1_000, max: 30 * 86_400_000, unit: 'milliseconds', fallback: '900000' }),
} as const;

export type LedgerConfig = ConfigOf<typeof CONFIG>;
