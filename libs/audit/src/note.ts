// Signed notes: a text, and who signed it (C2SP signed-note), with the cosignatures of witnesses (C2SP tlog-cosignature).
//
// Grammar:
//   note        = text LF 1*signature             ; text ends in LF and holds no empty line of its own at its end
//   signature   = "— " name SP base64(key-id bytes) LF
//   key-id      = first 4 octets of SHA-256( name LF algorithm public-key )
//   algorithm   = %x01 / %x04                     ; Ed25519 over the text / cosignature of a witness
//   bytes       = 64OCTET                         ; %x01
//               / time 64OCTET                    ; %x04: uint64 seconds, over "cosignature/v1" LF "time " time LF text
//   verifier    = name "+" hex(key-id) "+" base64(algorithm public-key)
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { sha256 } from '@recourse/chain';
import { Failure } from '@recourse/kernel';

const ALGORITHM = { log: 0x01, witness: 0x04 } as const;
export type NoteRole = keyof typeof ALGORITHM;

/** A key that signs notes, as its verifiers know it. */
export interface NoteKey {
  readonly name: string;
  readonly role: NoteRole;
  readonly publicKey: KeyObject;
  /** Four octets. */
  readonly id: Buffer;
}

export interface NoteSignature {
  readonly name: string;
  readonly id: Buffer;
  readonly bytes: Buffer;
}

export interface Note {
  /** Ends in a line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** What a process signs notes with. */
export interface NoteSigner {
  readonly key: NoteKey;
  /** Signs a text; a witness says when, in epoch seconds. */
  readonly sign: (text: string, atSeconds: number) => NoteSignature;
}

const NAME = /^[^\s+]{1,255}$/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const KEY_ID_BYTES = 4;
const RAW_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const DASH = '— ';
/** Longest note that is read, octets: a head is far below it. */
export const NOTE_BYTES_MAX = 64 * 1024;
/** What stands before the 32 octets of an Ed25519 key in its DER form (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Reads a note; null for what is none. */
export function parseNote(text: string): Note | null {
  if (Buffer.byteLength(text) > NOTE_BYTES_MAX || !text.endsWith('\n')) return null;
  const split = text.lastIndexOf('\n\n');
  if (split <= 0) return null;
  const signatures = text
    .slice(split + 2, -1)
    .split('\n')
    .map(parseSignature);
  if (signatures.some((one) => one === null)) return null;
  return { text: text.slice(0, split + 1), signatures: signatures.filter((one) => one !== null) };
}

function parseSignature(line: string): NoteSignature | null {
  if (!line.startsWith(DASH)) return null;
  const [name = '', encoded = '', ...rest] = line.slice(DASH.length).split(' ');
  const bytes = decoded(encoded);
  if (!NAME.test(name) || rest.length > 0 || bytes === null || bytes.length <= KEY_ID_BYTES) return null;
  return { name, id: bytes.subarray(0, KEY_ID_BYTES), bytes: bytes.subarray(KEY_ID_BYTES) };
}

/** Bytes of canonical base64; null for any other text. */
function decoded(encoded: string): Buffer | null {
  const bytes = Buffer.from(encoded, 'base64');
  return BASE64.test(encoded) && bytes.toString('base64') === encoded ? bytes : null;
}

/** Writes a note. */
export function noteText({ text, signatures }: Note): string {
  const lines = signatures.map(
    ({ name, id, bytes }) => `${DASH}${name} ${Buffer.concat([id, bytes]).toString('base64')}\n`,
  );
  return `${text}\n${lines.join('')}`;
}

/** Did this key sign the note? Signatures of others are passed over, as the format says. */
export function isSignedBy({ text, signatures }: Note, key: NoteKey): boolean {
  return signatures.some(
    ({ name, id, bytes }) => name === key.name && id.equals(key.id) && isGenuine(text, bytes, key),
  );
}

function isGenuine(text: string, bytes: Buffer, { role, publicKey }: NoteKey): boolean {
  if (role === 'log')
    return bytes.length === SIGNATURE_BYTES && verify(null, Buffer.from(text, 'utf8'), publicKey, bytes);
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return false;
  const seconds = bytes.readBigUInt64BE(0);
  return verify(null, Buffer.from(cosigned(text, seconds), 'utf8'), publicKey, bytes.subarray(TIME_BYTES));
}

function cosigned(text: string, seconds: bigint): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`;
}

/** Reads a verifier key; null for what is none. */
export function parseVerifier(text: string): NoteKey | null {
  const [name = '', id = '', ...rest] = text.trim().split('+');
  const bytes = decoded(rest.join('+'));
  const role = bytes?.[0] === ALGORITHM.log ? 'log' : bytes?.[0] === ALGORITHM.witness ? 'witness' : null;
  if (bytes === null || role === null || bytes.length !== 1 + RAW_KEY_BYTES || !NAME.test(name)) return null;
  const key = keyOf(name, role, bytes.subarray(1));
  return key.id.toString('hex') === id ? key : null;
}

/** Writes a verifier key. */
export function verifierText({ name, id, role, publicKey }: NoteKey): string {
  return `${name}+${id.toString('hex')}+${Buffer.concat([Buffer.from([ALGORITHM[role]]), rawOf(publicKey)]).toString('base64')}`;
}

function keyOf(name: string, role: NoteRole, raw: Buffer): NoteKey {
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), Buffer.from([ALGORITHM[role]]), raw]));
  return { name, role, publicKey, id: id.subarray(0, KEY_ID_BYTES) };
}

function rawOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI.length);
}

/** Reads a private key in PEM (PKCS#8) and signs under a name. Errors: Failure(KEYRING_INVALID). */
export function noteSigner(name: string, role: NoteRole, pem: string): NoteSigner {
  if (!NAME.test(name)) throw new Failure('KEYRING_INVALID', `${name} is no name of a key: no blanks, and no +`);
  const secret = privateKeyIn(pem);
  const key = keyOf(name, role, rawOf(createPublicKey(secret)));
  return {
    key,
    sign: (text, atSeconds) => {
      if (role === 'log') return { name, id: key.id, bytes: sign(null, Buffer.from(text, 'utf8'), secret) };
      const time = Buffer.alloc(TIME_BYTES);
      time.writeBigUInt64BE(BigInt(atSeconds));
      const signature = sign(null, Buffer.from(cosigned(text, BigInt(atSeconds)), 'utf8'), secret);
      return { name, id: key.id, bytes: Buffer.concat([time, signature]) };
    },
  };
}

function privateKeyIn(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (cause) {
    throw new Failure('KEYRING_INVALID', 'the key that signs notes is no private key in PEM', { cause });
  }
  throw new Failure('KEYRING_INVALID', 'the key that signs notes is no Ed25519 key');
}
