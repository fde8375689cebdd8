// Keys: what they are called, and the bytes they seal.
import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import { sha256 } from '@recourse/chain';
import { keptIds, sha256Hex } from '@recourse/kernel';
import { keptAt } from './kept-at.js';
import type { KeyScope } from './key-store.port.js';

// Ids of keys: they tell nothing of whose data they seal.

/** Longest name that is kept as it is, bytes. */
const NAME_BYTES_MAX = 512;

const keyScopeId = keptIds('key');

/** Id of a scope; its keys are numbered from 1, since a destroyed one is followed by another. */
export function scopeId({ tenant, subject, windowStart, windowEnd, unit }: KeyScope): string {
  return keyScopeId(tenant, subject, windowStart, windowEnd, ...(unit === undefined ? [] : [unit]));
}

/**
 * Name of a tenant or subject as a store can keep and index it.
 *
 * Shape:  what holds NUL, is not well-formed or has more than 512 bytes is kept by its hash; the same text has the same name.
 */
export function storableName(text: string): string {
  return text.includes('\u0000') || !text.isWellFormed() || Buffer.byteLength(text) > NAME_BYTES_MAX
    ? `sha256:${sha256Hex(text)}`
    : text;
}

/** Hex digits of an id that are told by the secret. */
const TOLD_BY_SECRET = 16;

/**
 * Id of the nth key of a scope.
 *
 * Shape:  what is told by the secret stands last: a store that lost a key makes none of the same id, so that what was sealed
 *         under the lost one is not taken for erased. Ids made before end with the number.
 */
export function keyIdOf(scope: string, generation: number, secret: Buffer): string {
  return `${scope}.${String(generation)}.${toldBy(secret)}`;
}

/** What the id of a key says of its secret: which one it is, and nothing else. */
export function toldBy(secret: Buffer): string {
  return sha256(Buffer.concat([Buffer.from('recourse-key-id-v1\n'), secret]))
    .toString('hex')
    .slice(0, TOLD_BY_SECRET);
}

/** The scope of which the key of an id is the first; null for one that followed a destroyed one. */
export function scopeOfFirst(keyId: string): string | null {
  const [scope = '', generation] = keyId.split('.');
  return generation === '1' ? scope : null;
}

// Sealing of bytes: AES-256-GCM whose nonce is told by key and content, so that the same content under one key seals to
// the same bytes. A decision that is made anew after a crash is then the same record; in return, who reads the log can
// see that two payloads of one subject and window are equal, and nothing else.
//
// Source: NIST SP 800-38D (GCM); the nonce as in RFC 8452's idea of a synthetic one, by HMAC-SHA-256 under a key of its own.

/** Bytes of a secret: 32 to encrypt under, 32 to derive nonces under. */
export const SECRET_BYTES = 64;

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const HALF = SECRET_BYTES / 2;

/**
 * Seals bytes.
 *
 * Shape:  version octet, nonce (12), ciphertext, tag (16): 29 bytes longer than the content.
 * Errors: RangeError when the secret has another length.
 */
export function sealBytes(secret: Buffer, context: string, content: Uint8Array): Buffer {
  const { encryption, inner, outer } = partsOf(secret);
  const told = sha256(Buffer.concat([inner, Buffer.from(`${context}\0`, 'utf8'), content]));
  const nonce = sha256(Buffer.concat([outer, told])).subarray(0, NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, encryption, nonce).setAAD(Buffer.from(context, 'utf8'));
  const first = cipher.update(content);
  const last = cipher.final();
  return Buffer.concat([Buffer.of(VERSION), nonce, first, last, cipher.getAuthTag()]);
}

/** Opens what `sealBytes` made; null when it was made under another key or context, or was altered since. */
export function openBytes(secret: Buffer, context: string, sealed: Buffer): Buffer | null {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return null;
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const tag = sealed.subarray(sealed.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, partsOf(secret).encryption, nonce)
    .setAAD(Buffer.from(context, 'utf8'))
    .setAuthTag(tag);
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(1 + NONCE_BYTES, sealed.length - TAG_BYTES)),
      decipher.final(),
    ]);
  } catch {
    return null;
  }
}

// HMAC-SHA-256 of nonces by its two hashes (RFC 2104): Node makes an object for each HMAC, which costs four times as much.
const BLOCK_BYTES = 64;
const [INNER, OUTER] = [0x36, 0x5c] as const;

interface Parts {
  readonly encryption: KeyObject;
  /** The block before what is hashed first, and before the hash of that. */
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/** Node makes a key of bytes anew at every call, which costs four times what the call itself does. */
const PARTS = keptAt<Buffer, Parts>();

function partsOf(secret: Buffer): Parts {
  const known = PARTS.get(secret);
  if (known !== undefined) return known;
  if (secret.length !== SECRET_BYTES)
    throw new RangeError(`a secret has ${String(SECRET_BYTES)} bytes, this one has ${String(secret.length)}`);
  const parts = {
    encryption: createSecretKey(secret.subarray(0, HALF)),
    inner: paddedWith(INNER, secret.subarray(HALF)),
    outer: paddedWith(OUTER, secret.subarray(HALF)),
  };
  PARTS.set(secret, parts);
  return parts;
}

function paddedWith(octet: number, key: Buffer): Buffer {
  return Buffer.alloc(BLOCK_BYTES, octet).map((pad, at) => pad ^ (key[at] ?? 0)) as Buffer; // a buffer's map makes a buffer
}
