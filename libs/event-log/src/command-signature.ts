// Signatures of edge commands: a wire has many writers, so who asked is only as good as the edge that says so (docs/design/edge.md).
//
//   signature = HMAC-SHA-256(edge key, canonical JSON of {topic, type, body}), body with its envelope minus `signature`,
//               bytes as {"hex": <lower-case hex>}
//
// An edge signs what its own schema says: of another build's command, whoever checks takes the body as it was written.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '@recourse/kernel';
import type { Doc } from './service-core.js';

/** What is signed: where it goes, what it is (full record name) and what it says. */
export interface SignedCommand {
  readonly topic: string;
  /** Full record name, e.g. `recourse.recoveries.ApproveStep`. */
  readonly type: string;
  /** The record's fields, with `envelope`; a signature that is already there is not part of what is signed. */
  readonly body: Doc;
}

/** Keys as OpenSSL holds them: making one of bytes costs three times what the signature does. */
const prepared = new WeakMap<Buffer, KeyObject>();

/** Signs a command. The bytes of a key do not change. Pure. */
export function signCommand(key: Buffer, command: SignedCommand): Buffer {
  const held = prepared.get(key) ?? createSecretKey(key);
  prepared.set(key, held);
  return createHmac('sha256', held).update(signedText(command)).digest();
}

/** Says whether `signature` is the edge's over this command; in constant time, false for any other length. */
export function verifyCommand(key: Buffer, command: SignedCommand, signature: Uint8Array): boolean {
  const expected = signCommand(key, command);
  return signature.byteLength === expected.byteLength && timingSafeEqual(expected, signature);
}

function signedText({ topic, type, body }: SignedCommand): string {
  const { signature: _signature, ...envelope } = asDoc(body['envelope']);
  return canonicalJson(readable({ topic, type, body: { ...body, envelope } }));
}

function asDoc(value: unknown): Doc {
  // An envelope is a record; anything else signs as an empty one and so never verifies.
  return typeof value === 'object' && value !== null ? (value as Doc) : {};
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return { hex: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex') };
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, readable(member)]));
}

/**
 * Where what an edge of another build wrote says something that this one reads nothing of; null where it does not.
 *
 * Shape: JSON pointer of the first such member. Null, an empty list and an empty map say nothing; a symbol that is read as another says something. Pure.
 */
export function unreadIn(written: unknown, read: unknown, at = ''): string | null {
  if (Array.isArray(written) && Array.isArray(read)) return firstUnread(written.entries(), read, at);
  if (!isMembers(written) || !isMembers(read)) return typeof written === 'string' && written !== read ? at : null;
  return firstUnread(Object.entries(written), read, at);
}

function firstUnread(written: Iterable<[string | number, unknown]>, read: object, at: string): string | null {
  for (const [name, said] of written) {
    const path = `${at}/${name}`;
    if (!Object.hasOwn(read, name)) {
      if (!saysNothing(said)) return path;
      continue;
    }
    const unread = unreadIn(said, (read as Readonly<Record<string | number, unknown>>)[name], path);
    if (unread !== null) return unread;
  }
  return null;
}

const saysNothing = (said: unknown): boolean => said === null || (isMembers(said) && Object.keys(said).length === 0);

const isMembers = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
