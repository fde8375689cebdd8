// Keys of the views of the contracts log: a place, whose it is, and a name below that.
import { partOf, personKey } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';

/** Where something of an owner stands, by its name: `*` owns what is the platform's. Tenants may have slashes in their names, and who asks may name anything. */
export function placeOf(place: string, owner: string, name: string): string {
  return `${place}/${partOf(owner, '/')}/${name}`;
}

/** Where an entry stands, as long as it is not retired. */
export function entryPlace(kind: EntryKind, owner: string, name: string): string {
  return placeOf(`entry/${kind}`, owner, name);
}

/** Where the names of the charters of an agent stand. */
export function charterPlace(owner: string, agent: string): string {
  return placeOf('charter', owner, personKey(agent));
}

/** Where everybody stands whom a charter of an agent ever named. */
export function ownedPlace(owner: string, agent: string): string {
  return placeOf('owned', owner, personKey(agent));
}
