// Asking other processes.
import type { Json } from '@recourse/kernel';
import { ToolConflict, ToolRejected } from '@recourse/sdk';
import { z } from 'zod';

/** An answer that came, whatever its status. */
export interface HttpReply {
  readonly status: number;
  /** Parsed JSON; an empty object when there was none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface HttpAsk {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 5,000. */
  readonly timeoutMs?: number;
}

export type Ask = (url: string, ask?: HttpAsk) => Promise<HttpReply>;

const TIMEOUT_MS = 5_000;

/** Asks once. Errors: those of fetch when no answer came. */
export const ask: Ask = async (url, { method = 'GET', body, headers = {}, timeoutMs = TIMEOUT_MS } = {}) => {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const parsed: unknown = await response.json().catch(() => ({}));
  // Lists are wrapped, so that an answer is always an object.
  return {
    status: response.status,
    body: Array.isArray(parsed)
      ? { items: parsed as unknown[] }
      : typeof parsed === 'object' && parsed !== null
        ? (parsed as HttpReply['body'])
        : {},
  };
};

/** By these a provider says that it did nothing; a 404 or a 409 is also what it says of what was done before. */
const REFUSALS: readonly number[] = [400, 401, 403, 412, 422, 429];
const CHANGED_MEANWHILE = 412;
const docShape = z.record(z.string(), z.json());

/** An answer that leaves open whether anything happened. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled';
  constructor(
    who: string,
    readonly status: number,
    said: string,
  ) {
    super(`${who} answered ${String(status)} (${said})`);
  }
}

/**
 * Asks a provider on behalf of a tool.
 *
 * Errors: ToolRejected only where nothing happened for sure: the request never left, or was refused by a status that says so. Any other
 *         error means that nobody knows.
 */
export async function askProvider(
  who: string,
  url: string,
  how: HttpAsk = {},
): Promise<Readonly<Record<string, Json>>> {
  const { status, body } = await ask(url, how).catch((error: unknown) => {
    throw wasNotSent(error) ? new ToolRejected('NOT_SENT', `${who} does not listen`, { cause: error }) : error;
  });
  if (status < 400) return docShape.parse(body);
  const { code, message } = { code: String(body['code']), message: String(body['message']) };
  if (status === CHANGED_MEANWHILE) throw new ToolConflict(message, { cause: { status } });
  throw REFUSALS.includes(status)
    ? new ToolRejected(code, message, { cause: { status } })
    : new Unsettled(who, status, `${code}: ${message}`);
}

/** Whether an error says that the request never left. */
function wasNotSent(error: unknown): boolean {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
  return (
    typeof cause === 'object' &&
    cause !== null &&
    'code' in cause &&
    (cause.code === 'ECONNREFUSED' || cause.code === 'ENOTFOUND')
  );
}
