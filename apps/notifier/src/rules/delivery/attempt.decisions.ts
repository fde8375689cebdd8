// What follows from an attempt: delivered, tried again, given up; and when an endpoint is left alone altogether.
//
// Boundary: pure. Time, the answer and the policy come in; jitter comes from the id, so the same attempt waits equally long everywhere.
import { backoffMs, sha256Hex } from '@recourse/kernel';
import type { RetryBackoff } from '@recourse/kernel';
import { hears } from '../webhook/endpoint.messages.js';
import type { Endpoint } from '../webhook/endpoint.messages.js';
import type { AttemptCode, Delivery, DeliveryEvent } from './delivery.messages.js';

/** What came of one request. */
export type Attempted =
  | { readonly kind: 'answered'; readonly httpStatus: number; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly code: Extract<AttemptCode, 'TIMEOUT' | 'UNREACHABLE'> };

/** Milliseconds. */
export interface DeliveryPolicy {
  readonly backoff: RetryBackoff;
  /** Counted from when a delivery was first due. */
  readonly giveUpMs: number;
}

export interface AttemptVerdict {
  readonly event: Extract<DeliveryEvent, 'Delivered' | 'Failed' | 'GivenUp' | 'Superseded'>;
  readonly error: { readonly code: AttemptCode; readonly httpStatus: number | null } | null;
  /** Epoch milliseconds. */
  readonly nextAt: number;
  /** The receiver says that it is gone: nothing more is sent there until an operator says otherwise. */
  readonly closesEndpoint: boolean;
}

/** No receiver postpones a notice for longer at once, milliseconds. */
const RETRY_AFTER_MAX_MS = 86_400_000;
const GONE = 410;

/**
 * Decides whether a notice may be sent at all: the file of endpoints may have changed since it was queued, and who reads a channel may no
 * longer hear of a tenant. Null where it may; a test is everybody's.
 */
export function judgeHearing(
  endpoint: Pick<Endpoint, 'tenants' | 'kinds'>,
  { notice: { tenant, item } }: Pick<Delivery, 'notice'>,
  now: number,
): AttemptVerdict | null {
  if (item === null || hears(endpoint, tenant, item.kind)) return null;
  return { event: 'Superseded', error: null, nextAt: now, closesEndpoint: false };
}

/**
 * Decides about an attempt.
 *
 * Shape:  `delivery.attempts` counts this one. A delivery whose endpoint is gone stays queued: the operator's to go on with.
 * Units:  epoch milliseconds.
 */
export function judgeAttempt(
  delivery: Pick<Delivery, 'id' | 'attempts' | 'dueAt'>,
  attempted: Attempted,
  { backoff, giveUpMs }: DeliveryPolicy,
  now: number,
): AttemptVerdict {
  const code = codeOfAttempt(attempted);
  if (code === null) return { event: 'Delivered', error: null, nextAt: now, closesEndpoint: false };
  const error = { code, httpStatus: attempted.kind === 'answered' ? attempted.httpStatus : null };
  const nextAt = now + Math.max(waitMs(delivery, backoff), Math.min(retryAfterOf(attempted), RETRY_AFTER_MAX_MS));
  if (code === 'GONE') return { event: 'Failed', error, nextAt, closesEndpoint: true };
  return { event: nextAt >= delivery.dueAt + giveUpMs ? 'GivenUp' : 'Failed', error, nextAt, closesEndpoint: false };
}

/** Why an attempt did not deliver; null where it did. */
export function codeOfAttempt(attempted: Attempted): AttemptCode | null {
  if (attempted.kind === 'failed') return attempted.code;
  const { httpStatus: status } = attempted;
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'REDIRECTED';
  if (status === GONE) return 'GONE';
  if (status === 429) return 'THROTTLED';
  return status >= 500 ? 'SERVER_ERROR' : 'REFUSED';
}

/** Half of the step of the backoff at least, the whole at most: where in between, the id and the attempt say. */
function waitMs({ id, attempts }: Pick<Delivery, 'id' | 'attempts'>, backoff: RetryBackoff): number {
  const share = Number.parseInt(sha256Hex(`${id}:${String(attempts)}`).slice(0, 8), 16) / 0xffff_ffff;
  return Math.round(backoffMs(Math.max(1, attempts), backoff) * (0.5 + share / 2));
}

function retryAfterOf(attempted: Attempted): number {
  return attempted.kind === 'answered' ? (attempted.retryAfterMs ?? 0) : 0;
}
