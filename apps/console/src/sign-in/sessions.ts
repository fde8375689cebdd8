// Who is signed in: sessions in the memory of this process, and sign-ins that are under way.
//
// Boundary: keeps tokens; a page never sees one. A restart signs everybody out, which is all that is lost.
//
// Invariants
//   S1. A session ends with its token, or after its longest life, whichever is sooner.
//   S2. What is kept is bounded: the oldest goes.
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
  readonly endsAt: number;
}

/** A sign-in between leaving for the issuer and coming back. */
export interface SignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path of the page to come back to. */
  readonly then: string;
  readonly endsAt: number;
}

const SESSIONS_MAX = 10_000;
/** From leaving for the issuer to coming back, milliseconds. */
export const SIGN_IN_MS = 600_000;

/** Something kept until an instant, under a name that cannot be guessed. */
class Kept<Value extends { readonly endsAt: number }> {
  readonly #all = new Map<string, Value>();

  constructor(private readonly now: () => number) {}

  put(value: Value, id = secretWord()): string {
    this.#all.set(id, value);
    const [oldest] = this.#all.keys();
    if (this.#all.size > SESSIONS_MAX && oldest !== undefined) this.#all.delete(oldest);
    return id;
  }

  find(id: string | undefined): Value | null {
    const found = id === undefined ? undefined : this.#all.get(id);
    if (id === undefined || found === undefined) return null;
    if (found.endsAt > this.now()) return found;
    this.#all.delete(id);
    return null;
  }

  end(id: string): void {
    this.#all.delete(id);
  }
}

export class Sessions {
  readonly #sessions: Kept<Session>;
  readonly #signIns: Kept<SignIn>;

  constructor(private readonly now: () => number = Date.now) {
    this.#sessions = new Kept(now);
    this.#signIns = new Kept(now);
  }

  open(person: Person, token: string, lifeMs: number): Session {
    const id = secretWord();
    const session = { id, person, token, csrf: secretWord(), endsAt: this.now() + lifeMs };
    this.#sessions.put(session, id);
    return session;
  }

  find(id: string | undefined): Session | null {
    return this.#sessions.find(id);
  }

  end(id: string): void {
    this.#sessions.end(id);
  }

  begin(signIn: Omit<SignIn, 'endsAt'>): string {
    return this.#signIns.put({ ...signIn, endsAt: this.now() + SIGN_IN_MS });
  }

  /** Taken once. */
  takeSignIn(id: string | undefined): SignIn | null {
    const found = this.#signIns.find(id);
    if (id !== undefined) this.#signIns.end(id);
    return found;
  }
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
