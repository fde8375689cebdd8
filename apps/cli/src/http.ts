// Asks the services over HTTP and turns what they refuse into problems.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rejection } from '@recourse/kernel';
import { CliProblem } from './problem.js';
import type { Service } from './config.js';

/** JSON object as it came. */
export type Doc = Readonly<Record<string, unknown>>;

/** An answer of a service: what it says and with which status. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly location: string | null;
}

export interface ServiceClient {
  /** Errors: CliProblem with the service's code; SERVICE_UNREACHABLE. */
  get(path: string): Promise<Doc>;
  /** Every item of a list, up to a number of them. */
  list(path: string, query: Readonly<Record<string, string | undefined>>, countMax: number): Promise<Listed>;
  /** Sends a command and waits for its outcome. Errors: also OUTCOME_PENDING. */
  command(path: string, body: object, idempotencyKey?: string): Promise<Doc>;
}

export interface Listed {
  readonly items: readonly Doc[];
  /** True when more were there than were asked for. */
  readonly more: boolean;
}

export interface ClientOptions {
  readonly service: Service;
  readonly url: string;
  /** null sends none. */
  readonly token: () => Promise<string | null>;
  readonly fetch: typeof fetch;
}

/** Above the services' own patience of 10 s. */
const REQUEST_TIMEOUT_MS = 20_000;
const PAGE_MAX = 500;
/** How long a command that was taken is followed. */
const FOLLOW_MS = 30_000;
const FOLLOW_EVERY_MS = 500;
const TAKEN = 202;

export function createClient(options: ClientOptions): ServiceClient {
  const { service, url } = options;

  async function request(
    path: string,
    init: { readonly method?: string; readonly body?: object; readonly idempotencyKey?: string } = {},
  ): Promise<Reply> {
    const token = await options.token();
    const headers: Record<string, string> = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(init.idempotencyKey === undefined ? {} : { 'idempotency-key': init.idempotencyKey }),
    };
    return send(options.fetch, new URL(path, `${url}/`), service, {
      method: init.method ?? 'GET',
      headers,
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    });
  }

  async function get(path: string): Promise<Doc> {
    return docOf(settled(await request(path)));
  }

  async function list(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    countMax: number,
  ): Promise<Listed> {
    const items: Doc[] = [];
    let cursor: string | null = null;
    do {
      const left = countMax - items.length;
      const page: Doc = await get(
        `${path}?${queryText({ ...query, limit: String(Math.min(PAGE_MAX, left)), cursor: cursor ?? undefined })}`,
      );
      items.push(...(Array.isArray(page['items']) ? (page['items'] as Doc[]) : []));
      cursor = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : null;
    } while (cursor !== null && items.length < countMax);
    return { items, more: cursor !== null };
  }

  async function command(path: string, body: object, idempotencyKey: string = randomUUID()): Promise<Doc> {
    let reply = await request(path, { method: 'POST', body, idempotencyKey });
    const until = Date.now() + FOLLOW_MS;
    const { location } = reply;
    while (reply.status === TAKEN && location !== null && Date.now() < until) {
      await sleep(FOLLOW_EVERY_MS);
      reply = await request(location);
    }
    if (reply.status !== TAKEN) return docOf(settled(reply));
    throw new CliProblem(
      'OUTCOME_PENDING',
      `the command was taken and has no outcome yet${location === null ? '' : `; ask ${new URL(location, url).href}`}`,
      'pending',
      {
        remedy: `Repeating it with --idempotency-key ${idempotencyKey} asks for the same command.`,
      },
    );
  }

  return { get, list, command };
}

/** Sends one request and reads the answer as JSON. Errors: CliProblem(SERVICE_UNREACHABLE). */
export async function send(fetcher: typeof fetch, address: URL, who: string, init: RequestInit): Promise<Reply> {
  try {
    const answer = await fetcher(address, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    const text = await answer.text();
    return { status: answer.status, body: jsonOf(text), location: answer.headers.get('location') };
  } catch (cause) {
    throw new CliProblem('SERVICE_UNREACHABLE', `${who} at ${address.origin} does not answer`, 'unavailable', {
      cause,
      remedy: 'Is it running? `npm start` starts everything; --data-dir names another stack.',
    });
  }
}

/** The body of a good answer. Errors: CliProblem with the code the service gave. */
export function settled({ status, body }: Reply): unknown {
  if (status >= 200 && status < 300) return body;
  const { code, detail, message, title, problems } = docOf(body);
  const said = [message, detail, title].find((text) => typeof text === 'string') ?? `status ${status}`;
  throw new CliProblem(
    typeof code === 'string' ? code : `HTTP_${status}`,
    said,
    status >= 500 ? 'unavailable' : 'refused',
    {
      problems: Array.isArray(problems) ? problems.map(problemIn) : [],
    },
  );
}

function problemIn(value: unknown): Rejection {
  const { code, message, path } = docOf(value);
  return { code: String(code), message: String(message), ...(typeof path === 'string' ? { path } : {}) };
}

/** Query text of what is given. */
export function queryText(query: Readonly<Record<string, string | undefined>>): string {
  return new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();
}

/** Anything but an object counts as one without members. */
export function docOf(value: unknown): Doc {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Doc) : {};
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { detail: text.slice(0, 200) };
  }
}
