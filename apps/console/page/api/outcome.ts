// What becomes of a command that was taken before anybody knew: it is asked for where the answer said.
import { problemOf } from './problem.js';
import type { ApiProblem } from './problem.js';

/** Taken, and its outcome is not known yet; where it is asked for, nowhere if no service said. */
export interface Taken {
  readonly places: readonly string[];
}

export type Outcome = 'done' | Taken;

/** One outcome of several commands: done once all of them are. */
export function outcomeOf(outcomes: readonly Outcome[]): Outcome {
  const open = outcomes.filter((outcome) => outcome !== 'done');
  return open.length === 0 ? 'done' : { places: open.flatMap(({ places }) => places) };
}

/** Address at this console of what a service names; none where it names no ticket of its own. `asked` is where the command went. */
export function placeOf(asked: string, location: string | null): readonly string[] {
  const edge = /\/api\/[a-z]+(?=\/v1\/)/.exec(asked)?.[0];
  const isTicket = location !== null && /^\/v1\/commands\/[\w.-]+$/.test(location);
  return edge === undefined || !isTicket ? [] : [`${edge}${location}`];
}

/** A minute or so; a command that nobody takes in for longer waits for a person elsewhere. */
const WAITS_MS = [500, 1_000, 2_000, 3_000, 5_000, 5_000, 10_000, 10_000, 10_000, 15_000];

interface Asking {
  readonly ask: (place: string) => Promise<Outcome>;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Asks until the outcome is known, or for long enough. Errors: ApiProblem, the refusal of the command. */
export async function settled(taken: Taken, { ask, sleep = pause }: Asking): Promise<Outcome> {
  let known: Outcome = taken;
  for (const ms of WAITS_MS) {
    if (known === 'done' || known.places.length === 0) break;
    await sleep(ms);
    known = outcomeOf(await Promise.all(known.places.map((place) => askOnce(place, ask))));
  }
  return known;
}

/** Who does not answer, or does not know whom or what it is asked about, says nothing about the command. */
async function askOnce(place: string, ask: Asking['ask']): Promise<Outcome> {
  try {
    const outcome = await ask(place);
    return outcome === 'done' ? 'done' : { places: [place] };
  } catch (cause) {
    if (isSilence(problemOf(cause))) return { places: [place] };
    throw cause;
  }
}

/** A session that ended, and too many questions. */
const UNHEARD: readonly number[] = [0, 401, 429];

/** A ticket that is not found was forgotten, or is somebody else's: no command is refused by that. */
function isSilence({ status, code }: ApiProblem): boolean {
  return UNHEARD.includes(status) || code === 'NOT_FOUND' || status >= 500;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
