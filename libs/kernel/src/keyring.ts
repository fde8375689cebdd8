// Keys that speak on the wires and sign the logs: who a key speaks for, for whom, and until when (docs/design/edge.md).
//
// Boundary: pure but for the arithmetic of Ed25519. Where a keyring comes from, and what is done with what it does not
// vouch for, is not decided here.
//
// Invariants
//   K1. A key speaks in the roles, under the names and for the tenants that the keyring gives it, and for nothing a record says of itself.
//   K2. What was signed before a key was valid, or after it was revoked or ran out, is not vouched for.
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { Failure } from './outcome.js';

/** Who may sign. `service`: ours, for all tenants; the others are strangers that were registered. An `observer` looks at what a `worker` did. */
export const SPEAKER_ROLES = ['service', 'producer', 'source', 'worker', 'observer', 'consumer', 'critic'] as const;
export type SpeakerRole = (typeof SPEAKER_ROLES)[number];

/** Whom a key speaks for. `names`: services, agents, sources, adapters or consumers, by its roles; `*` is all of them. */
export interface Speaker {
  readonly keyId: string;
  readonly roles: readonly SpeakerRole[];
  readonly names: readonly string[];
  readonly tenants: readonly string[];
  /** Other keys that observe, where this one is a worker's: for which adapters and tenants. */
  readonly observers?: readonly Pick<Speaker, 'names' | 'tenants'>[];
}

/** One key of a keyring. Instants in epoch milliseconds; null is no bound. */
export interface KnownKey extends Speaker {
  readonly publicKey: KeyObject;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  readonly revokedAt: number | null;
}

/** Keys by their id. */
export type Keyring = ReadonlyMap<string, KnownKey>;

/** What a process signs with. */
export interface Signer {
  readonly keyId: string;
  readonly sign: (text: string) => Buffer;
}

const MEMBERS: readonly string[] = [
  'id',
  'public_key',
  'speaks_as',
  'names',
  'tenants',
  'valid_from',
  'valid_until',
  'revoked_at',
];
/** A date, which begins in UTC, or with a time and its zone: one without would be another instant on another machine. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2}))?$/;
const INSTANT_FORM =
  'a date, or a date and a time with its zone, such as 2026-01-31, 2026-01-31T00:00:00Z or 2026-01-31T01:00:00+01:00';
const ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** Can a key be called this? */
export function isKeyId(text: string): boolean {
  return ID.test(text);
}
/** What stands before the 32 octets of an Ed25519 key in its DER form (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const RAW_KEY_BYTES = 32;

/**
 * Reads a keyring: `{"keys": [{"id", "public_key", "speaks_as", "names", "tenants", "valid_from"?, "valid_until"?, "revoked_at"?}]}`.
 *
 * Shape:  `public_key` is base64 of the 32 octets of an Ed25519 key, under one id alone: whoever has it would go on under another name
 *         once that is taken back, and observe itself. Instants are ISO 8601. A member that is unknown is a bound that was mistyped.
 * Errors: Failure(KEYRING_INVALID) with the place of what is wrong.
 */
export function parseKeyring(text: string): Keyring {
  const { keys } = record(parsed(text), '');
  if (!Array.isArray(keys)) throw invalid('/keys', 'a list of keys');
  const ring = new Map<string, KnownKey>();
  const idOf = new Map<string, string>();
  for (const [index, entry] of keys.entries()) {
    const at = `/keys/${String(index)}`;
    const key = knownKey(record(entry, at), at);
    if (ring.has(key.keyId)) throw invalid(`${at}/id`, 'an id that no other key has');
    const own = publicKeyText(key.publicKey);
    const namesake = idOf.get(own);
    if (namesake !== undefined) throw invalid(`${at}/public_key`, `a key of its own: that of ${namesake} is the same`);
    ring.set(key.keyId, key);
    idOf.set(own, key.keyId);
  }
  return ring;
}

