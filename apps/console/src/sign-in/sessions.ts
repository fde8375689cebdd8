// Who is signed in: sessions in the memory of this process.
//
// Boundary: keeps tokens; a page never sees one. A restart signs everybody out, which is all that is lost.
//
// Invariants
//   S1. A session ends with its token, or after its longest life, whichever is sooner.
//   S2. What is kept is bounded: the oldest goes, of one person's before anybody else's.
//   S3. Whoever still holds a session that is over is told why.
import { randomBytes, timingSafeEqual } from 'node:crypto';

/** Who a token says its holder is; shown, never decided by. */
export interface Person {
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
}

export interface Session {
  readonly id: string;
  readonly person: Person;
  readonly token: string;
  /** A page of this session sends it with each command. */
  readonly csrf: string;
  /** Epoch milliseconds. */
  readonly openedAt: number;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

/** Its person signed out, somebody signed in at the same browser, or its time was over. */
export type SessionEnd = 'sign-out' | 'sign-in' | 'expiry';

const SESSIONS_MAX = 10_000;
/** Browsers at which one person is signed in at a time. */
const SESSIONS_OF_ONE_MAX = 20;

export class Sessions {
  readonly #all = new Map<string, Session>();
  /** Why, for as long as somebody holds one. */
  readonly #ended = new WeakMap<Session, SessionEnd>();

  constructor(private readonly now: () => number = Date.now) {}

  open(person: Person, token: string, lifeMs: number): Session {
    const openedAt = this.now();
    const session = { id: secretWord(), person, token, csrf: secretWord(), openedAt, endsAt: openedAt + lifeMs };
    this.#all.set(session.id, session);
    const theirs = [...this.#all.values()].filter((one) => isSame(one.person, person));
    const [oldestOfTheirs] = theirs;
    if (theirs.length > SESSIONS_OF_ONE_MAX && oldestOfTheirs !== undefined) this.end(oldestOfTheirs.id, 'expiry');
    const [oldest] = this.#all.keys();
    if (this.#all.size > SESSIONS_MAX && oldest !== undefined) this.end(oldest, 'expiry');
    return session;
  }

  find(id: string | undefined): Session | null {
    const found = id === undefined ? undefined : this.#all.get(id);
    if (found === undefined) return null;
    if (found.endsAt > this.now()) return found;
    this.end(found.id, 'expiry');
    return null;
  }

  end(id: string | undefined, by: SessionEnd): void {
    const found = id === undefined ? undefined : this.#all.get(id);
    if (found === undefined) return;
    this.#ended.set(found, by);
    this.#all.delete(found.id);
  }

  /** Why it is over; null while it is not. */
  endOf(session: Session): SessionEnd | null {
    return this.find(session.id) === null ? (this.#ended.get(session) ?? 'expiry') : null;
  }
}

/** Is it one person? */
export function isSame(one: Person, other: Person): boolean {
  return one.subject === other.subject && one.tenant === other.tenant;
}

function secretWord(): string {
  return randomBytes(32).toString('base64url');
}

/** Does a request carry the word of its session? In constant time. */
export function isWordOf({ csrf }: Pick<Session, 'csrf'>, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [a, b] = [Buffer.from(csrf), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
