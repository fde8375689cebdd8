// Keys as a deployment gives them: a keyring, which is read again when it changes, and the key a process signs with.
import { statSync } from 'node:fs';
import { Failure, parseKeyring, signerOf } from '@recourse/kernel';
import type { Clock, Keyring } from '@recourse/kernel';
import { believedTextIn, secretTextIn } from '../secret-file.js';
import { believedSigner } from './believed-signer.js';
import type { Signing } from './signing.js';

/** What is said of keys; the variables are in docs/reference/config.md. */
export interface SigningPlaces {
  /** `open`: nothing is signed and everybody believed, as in the development stack. */
  readonly wires: 'strict' | 'open';
  readonly keyringFile: string | undefined;
  /** PKCS#8 in PEM, closed to others; without it the process may read and not write. */
  readonly signingKeyFile: string | undefined;
  readonly signingKeyId: string | undefined;
}

/** How often a keyring is looked at again, milliseconds: a key that is revoked is believed no longer than that. */
const LOOK_EVERY_MS = 2_000;

const VARIABLES = [
  'RECOURSE_WIRES',
  'RECOURSE_KEYRING_FILE',
  'RECOURSE_SIGNING_KEY_FILE',
  'RECOURSE_SIGNING_KEY_ID',
] as const;

/** What an environment says of keys. Errors: Failure(KEYRING_INVALID) for another word than strict or open. */
export function signingPlacesIn(environment: Readonly<Record<string, string | undefined>>): SigningPlaces {
  const [wires = 'strict', keyringFile, signingKeyFile, signingKeyId] = VARIABLES.map(
    (name) => environment[name]?.trim() || undefined,
  );
  if (wires !== 'strict' && wires !== 'open')
    throw new Failure('KEYRING_INVALID', `RECOURSE_WIRES is ${wires}; it must be strict or open`);
  return { wires, keyringFile, signingKeyFile, signingKeyId };
}

/** What an environment says of keys, for programs that also run without: open unless it names a keyring. */
export function signingPlacesGiven(environment: Readonly<Record<string, string | undefined>>): SigningPlaces {
  const places = signingPlacesIn(environment);
  return places.keyringFile === undefined && environment['RECOURSE_WIRES'] === undefined
    ? { ...places, wires: 'open' }
    : places;
}

/**
 * How a process signs and whom it believes; null where wires are open.
 *
 * Errors: Failure(KEYRING_INVALID) when wires are strict and a file is missing or cannot be read, others may read the key or write the keyring; Failure(KEY_NOT_BELIEVED) where the
 *         key of a service does not speak as it. Signing asks again: a key is believed until it is revoked or its time is over.
 */
export function signingFrom(
  { wires, keyringFile, signingKeyFile, signingKeyId }: SigningPlaces,
  common: Pick<Signing, 'ownerOf' | 'onUnvouched'> & {
    readonly clock: Pick<Clock, 'now' | 'monotonic'>;
    readonly onTrouble?: (cause: unknown) => void;
    /** Service whose logs the key signs: it begins with no key that does not speak as it. */
    readonly service?: string;
  },
): Signing | null {
  if (wires === 'open') return null;
  if (keyringFile === undefined)
    throw new Failure(
      'KEYRING_INVALID',
      'wires are strict and RECOURSE_KEYRING_FILE names no keyring; RECOURSE_WIRES=open runs without, and then whoever reaches the broker is believed',
    );
  if ((signingKeyFile === undefined) !== (signingKeyId === undefined))
    throw new Failure('KEYRING_INVALID', 'RECOURSE_SIGNING_KEY_FILE and RECOURSE_SIGNING_KEY_ID go together');
  const { ownerOf, clock, onUnvouched, service } = common;
  const { keyring, problem } = keyringIn(keyringFile, common);
  const signer =
    signingKeyFile === undefined || signingKeyId === undefined
      ? null
      : believedSigner(signerOf(signingKeyId, textOf(signingKeyFile, secretTextIn)), { keyring, clock, service });
  const trouble = (): Failure | null => signer?.doubt() ?? problem();
  return { signer, keyring, ownerOf, clock, trouble, ...(onUnvouched === undefined ? {} : { onUnvouched }) };
}

/** A keyring that follows its file. */
interface KeyringFile {
  readonly keyring: () => Keyring;
  /** Why the file could not be read when it was last looked at; null where it could. */
  readonly problem: () => Failure | null;
}

/** The keyring of a file, as it is now; one that was good stands while what came after it is not. */
function keyringIn(
  file: string,
  { clock, onTrouble }: { readonly clock: Pick<Clock, 'monotonic'>; readonly onTrouble?: (cause: unknown) => void },
): KeyringFile {
  let known = {
    keyring: parseKeyring(textOf(file, believedTextIn)),
    stamp: stampOf(file),
    lookedAt: clock.monotonic(),
  };
  let problem: Failure | null = null;
  const look = (): void => {
    if (clock.monotonic() - known.lookedAt < LOOK_EVERY_MS) return;
    known = { ...known, lookedAt: clock.monotonic() };
    try {
      const stamp = stampOf(file);
      if (stamp !== known.stamp) known = { ...known, keyring: parseKeyring(textOf(file, believedTextIn)), stamp };
      problem = null;
    } catch (cause) {
      problem = invalidOf(file, cause);
      onTrouble?.(cause);
    }
  };
  return {
    keyring: () => {
      look();
      return known.keyring;
    },
    problem: () => {
      look();
      return problem;
    },
  };
}

function invalidOf(file: string, cause: unknown): Failure {
  if (cause instanceof Failure && cause.code === 'KEYRING_INVALID') return cause;
  return new Failure('KEYRING_INVALID', `${file} cannot be read; the keyring of before stands`, { cause });
}

function stampOf(file: string): string {
  const { mtimeMs, size, ino } = statSync(file);
  return `${String(mtimeMs)}/${String(size)}/${String(ino)}`;
}

function textOf(file: string, read: (path: string) => string): string {
  try {
    return read(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('KEYRING_INVALID', `${file} cannot be read: ${why}`, { cause });
  }
}
