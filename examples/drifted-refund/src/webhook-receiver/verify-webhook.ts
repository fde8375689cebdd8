// Checks a webhook as the Standard Webhooks specification says. Twenty lines that any receiver can copy; no package of ours is needed.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Headers of a request, by lower-case name. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Older ones, and ones from the future, are refused: somebody may have kept them. Seconds. */
const TOLERANCE_S = 300;

/**
 * True where the body was signed with one of the secrets, and not long ago.
 *
 * Shape:  the body as it was received, byte for byte: parse it afterwards. During an exchange of secrets give both.
 * Units:  `now` is epoch milliseconds.
 */
export function verifyWebhook(secrets: readonly string[], headers: WebhookHeaders, body: string, now: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (
    typeof id !== 'string' ||
    typeof timestamp !== 'string' ||
    typeof signatures !== 'string' ||
    !/^\d{1,12}$/.test(timestamp)
  )
    return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_S) return false;
  const expected = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest(),
  );
  const given = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'));
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)));
}
