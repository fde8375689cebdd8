// Who reads a review item in specs.
import type { Reader } from '@recourse/service';

/** A person whom the edge lets in everywhere and who has nothing to do with the step; `more` says otherwise. */
export function reader(principal = 'pia', more: Partial<Reader> = {}): Reader {
  return {
    principal,
    accounts: [],
    roles: [],
    refusedAt: () => null,
    ownersOf: () => [],
    editorsOf: () => [],
    ...more,
  };
}
