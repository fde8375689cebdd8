// Who is a person, and when two names are one: what every rule about two people rests on (P5).

/** Prefixes that say whose name a subject is. Everything but `user` names no person. */
const OF_PEOPLE = /^(?:user\s*:\s*)+/u;
const OF_PROGRAMS = /^(?:agent|svc|service|role)\s*:/u;
const ANY_PREFIX = /^(?:(?:user|agent)\s*:\s*)+/u;

/** Two spellings of one directory subject are one person: case, width, outer blanks and characters that do not show make no second one. */
export function isSamePerson(one: string, other: string): boolean {
  return canonicalSubject(one) === canonicalSubject(other);
}

/** Agents, service accounts and roles are no people, however their names are spelt; neither is nobody. */
export function isPerson(subject: string): boolean {
  const name = plain(subject).replace(OF_PEOPLE, '');
  return name !== '' && !OF_PROGRAMS.test(name);
}

function canonicalSubject(subject: string): string {
  return plain(subject).replace(ANY_PREFIX, '');
}

/** Compatibility forms are folded, characters of no width dropped: a zero-width space in a name makes no other human. */
function plain(subject: string): string {
  return subject
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Cc}]/gu, '')
    .trim()
    .toLowerCase();
}
