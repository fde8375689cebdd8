// What a consumer or a detector has to say where nobody asked to hear it: a warning of the process, so that nothing fails in silence.
import type { Clock } from '@recourse/kernel';

/** What is tried again twice a second is told again this often, milliseconds. */
const AGAIN_MS = 60_000;
/** Different texts that are remembered; of more the one that was told longest ago is forgotten, and may be told again sooner. */
const TEXTS_MAX = 100;

/**
 * Warns of trouble on the process; of the same trouble once a minute, also where others come between.
 *
 * Shape: `who` and the cause are in the text; `RecourseWarning` is the type of the warning.
 */
export function warningOf(
  who: string,
  clock: Pick<Clock, 'monotonic'>,
  code = 'CONSUMER_TROUBLE',
): (cause: unknown) => void {
  /** When each was told last, longest ago first. */
  const told = new Map<string, number>();
  return (cause) => {
    const text = `${who}: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`;
    const at = clock.monotonic();
    const last = told.get(text);
    if (last !== undefined && at - last < AGAIN_MS) return;
    told.delete(text);
    told.set(text, at);
    const [oldest] = told.keys();
    if (told.size > TEXTS_MAX && oldest !== undefined) told.delete(oldest);
    process.emitWarning(text, { type: 'RecourseWarning', code });
  };
}