/** Reads a private key in PEM (PKCS#8). Errors: Failure(KEYRING_INVALID). */
export function signerOf(keyId: string, pem: string): Signer {
  if (!ID.test(keyId)) throw invalid('/id', 'an id of letters, digits and . _ : -');
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw invalid('', `an Ed25519 private key in PEM (${cause instanceof Error ? cause.message : 'unreadable'})`);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw invalid('', 'an Ed25519 private key');
  return { keyId, sign: (text) => sign(null, Buffer.from(text, 'utf8'), key) };
}

/** Why a key does not vouch, for people. */
export const KEY_PROBLEMS = {
  SIGNATURE_MISSING: 'There is no header `recourse-signature`, or none that can be read.',
  SIGNATURE_INVALID: 'Another key, other bytes, another record key or another topic than were signed.',
  SIGNATURE_STALE: 'It was signed longer ago than wires keep records, or more than five minutes ahead.',
  KEY_UNKNOWN: 'The keyring holds no key of that id.',
  KEY_NOT_VALID: 'The key was not valid yet, or no longer.',
  KEY_REVOKED: 'The key was taken back.',
} as const;
export type KeyProblem = keyof typeof KEY_PROBLEMS;

/** Something signed: its text, when by the signer's clock, and by which key. */
export interface SignedText {
  readonly keyId: string;
  readonly text: string;
  readonly signature: Buffer;
  /** Epoch milliseconds. */
  readonly signedAt: number;
}

/** Did this key sign this text? */
export type Proves = (key: KeyObject, text: string, signature: Buffer) => boolean;
const proves: Proves = (key, text, signature) => verify(null, Buffer.from(text, 'utf8'), key, signature);

/** Signatures that were checked lately, for texts that many records share: each is checked once, and so is one that comes over and over and is none. */
export class ProvenSignatures {
  /** By the key itself: a key of the same id in a newer keyring is another one. */
  readonly #proven = new WeakMap<KeyObject, Map<string, Buffer>>();
  #disproven: { readonly key: KeyObject; readonly text: string; readonly signature: Buffer } | null = null;

  constructor(
    private readonly keptMax = 256,
    private readonly check: Proves = proves,
  ) {}

  readonly proves: Proves = (key, text, signature) => {
    const proven = this.#proven.get(key) ?? new Map<string, Buffer>();
    if (proven.get(text)?.equals(signature) === true) return true;
    const last = this.#disproven;
    if (last?.key === key && last.text === text && last.signature.equals(signature)) return false;
    if (!this.check(key, text, signature)) {
      this.#disproven = { key, text, signature };
      return false;
    }
    this.#proven.set(key, proven.set(text, signature));
    if (proven.size > this.keptMax) proven.delete([...proven.keys()][0] ?? '');
    return true;
  };
}

/**
 * Whom a signature speaks for, or why it speaks for nobody.
 *
 * Shape:  `heardAt`, epoch milliseconds: when it was heard, for what must be new. A key that is revoked by then speaks no more,
 *         whatever instant it claims to have signed at; absent for history, which stays true.
 * Source: K2.
 */
export function speakerOf(
  ring: Keyring,
  { keyId, text, signature, signedAt }: SignedText,
  heardAt?: number,
  isProven: Proves = proves,
): KnownKey | KeyProblem {
  const key = ring.get(keyId);
  if (key === undefined) return 'KEY_UNKNOWN';
  if (key.revokedAt !== null && Math.max(signedAt, heardAt ?? signedAt) >= key.revokedAt) return 'KEY_REVOKED';
  if (signedAt < (key.validFrom ?? -Infinity) || signedAt >= (key.validUntil ?? Infinity)) return 'KEY_NOT_VALID';
  return isProven(key.publicKey, text, signature) ? key : 'SIGNATURE_INVALID';
}

/** Keys other than this one that observe at an instant, epoch milliseconds. */
export function observersIn(ring: Keyring, keyId: string, at: number): readonly Pick<Speaker, 'names' | 'tenants'>[] {
  return [...ring.values()]
    .filter((key) => key.keyId !== keyId && key.roles.includes('observer') && isValidAt(key, at))
    .map(({ names, tenants }) => ({ names, tenants }));
}

