// The public keys of the token issuer: of a file, or of an address.
//
// Invariants
//   K1. An address is asked at the start, again and again until it gives a key: what is mistyped is told before somebody needs it,
//       and until then no keys are known.
//   K2. Keys that are known are kept while the issuer gives no others, so that its outage costs nobody who was let in before.
//   K3. A token that no known key signed is not refused while the issuer is silent: it may have newer ones.
import { readFileSync, statSync } from 'node:fs';
import { Failure, persistently } from '@recourse/kernel';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';

const TIMEOUT_MS = 3_000;
/** For so long known keys are used without asking an issuer that did not answer. */
const REST_MS = 30_000;

export interface IssuerKeys {
  /** Errors: those of jose; what `isSilent` says is of an issuer that gives no keys. */
  readonly find: JWTVerifyGetKey;
  /** Asks until the keys are known, or it is over. Never fails. */
  learn(terms: LearnTerms): Promise<void>;
  /** Why no keys are known; null where some are. */
  trouble(): Failure | null;
}

export interface LearnTerms {
  readonly signal: AbortSignal;
  readonly onFailure: (failure: Failure, retryMs: number) => void;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface AddressOptions {
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** For so long keys are used without asking for newer ones, milliseconds. Default: what jose has, ten minutes. */
  readonly freshMs?: number;
}

/** Did nobody give keys? jose says with its base class that an address answered, but not with keys. */
export function isSilent(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) return true;
  return error.code === 'ERR_JOSE_GENERIC' || error.code === 'ERR_JWKS_INVALID';
}

/** Keys of a file, read again when it changes. Errors: TypeError for one that has none now, which would let nobody in. */
export function keysOfFile(path: string): IssuerKeys {
  let read = keysIn(path);
  const newest = (): JWTVerifyGetKey => {
    if (read.at !== statSync(path, { throwIfNoEntry: false })?.mtimeMs) read = keysIn(path);
    return read.keys;
  };
  return {
    find: (header, token) => newest()(header, token),
    learn: () => Promise.resolve(),
    trouble: () => {
      try {
        newest();
        return null;
      } catch (cause) {
        return new Failure('ISSUER_UNAVAILABLE', cause instanceof Error ? cause.message : String(cause), { cause });
      }
    },
  };
}

/** Keys at an address; nobody is asked before `learn` or the first token. */
export function keysAt({ url, fetch, freshMs, now = () => performance.now() }: AddressOptions): IssuerKeys {
  const remote = createRemoteJWKSet(new URL(url), {
    timeoutDuration: TIMEOUT_MS,
    ...(freshMs === undefined ? {} : { cacheMaxAge: freshMs }),
    ...(fetch === undefined ? {} : { [customFetch]: fetch }),
  });
  const known = new KnownKeys(now);
  const hasKeys = (): boolean => (remote.jwks()?.keys.length ?? 0) > 0;
  let failure = silence(url, 'it has not answered yet');
  const reach = async (): Promise<void> => {
    try {
      await remote.reload();
      failure = silence(url, 'there is none in its set');
    } catch (cause) {
      failure = silence(url, cause);
      throw failure;
    }
    if (!hasKeys()) throw failure;
  };
  return {
    find: async (header, token) => {
      const kept = known.isResting() ? await known.find(header, token) : null;
      if (kept !== null) return kept;
      try {
        return await remote(header, token);
      } catch (cause) {
        const before = isSilent(cause) ? remote.jwks() : undefined;
        if (before === undefined) throw cause;
        known.rest(before);
        const key = await known.find(header, token);
        if (key === null) throw cause;
        return key;
      }
    },
    learn: (terms) => persistently(reach, terms).catch(() => undefined),
    trouble: () => (hasKeys() ? null : failure),
  };
}

/** Keys that an issuer gave before it fell silent. */
class KnownKeys {
  #find: JWTVerifyGetKey | null = null;
  #until = -Infinity;

  constructor(private readonly now: () => number) {}

  isResting(): boolean {
    return this.now() < this.#until;
  }

  rest(keys: JSONWebKeySet): void {
    this.#find = createLocalJWKSet(keys);
    this.#until = this.now() + REST_MS;
  }

  /** Null where none of them signed the token. Errors: those of jose. */
  async find(...of: Parameters<JWTVerifyGetKey>): Promise<Awaited<ReturnType<JWTVerifyGetKey>> | null> {
    try {
      return (await this.#find?.(...of)) ?? null;
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey) return null;
      throw cause;
    }
  }
}

function silence(url: string, cause: unknown): Failure {
  const why = cause instanceof Error ? reasonOf(cause) : String(cause);
  const { origin, pathname } = new URL(url);
  return new Failure('ISSUER_UNAVAILABLE', `RECOURSE_JWKS_URL: ${origin}${pathname} gives no keys: ${why}`, { cause });
}

/** What fetch hides behind "fetch failed". */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Errors: TypeError. */
function keysIn(path: string): { readonly at: number; readonly keys: JWTVerifyGetKey } {
  try {
    const [at, set] = [statSync(path).mtimeMs, keySetIn(path)];
    const keys = createLocalJWKSet(set);
    if (set.keys.length === 0) throw new TypeError('there is no key in it');
    return { at, keys };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`RECOURSE_JWKS_FILE: ${path} holds no keys of a token issuer: ${why}`, { cause });
  }
}

/** jose checks the shape and throws JWKSInvalid. */
function keySetIn(path: string): JSONWebKeySet {
  return JSON.parse(readFileSync(path, 'utf8')) as JSONWebKeySet;
}
