// Asking other processes.

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

/** Whether an error says that the request never left. */
export function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    typeof cause === 'object' &&
    cause !== null &&
    'code' in cause &&
    (cause.code === 'ECONNREFUSED' || cause.code === 'ENOTFOUND')
  );
}
