// A window holds its person to what they read: of what is another by then nothing is sent. Pure but for what it is given to read with.
import type { Outcome } from '../api/outcome.js';
import { ApiProblem } from '../api/problem.js';
import type { Said } from './sending.rules.js';

export interface Holding<Shown> {
  /** As it is now; undefined where nobody says. Errors: ApiProblem. */
  readonly read: () => Promise<Shown | undefined>;
  readonly isSame: (seen: Shown, now: Shown) => boolean;
}

type Send = (said: Said) => Promise<Outcome>;

/** Sends only what is still as it was seen. Errors: ApiProblem(CHANGED_MEANWHILE); those of reading and sending. */
export function heldTo<Shown>(seen: Shown, { read, isSame }: Holding<Shown>, send: Send): Send {
  return async (said) => {
    const now = await read();
    if (now === undefined || !isSame(seen, now)) throw new ApiProblem('CHANGED_MEANWHILE', 409, '');
    return send(said);
  };
}
