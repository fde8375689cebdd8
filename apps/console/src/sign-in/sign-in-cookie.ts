// A sign-in between leaving for the issuer and coming back: the browser carries it, sealed, and nothing of it is kept here.
//
// Invariants
//   B1. Whoever asks to sign in takes no place from anybody: strangers may ask as often as they like.
//   B2. Only this process opens it, and only until its end; what was altered is nobody's.
//   B3. Pages of one browser sign in side by side: each has a cookie of its own, and none takes another's. All together are bounded.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** What is remembered meanwhile. */
const SIGN_IN = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Path of the page to come back to. */
  then: z.string(),
  /** Epoch milliseconds. */
  endsAt: z.number(),
});
export type SignIn = z.infer<typeof SIGN_IN>;

/** From leaving for the issuer to coming back, milliseconds. */
export const SIGN_IN_MS = 600_000;

/** Under which name a browser carries the sign-in of a state. */
export function signInCookie(base: string, state: string): string {
  return `${base}_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
}

/** What all sign-ins of a browser may take of the 16 KB of a request's head, octets. */
const SIGN_INS_MAX = 4_096;

/** Names of the sign-ins that go for another of this length: a browser sends the oldest first. */
export function surplusOf(
  base: string,
  cookies: Readonly<Record<string, string | undefined>>,
  length: number,
): readonly string[] {
  const ours = Object.entries(cookies).filter(([name]) => name.startsWith(`${base}_`));
  let left = SIGN_INS_MAX - base.length - length;
  const fit = ours.toReversed().filter(([name, value = '']) => (left -= name.length + value.length) >= 0);
  return ours.filter((one) => !fit.includes(one)).map(([name]) => name);
}

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];

/** Seals sign-ins under a key of this process: a restart ends those under way, as it ends sessions. */
export class SignInSeal {
  readonly #key = randomBytes(KEY_BYTES);

  constructor(private readonly now: () => number = Date.now) {}

  seal(signIn: Omit<SignIn, 'endsAt'>): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const plain = JSON.stringify({ ...signIn, endsAt: this.now() + SIGN_IN_MS });
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Null for what this process did not seal, and once its time is over. */
  open(text: string | undefined): SignIn | null {
    const bytes = Buffer.from(text ?? '', 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
    const signIn = SIGN_IN.safeParse(this.#opened(bytes)).data;
    return signIn !== undefined && signIn.endsAt > this.now() ? signIn : null;
  }

  #opened(bytes: Buffer): unknown {
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return JSON.parse(plain.toString('utf8')) as unknown;
    } catch {
      return null; // sealed by somebody else, or altered
    }
  }
}
