// Signing out, and what is left where it came to nothing.
import { describe, expect, it } from '@jest/globals';
import { signedOut } from './sign-out.js';
import type { SignOut } from './sign-out.js';

/** What a page did, in order, and what it was told. */
async function after(ask: SignOut['ask']): Promise<readonly unknown[]> {
  const did: string[] = [];
  const does = (name: string) => () => void did.push(name);
  const way = {
    close: does('close'),
    ask: () => {
      did.push('ask');
      return ask();
    },
    goOn: does('goOn'),
    leave: does('leave'),
  };
  const code = await signedOut(way).then(
    () => null,
    (cause: unknown) => (cause as { readonly code: string }).code, // an ApiProblem
  );
  return [did, code];
}

const answers =
  (status: number, body: object | null = null) =>
  () =>
    Promise.resolve(new Response(body === null ? null : JSON.stringify(body), { status }));

describe('who signs out', () => {
  it('is not signed in again by the end of their session: the page hears no more of it before it asks', async () => {
    expect(await after(answers(204))).toEqual([['close', 'ask', 'leave'], null]);
  });

  it('is out where nobody was signed in any more', async () => {
    expect(await after(answers(401, { code: 'SESSION_MISSING' }))).toEqual([['close', 'ask', 'leave'], null]);
  });

  it.each([
    ['does not answer', () => Promise.reject(new TypeError('failed')), 'SIGN_OUT_UNKNOWN'],
    ['refuses', answers(403, { code: 'CSRF_REFUSED' }), 'CSRF_REFUSED'],
    ['is in trouble', answers(502), 'ANSWER_UNEXPECTED'],
  ])('is told where the console %s, and keeps what was typed', async (_what, ask, code) => {
    expect(await after(ask)).toEqual([['close', 'ask', 'goOn'], code]);
  });
});
