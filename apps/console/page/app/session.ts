// Who is signed in here.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { answeredAt } from './own.js';
import { carryWord } from '../api/clients.js';
import { problemOf } from '../api/problem.js';
import { PERSON } from '../api/shapes.js';
import type { Person } from '../api/shapes.js';
import type { Who } from '../live/ends.js';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Person> => {
    const person = await answeredAt('/session', PERSON);
    carryWord(person.csrf);
    return person;
  },
  staleTime: 60_000,
  retry: false,
});

/** A console that says nothing for this long is away. */
const ANSWER_MS = 5_000;

/** Who is signed in now, beside whom this page shows; where it is the same person, the page goes on with their session. */
export async function whoIsHere(queries: QueryClient): Promise<Who> {
  const before = queries.getQueryData(sessionQuery.queryKey);
  try {
    const person = await answeredAt('/session', PERSON, AbortSignal.timeout(ANSWER_MS));
    if (person.subject !== before?.subject || person.tenant !== before.tenant) return 'another';
    carryWord(person.csrf);
    queries.setQueryData(sessionQuery.queryKey, person);
    return 'same';
  } catch (cause) {
    return problemOf(cause).code === 'SESSION_MISSING' ? 'nobody' : 'unknown';
  }
}

export function usePerson(): Person {
  return useSuspenseQuery(sessionQuery).data;
}

export function isOneOf({ roles }: Person, wanted: readonly string[]): boolean {
  return roles.some((role) => wanted.includes(role));
}

/** Leaves for the issuer, and comes back to where the person was. */
export function signIn(): void {
  const here = `${location.pathname}${location.search}`;
  location.assign(`/auth/sign-in?then=${encodeURIComponent(here)}`);
}
