// One request to the HTTP edge of a service.

/** How an edge of the services is reached. */
export interface EdgeOptions {
  /** Base address of the service, without a slash at its end. */
  readonly url: string;
  /** Bearer token of the caller; asked for before every request. */
  readonly token: () => Promise<string>;
  /** Longest wait for an answer, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /** Sends a request; the platform's own unless told, for whoever goes through a proxy or has a way of their own. */
  readonly fetch?: (url: string, request: RequestInit) => Promise<Pick<Response, 'status' | 'json'>>;
}

export interface EdgeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

export interface EdgeAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const TIMEOUT_MS = 5_000;

/** Asks and reads the answer. A body that is no JSON object counts as empty. Errors: whatever fetch throws. */
export async function askEdge(
  { url, token, timeoutMs = TIMEOUT_MS, fetch: send = fetch }: EdgeOptions,
  { method, path, body, idempotencyKey }: EdgeRequest,
): Promise<EdgeAnswer> {
  const response = await send(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await token()}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const parsed: unknown = await response.json().catch(() => ({}));
  return {
    status: response.status,
    body: typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : {},
  };
}
