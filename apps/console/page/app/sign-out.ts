// Signing out: nothing is thrown away before the console said that it was done.
import { ApiProblem, problemIn } from '../api/problem.js';

export interface SignOut {
  /** Hears of the session no more: its end is no surprise, and no reason to sign in again. */
  readonly close: () => void;
  readonly ask: () => Promise<Pick<Response, 'status' | 'ok' | 'json'>>;
  readonly goOn: () => void;
  /** Tells the other pages, forgets what was typed, and goes where nobody is signed in. */
  readonly leave: () => void;
}

const NOBODY = 401;

/** Errors: ApiProblem; the person is still signed in then, or nobody knows. */
export async function signedOut({ close, ask, goOn, leave }: SignOut): Promise<void> {
  close();
  const answer = await ask().catch(() => null);
  if (answer?.ok === true || answer?.status === NOBODY) {
    leave();
    return;
  }
  goOn();
  if (answer === null) throw new ApiProblem('SIGN_OUT_UNKNOWN', 0, '');
  throw problemIn(await answer.json().catch(() => null), answer.status);
}