/** Does another key observe what this one's worker does, for an adapter and a tenant? */
export function isObserved(speaker: Pick<Speaker, 'observers'> | undefined, adapter: string, tenant: string): boolean {
  return speaker?.observers?.some((one) => speaksUnder(one, adapter) && speaksFor(one, tenant)) ?? false;
}

/** Is the key good at an instant, epoch milliseconds? (K2) */
export function isValidAt({ validFrom, validUntil, revokedAt }: KnownKey, at: number): boolean {
  return at >= (validFrom ?? -Infinity) && at < Math.min(validUntil ?? Infinity, revokedAt ?? Infinity);
}

/** Does the key speak under this name? */
export function speaksUnder({ names }: Pick<Speaker, 'names'>, name: string): boolean {
  return names.includes('*') || names.includes(name);
}

/** Does the key speak for this tenant? */
export function speaksFor({ tenants }: Pick<Speaker, 'tenants'>, tenant: string): boolean {
  return tenants.includes('*') || tenants.includes(tenant);
}

function knownKey(entry: Readonly<Record<string, unknown>>, at: string): KnownKey {
  const { id, speaks_as } = entry;
  const unknown = Object.keys(entry).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) throw invalid(`${at}/${unknown}`, `left out, or one of ${MEMBERS.join(', ')}`);
  if (typeof id !== 'string' || !ID.test(id)) throw invalid(`${at}/id`, 'an id of letters, digits and . _ : -');
  const wanted = typeof speaks_as === 'string' ? [speaks_as] : texts(speaks_as, `${at}/speaks_as`);
  const roles = SPEAKER_ROLES.filter((known) => wanted.includes(known));
  if (roles.length === 0 || roles.length < wanted.length)
    throw invalid(`${at}/speaks_as`, `one of ${SPEAKER_ROLES.join(', ')}, or a list of them`);
  return {
    keyId: id,
    roles,
    names: texts(entry['names'], `${at}/names`),
    tenants: texts(entry['tenants'], `${at}/tenants`),
    publicKey: publicKey(entry['public_key'], `${at}/public_key`),
    validFrom: instant(entry['valid_from'], `${at}/valid_from`),
    validUntil: instant(entry['valid_until'], `${at}/valid_until`),
    revokedAt: instant(entry['revoked_at'], `${at}/revoked_at`),
  };
}

function publicKey(value: unknown, at: string): KeyObject {
  const raw = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
  if (raw.length !== RAW_KEY_BYTES) throw invalid(at, 'base64 of the 32 octets of an Ed25519 public key');
  return createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
}

/** The form in which a keyring names a public key. */
export function publicKeyText(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).subarray(-RAW_KEY_BYTES).toString('base64');
}

function texts(value: unknown, at: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const found = list.filter((name): name is string => typeof name === 'string' && name !== '');
  if (found.length === 0 || found.length !== list.length) throw invalid(at, 'a list of names, or ["*"] for all');
  return found;
}

function instant(value: unknown, at: string): number | null {
  if (value === undefined || value === null) return null;
  const [, day, time = '', zone = ''] = typeof value === 'string' ? (INSTANT.exec(value.toUpperCase()) ?? []) : [];
  // In the one form that the language reads, with milliseconds: the others are left to whoever runs it.
  const [read, offset] = [time.replace(/(\.\d{3})\d+$/, '$1'), zone.replace(/^(...)(\d\d)$/, '$1:$2')];
  const found = isDay(day) ? Date.parse(`${day}${read}${offset}`) : Number.NaN;
  if (Number.isNaN(found)) throw invalid(at, INSTANT_FORM);
  return found;
}

/** The calendar has it: 30 February would be read as 2 March. */
function isDay(day: string | undefined): day is string {
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === day;
}

function record(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(at, 'an object');
  return value as Readonly<Record<string, unknown>>; // any object can be read by name
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('', 'JSON');
  }
}

function invalid(at: string, wanted: string): Failure {
  return new Failure('KEYRING_INVALID', `${at === '' ? 'the file' : at} must be ${wanted}`);
}
