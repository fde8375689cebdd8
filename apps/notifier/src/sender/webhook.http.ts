// One HTTP request to a receiver. Follows no redirect, reads no more of an answer than its head.
import type { Attempted } from '../rules/delivery/attempt.decisions.js';
import type { SendWebhook } from './endpoint-sender.js';

/** Sends with the platform's own client. */
export const sendWebhook: SendWebhook = async ({ url, headers, body, timeoutMs }) => {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json', 'user-agent': 'recourse-notifier', ...headers },
    });
    await answer.body?.cancel();
    return {
      kind: 'answered',
      httpStatus: answer.status,
      retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), Date.now()),
    };
  } catch (cause) {
    return failed(cause);
  }
};

function failed(cause: unknown): Attempted {
  return {
    kind: 'failed',
    code: cause instanceof DOMException && cause.name === 'TimeoutError' ? 'TIMEOUT' : 'UNREACHABLE',
  };
}

/** What a Retry-After header asks for: seconds, or a date; null for neither. Units: milliseconds. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
