// Signatures as the Standard Webhooks specification 1.0 says: `v1,` and the base64 of an HMAC-SHA256 over `id.timestamp.body`.
import { createHmac } from 'node:crypto';

/** What a receiver checks: three headers over one body. */
export interface SignedHeaders {
  readonly 'webhook-id': string;
  /** Seconds since the epoch, of this attempt. */
  readonly 'webhook-timestamp': string;
  /** One signature per key, separated by spaces. */
  readonly 'webhook-signature': string;
}

/** Signs one attempt. Units: `now` is epoch milliseconds. */
export function signedHeaders(id: string, body: string, keys: readonly Buffer[], now: number): SignedHeaders {
  const timestamp = String(Math.floor(now / 1_000));
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** The specification asks for 24 to 64 bytes. */
const KEY_BYTES = { min: 24, max: 64 } as const;

/** The key of a secret `whsec_<base64>`; null for anything else. */
export function keyOfSecret(secret: string): Buffer | null {
  const encoded = SECRET.exec(secret)?.[1];
  const key = encoded === undefined ? null : Buffer.from(encoded, 'base64');
  return key !== null &&
    key.length >= KEY_BYTES.min &&
    key.length <= KEY_BYTES.max &&
    key.toString('base64') === encoded
    ? key
    : null;
}
