// The logs that hold state, and the service that owns each; a derived log follows from its source and is none of them.
import { TOPICS } from '@recourse/messages';

/** Topic to service name. */
export const OWNED_LOGS: ReadonlyMap<string, string> = new Map(
  TOPICS.filter(({ kind }) => (kind as string) === 'log').map(({ name, written_by }) => [name, written_by]),
);

/** Topics that services read and that forget. */
export const WIRES: ReadonlySet<string> = new Set(
  TOPICS.filter(({ kind }) => (kind as string) === 'wire').map(({ name }) => name),
);
