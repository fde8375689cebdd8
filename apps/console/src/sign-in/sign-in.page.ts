// What a person sees whose sign-in came to nothing: their browser asked for a page, and the next step is a link on it. Pure.
import type { ProblemBody } from '../problem.js';

/** Everything under it is visited by browsers on the way to the issuer and back. */
const ON_THE_WAY = ['/auth/sign-in', '/auth/callback'];

/** Did a browser ask that is on the way to the issuer or back? What else asks reads the problem as it is. */
export function isOnTheWay(path: string | undefined, accept: string | undefined): boolean {
  return path !== undefined && ON_THE_WAY.includes(path) && accept?.includes('text/html') === true;
}

/** All words are the console's own; it needs no style and no script. */
export function failedSignInPage({ code, detail }: Pick<ProblemBody, 'code' | 'detail'>): string {
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not signed in · Recourse</title>',
    `<h1>You are not signed in</h1><p>${detail} <code>${code}</code></p>`,
    '<p><a href="/auth/sign-in">Sign in</a></p></html>',
  ].join('');
}
