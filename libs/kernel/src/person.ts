// Who is a person, and when two names are one: what every rule about two people rests on (P5).
//
// Boundary: people are known by the opaque subject that the identity provider gives them, never by a name that is shown.
//
// Invariants
//   N1. A subject is written in a closed alphabet in which no two spellings look alike to a machine and nothing is invisible.
//   N2. What is not in it names nobody: it is refused where it comes in, and is no person where it came in all the same.
//   N3. What a policy decided bears the name of that policy, which nobody else can carry: it is no subject.

/** Letters, digits and the marks that subjects of identity providers are made of; at most 200. */
const SUBJECT = /^[A-Za-z0-9][A-Za-z0-9._~@+:/|=#-]{0,199}$/;

/** Prefixes that say whose name a subject is. Everything but `user` names no person. */
const OF_PEOPLE = /^(?:user:)+/;
const OF_PROGRAMS = /^(?:agent|svc|service|role):/;
const ANY_PREFIX = /^(?:(?:user|agent):)+/;
const OF_POLICIES = /^(?:(?:user|agent):)*policy:/i;

/** What a subject is written in, for whoever sent another. */
export const SUBJECT_FORM =
  'a subject is 1 to 200 of the letters A to Z in either case, digits and . _ ~ @ + : / | = # -, begins with a letter or a digit, and not with policy:';

/** May the text name a person, a program or a team at all? */
export function isSubject(text: string): boolean {
  return SUBJECT.test(text) && !OF_POLICIES.test(text);
}

/** Who decided where a version of a policy bundle did, and no person (N3). */
export function policyDecider(bundle: string, version: number): string {
  return `policy:${bundle}@${String(version)}`;
}

/** Who asks, with the accounts that the directory knows of them. */
export interface Asking {
  readonly principal: string;
  readonly accounts: readonly string[];
}

/** Is one of these names the one who asks, under whichever of their accounts it was written? Null names nobody. */
export function isAmong(names: readonly (string | null)[], { principal, accounts }: Asking): boolean {
  const own = new Set([principal, ...accounts].map(personKey));
  return names.some((name) => name !== null && own.has(personKey(name)));
}

/** Agents, service accounts and roles are no people, however their names are spelt; neither is nobody. */
export function isPerson(subject: string): boolean {
  const name = subject.toLowerCase().replace(OF_PEOPLE, '');
  return isSubject(name) && !OF_PROGRAMS.test(name);
}

/** Whom an action was done for, and who acted or asked, as whoever acted says. */
export interface Behalf {
  readonly initiator: string | null;
  readonly acting: readonly string[];
}

/** The person an action was done for, who answers for it; null where a program is named, or whoever acted names itself. */
export function personBehind({ initiator, acting }: Behalf): string | null {
  if (initiator === null || !isPerson(initiator)) return null;
  return isAmong(acting, { principal: initiator, accounts: [] }) ? null : initiator;
}

/** One name for all spellings of one person: neither case nor the prefix of people makes a second one. */
export function personKey(subject: string): string {
  return subject.toLowerCase().replace(ANY_PREFIX, '');
}
