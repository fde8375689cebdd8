// Who is signed in here.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { answeredAt } from './own.js';
import { carryWord } from '../api/clients.js';
import { PERSON } from '../api/shapes.js';
import type { Person } from '../api/shapes.js';

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
