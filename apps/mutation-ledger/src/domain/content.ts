// Content of an event: what must be equal for a second arrival to be the same fact (L12).
import { canonicalJson, sha256Hex } from '@recourse/kernel';

/**
 * Hashes what an event states: everything but its id, since a producer that lost its answer may say the same under a new one.
 *
 * Shape:  SHA-256 of canonical JSON; bytes count as hex, a payload by its own hash, absent members not at all.
 */
export function contentHash(type: string, event: object): Buffer {
  const { event_id: _, ...content } = event as { readonly event_id: string };
  return Buffer.from(sha256Hex(`${type}\n${canonicalJson(comparable(content))}`), 'hex');
}

function comparable(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== 'object') return value;
  const { body, ...members } = value as Readonly<Record<string, unknown>>; // any object can be read by name
  const kept = Buffer.isBuffer(body) && Buffer.isBuffer(members.sha256) ? members : value;
  return Object.fromEntries(Object.entries(kept).map(([name, member]) => [name, comparable(member)]));
}
