// A window holds its person to what they read: of what is another by then nothing is sent. Pure but for what it is given to read with.
import { changedMeanwhile } from './sending.rules.js';

export interface Holding<Shown> {
  /** As it is now; undefined where nobody says. Errors: ApiProblem. */
  readonly read: () => Promise<Shown | undefined>;
  readonly isSame: (seen: Shown, now: Shown) => boolean;
}

/** Asked before anything is sent. Errors: ApiProblem(CHANGED_MEANWHILE); those of reading. */
export function stillAs<Shown>(seen: Shown, { read, isSame }: Holding<Shown>): () => Promise<void> {
  return async () => {
    const now = await read();
    if (now === undefined || !isSame(seen, now)) throw changedMeanwhile();
  };
}
