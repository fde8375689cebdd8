// What the console's own server answers.
import type * as z from 'zod/mini';
import { ApiProblem, problemIn } from '../api/problem.js';
import { draftsIn } from '../parts/draft.rules.js';
import { signedOut } from './sign-out.js';

/** Errors: ApiProblem. */
export async function answeredAt<T>(path: string, schema: z.ZodMiniType<T>, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(path, { headers: { accept: 'application/json' }, signal: signal ?? null }).catch(() => {
    throw new ApiProblem('CONSOLE_AWAY', 0, 'The console does not answer. Check the connection.');
  });
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw problemIn(body, answer.status);
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw new ApiProblem('ANSWER_UNEXPECTED', answer.status, 'The console and this page are of different versions.');
}

export function forgetDrafts(): void {
  for (const name of draftsIn(Object.keys(sessionStorage))) sessionStorage.removeItem(name);
}

/** Errors: ApiProblem; the person is still signed in then, or nobody knows. */
export function signOut(
  word: string,
  live: { readonly open: () => void; readonly close: () => void; readonly tellSignedOut: () => void },
): Promise<void> {
  return signedOut({
    close: () => {
      live.close();
    },
    ask: () => fetch('/auth/sign-out', { method: 'POST', headers: { 'x-recourse-csrf': word } }),
    goOn: () => {
      live.open();
    },
    leave: () => {
      live.tellSignedOut();
      forgetDrafts();
      location.assign('/');
    },
  });
}
