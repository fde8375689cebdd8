// What happens to what was typed while its command is on its way.
import type { Outcome, Taken } from '../api/outcome.js';
import { ApiProblem, problemOf } from '../api/problem.js';

export interface Said {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: string;
}

export interface Way {
  /** Was it sent before, and does nobody know whether it arrived? */
  readonly isLost: boolean;
  /** Is its thing known to be another than its person read? */
  readonly isChanged: boolean;
  /** Reads whether it is. Errors: ApiProblem(CHANGED_MEANWHILE); those of reading. */
  readonly still?: (() => Promise<void>) | undefined;
  readonly send: (said: Said) => Promise<Outcome>;
  /** Asks what came of it. Errors: ApiProblem, the refusal of the command. */
  readonly settle: (taken: Taken) => Promise<Outcome>;
  readonly onLost: () => void;
  readonly onTaken: (taken: Taken) => void;
  readonly forget: () => void;
  readonly write: (name: string, text: string) => void;
}

/** Sends, and asks. A command that was taken leaves nothing behind that could be sent again under another key, unless it is refused. */
export async function sent(said: Said, way: Way): Promise<Outcome> {
  const { settle, onTaken, forget, write } = way;
  const outcome = await sentOnce(said, way);
  forget();
  if (outcome === 'done') return outcome;
  onTaken(outcome);
  try {
    return await settle(outcome);
  } catch (cause) {
    for (const [name, text] of Object.entries(said.fields)) write(name, text);
    throw cause;
  }
}

/** One that is lost may itself be what changed the thing: it is repeated as it was said. One that was refused is held again. */
async function sentOnce(said: Said, { isLost, isChanged, still, send, onLost }: Way): Promise<Outcome> {
  if (!isLost) {
    if (isChanged) throw changedMeanwhile();
    await still?.();
  }
  try {
    return await send(said);
  } catch (cause) {
    if (mayHaveArrived(problemOf(cause))) onLost();
    throw cause;
  }
}

/** Nobody answered, or whoever did cannot say what became of it. */
function mayHaveArrived({ status }: ApiProblem): boolean {
  return status === 0 || status >= 500;
}

const CHANGED = 'CHANGED_MEANWHILE';

/** Said only where nothing was sent. */
export const changedMeanwhile = (): ApiProblem => new ApiProblem(CHANGED, 409, '');

/** What a window says is wrong, and whether a change holds it back. What came of its command stands above a change: that says that nothing was sent. */
export function wrongWith(problem: unknown, isChanged: boolean): { readonly wrong: unknown; readonly isHeld: boolean } {
  const wrong = problem ?? (isChanged ? changedMeanwhile() : null);
  return { wrong, isHeld: isChanged && problemOf(wrong).code === CHANGED };
}
