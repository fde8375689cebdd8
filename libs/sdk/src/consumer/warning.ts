// What a consumer or a detector has to say where nobody asked to hear it: a warning of the process, so that nothing fails in silence.
import type { Clock } from '@recourse/kernel';

/** What is tried again twice a second is told again this often, milliseconds. */
const AGAIN_MS = 60_000;

/**
 * Warns of trouble on the process; of the same trouble once a minute.
 *
 * Shape: `who` and the cause are in the text; `RecourseWarning` is the type of the warning.
 */
export function warningOf(
  who: string,
  clock: Pick<Clock, 'monotonic'>,
  code = 'CONSUMER_TROUBLE',
): (cause: unknown) => void {
  let last: { readonly text: string; readonly at: number } | null = null;
  return (cause) => {
    const text = `${who}: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`;
    const at = clock.monotonic();
    if (last?.text === text && at - last.at < AGAIN_MS) return;
    last = { text, at };
    process.emitWarning(text, { type: 'RecourseWarning', code });
  };
}
