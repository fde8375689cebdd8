// The logs that hold a service's state, and the service that owns each. A derived log follows from its source and is none of them,
// nor are the auditor's heads: it has no database.
import { TOPICS } from '@recourse/messages';

/** Topic to service name. */
export const OWNED_LOGS: ReadonlyMap<string, string> = new Map(
  TOPICS.filter(({ kind, written_by }) => (kind as string) === 'log' && (written_by as string) !== 'auditor').map(
    ({ name, written_by }) => [name, written_by],
  ),
);

/** Topics that services read and that forget. */
export const WIRES: ReadonlySet<string> = new Set(
  TOPICS.filter(({ kind }) => (kind as string) === 'wire').map(({ name }) => name),
);
