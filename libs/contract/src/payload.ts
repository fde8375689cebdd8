// Payloads in the clear: JSON into bytes and back. Sealed ones are opened elsewhere, by who may.
import { hash } from 'node:crypto';
import { canonicalJson, readJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';

export type PayloadProblemCode = 'PAYLOAD_SEALED' | 'PAYLOAD_NOT_JSON' | 'PAYLOAD_HASH_MISMATCH';

/** A payload that cannot be read here; coded, so that a record holding it is parked with the reason. */
export class PayloadUnreadable extends Error {
  override readonly name = 'PayloadUnreadable';
  constructor(
    readonly code: PayloadProblemCode,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
  }
}

/** Wraps JSON as a plain payload; the body is its canonical JSON. */
export function plainPayload(json: Json): Payload {
  const body = Buffer.from(canonicalJson(json), 'utf8');
  return { content_type: 'application/json', encoding: 'plain', key_id: null, body, sha256: sha256(body) };
}

/**
 * Reads a plain payload.
 *
 * Errors: PayloadUnreadable when it is sealed, when its hash is not that of its body, or when it is not JSON that anybody reads (readJson).
 */
export function readPayload(payload: Payload): Json {
  if (payload.encoding === 'sealed')
    throw new PayloadUnreadable('PAYLOAD_SEALED', `sealed under ${payload.key_id ?? 'an unnamed key'}`);
  if (!sha256(payload.body).equals(payload.sha256))
    throw new PayloadUnreadable('PAYLOAD_HASH_MISMATCH', 'sha256 is not that of the body');
  try {
    return readJson(payload.body.toString('utf8'));
  } catch (cause) {
    throw new PayloadUnreadable('PAYLOAD_NOT_JSON', payload.content_type, { cause });
  }
}

/** By way of a string of 32 octets: Node makes that in half the time it takes for a buffer. */
function sha256(body: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', body, 'binary'), 'latin1');
}
