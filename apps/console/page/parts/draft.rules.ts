// Under which name a browser keeps what somebody typed. Pure.
import type { Person } from '../api/shapes.js';

const DRAFT = 'recourse.draft.';

/** Of one person alone: whoever signs in after them in the same window is shown none of it. */
export function draftKey({ tenant, subject }: Pick<Person, 'tenant' | 'subject'>, about: string): string {
  return `${DRAFT}${JSON.stringify([tenant, subject])}.${about}`;
}

/** Those of a browser's names that hold what somebody typed. */
export function draftsIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith(DRAFT));
}
