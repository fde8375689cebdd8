// The HTTP edge of a service, as programs and the command line ask it: the one HTTP client of the project.
//
// Boundary: sends requests, reads answers, follows a command to its outcome. What an answer means is for the caller to say.
import { randomUUID } from 'node:crypto';
import { systemClock } from '@recourse/kernel';
import type { Clock, Rejection } from '@recourse/kernel';

/** A JSON object as it came. */
export type Doc = Readonly<Record<string, unknown>>;

/** How the edge of a service is reached. */
export interface EdgeOptions {
  /** Base address of the service. */
  readonly url: string;
  /** Bearer token of the caller, asked for before every request; null sends none. */
  readonly token: () => Promise<string | null>;
  /** What the service is called in error texts. Default `the service`. */
  readonly name?: string;
  /** Longest wait for one answer, in milliseconds. Default 5,000; 20,000 where a command waits for its outcome. */
  readonly timeoutMs?: number;
  /** Sends a request. Default: the platform's `fetch`; pass another to go through a proxy. */
  readonly fetch?: (url: string, request: RequestInit) => Promise<EdgeResponse>;
  /** Paces the wait for an outcome. Default: the host's clock. */
  readonly clock?: Clock;
}

/** What the client reads of a response. */
export interface EdgeResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** One request to a service. */
export interface EdgeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** Query parameters; those without a value are left out, a list is repeated under its name. */
export type Query = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** An answer, whatever its status. */
export interface EdgeAnswer {
  readonly status: number;
  /** Text that is no JSON is the `detail`; JSON that is no object counts as an empty one. */
  readonly body: Doc;
  /** Where the outcome of a command can be read, as the service said. */
  readonly location: string | null;
  /** Who answered: name and address. */
  readonly from: string;
}

/** Items of a list, as far as they were asked for. */
export interface Listed {
  readonly items: readonly Doc[];
  /** True when there are more than were asked for. */
  readonly more: boolean;
}

/** Asks one service. Errors of each: EdgeProblem, and whatever `token` throws. */
export interface EdgeClient {
  /** Sends one request and answers whatever came. Errors: EdgeProblem(SERVICE_UNREACHABLE). */
  ask(request: EdgeRequest): Promise<EdgeAnswer>;
  /** Body of a good answer. Errors: also the service's code. */
  get(path: string, query?: Query): Promise<Doc>;
  /** Items of a list, page by page, up to `countMax`. Errors: also ANSWER_UNREADABLE. */
  list(path: string, query: Query, countMax: number): Promise<Listed>;
  /** Sends a command and waits for its outcome. Errors: also OUTCOME_PENDING, IDEMPOTENCY_KEY_INVALID. */
  command(path: string, body: object, idempotencyKey?: string): Promise<Doc>;
}

/** What to do about the codes that the client itself gives. */
export const EDGE_REMEDIES = {
  SERVICE_UNREACHABLE: 'Check that it runs and that its address is right.',
  OUTCOME_PENDING: 'Send it again under the same idempotency key: it is one command, however often it is sent.',
  IDEMPOTENCY_KEY_INVALID: 'Name it otherwise: nothing was sent.',
  ANSWER_UNREADABLE: 'Check that the address is that of the service, and that both are of one version.',
} as const;

/** What an EdgeProblem is made of. */
export interface EdgeProblemParts {
  /** Name and address of the service. */
  readonly from: string;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** Each thing that is wrong with the request, where the service lists them. */
  readonly problems?: readonly Rejection[];
  readonly cause?: unknown;
}

/** A service refused, could not be reached, or has no outcome yet. */
export class EdgeProblem extends Error {
  override readonly name = 'EdgeProblem';
  readonly from: string;
  readonly status: number | null;
  readonly problems: readonly Rejection[];
  readonly remedy: string | null;

  constructor(
    /** The service's own code, `HTTP_<status>` where it gave none, or one of `EDGE_REMEDIES`. */
    readonly code: string,
    /** What is wrong. */
    readonly detail: string,
    { from, status, problems = [], cause }: EdgeProblemParts,
  ) {
    const remedy = isOwn(code) ? EDGE_REMEDIES[code] : null;
    super(`${code}: ${from}: ${detail}${remedy === null ? '' : `. ${remedy}`}`, { cause });
    this.from = from;
    this.status = status;
    this.problems = problems;
    this.remedy = remedy;
  }
}

const isOwn = (code: string): code is keyof typeof EDGE_REMEDIES => Object.hasOwn(EDGE_REMEDIES, code);

const TIMEOUT_MS = 5_000;
/** Above the services' own patience of 10 s. */
const COMMAND_TIMEOUT_MS = 20_000;
const PAGE_MAX = 500;
/** How long a command without an outcome is followed, and how often it is asked about. */
const FOLLOW_MS = 30_000;
const FOLLOW_EVERY_MS = 500;
const TAKEN = 202;
const KEY_FORM = /^[!-~](?:[ -~]{0,198}[!-~])?$/u;
const KEY_RULE = 'an idempotency key is 1 to 200 signs of ASCII without blanks around them';

/** Makes a client of one service. Nothing is sent before it is used. */
export function edgeClient(options: EdgeOptions): EdgeClient {
  return new FetchClient(options);
}

class FetchClient implements EdgeClient {
  private readonly base: string;
  private readonly who: string;

  constructor(private readonly options: EdgeOptions) {
    this.base = options.url.replace(/\/+$/, '');
    this.who = `${options.name ?? 'the service'} at ${this.base}`;
  }

  ask(request: EdgeRequest): Promise<EdgeAnswer> {
    return this.send(request, this.options.timeoutMs ?? TIMEOUT_MS);
  }

  async get(path: string, query: Query = {}): Promise<Doc> {
    return bodyOf(await this.ask({ method: 'GET', path, query }));
  }

  async list(path: string, query: Query, countMax: number): Promise<Listed> {
    const items: Doc[] = [];
    let cursor: string | undefined;
    do {
      const limit = String(Math.min(PAGE_MAX, countMax - items.length));
      const page = await this.get(path, { ...query, limit, cursor });
      if (!Array.isArray(page['items'])) throw this.unreadable(`the answer to ${path} has no list of items`);
      items.push(...page['items'].map(docOf));
      const next = typeof page['next_cursor'] === 'string' ? page['next_cursor'] : undefined;
      if (next !== undefined && next === cursor)
        throw this.unreadable(`the list ${path} does not go on behind its cursor`);
      cursor = next;
    } while (cursor !== undefined && items.length < countMax);
    return { items, more: cursor !== undefined };
  }

  private unreadable(detail: string): EdgeProblem {
    return new EdgeProblem('ANSWER_UNREADABLE', detail, { from: this.who, status: 200 });
  }

  async command(path: string, body: object, idempotencyKey: string = randomUUID()): Promise<Doc> {
    if (!KEY_FORM.test(idempotencyKey))
      throw new EdgeProblem('IDEMPOTENCY_KEY_INVALID', KEY_RULE, { from: this.who, status: null });
    try {
      return await this.commanded(path, body, idempotencyKey);
    } catch (cause) {
      throw mayStand(cause, idempotencyKey);
    }
  }

  private async commanded(path: string, body: object, idempotencyKey: string): Promise<Doc> {
    const { clock = systemClock, timeoutMs = COMMAND_TIMEOUT_MS } = this.options;
    const until = clock.monotonic() + FOLLOW_MS;
    const request: EdgeRequest = { method: 'POST', path, body, idempotencyKey };
    let answer = await this.send(request, timeoutMs);
    const place = answer.location;
    while (isPending(answer) && clock.monotonic() < until) {
      await clock.sleep(FOLLOW_EVERY_MS);
      // The same command under the same key is answered with its outcome, too.
      answer = await this.send(isPath(place) ? { method: 'GET', path: place } : request, timeoutMs);
    }
    if (!isPending(answer)) return bodyOf(answer);
    throw new EdgeProblem(
      'OUTCOME_PENDING',
      `the command with the idempotency key ${idempotencyKey} was taken and has no outcome yet${isPath(place) ? `; it will be at ${place}` : ''}`,
      { from: this.who, status: TAKEN },
    );
  }

  private async send(request: EdgeRequest, timeoutMs: number): Promise<EdgeAnswer> {
    const { method, path, query, body, idempotencyKey } = request;
    const token = await this.options.token();
    const init: RequestInit = {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    };
    try {
      const response = await (this.options.fetch ?? fetch)(`${this.base}${path}${queryText(query)}`, init);
      const text = await response.text();
      return {
        status: response.status,
        body: jsonOf(text),
        location: response.headers.get('location'),
        from: this.who,
      };
    } catch (cause) {
      const within = isTimeout(cause) ? ` within ${String(timeoutMs)} ms` : '';
      throw new EdgeProblem('SERVICE_UNREACHABLE', `no answer to ${method} ${path}${within}`, {
        from: this.who,
        status: null,
        cause,
      });
    }
  }
}

/** The body of a good answer. Errors: EdgeProblem with the service's code. */
export function bodyOf(answer: EdgeAnswer): Doc {
  if (answer.status >= 200 && answer.status < 300 && !isPending(answer)) return answer.body;
  throw problemOf(answer);
}

/** Taken, and how it ended is to be asked for; what says more than words of a gateway (`detail`) is the outcome. */
function isPending({ status, body, location }: EdgeAnswer): boolean {
  return status === TAKEN && (location !== null || body['status'] === 'pending' || hasWordsAlone(body));
}
const hasWordsAlone = (body: Doc): boolean => Object.keys(body).every((member) => member === 'detail');
const SERVICE_IN_TROUBLE = 500;

/** The service may have taken it all the same: whoever sends it again under its key has it done once. */
function mayStand(cause: unknown, idempotencyKey: string): unknown {
  if (!(cause instanceof EdgeProblem) || (cause.status ?? SERVICE_IN_TROUBLE) < SERVICE_IN_TROUBLE) return cause;
  const { code, detail, from, status, problems } = cause;
  const again = `it may have been taken all the same: sent again under the idempotency key ${idempotencyKey} it is done once`;
  return new EdgeProblem(code, `${detail.replace(/\.$/u, '')}; ${again}`, { from, status, problems, cause });
}

/** What is wrong, by an answer that is not the one hoped for. */
export function problemOf({ status, body, from }: EdgeAnswer): EdgeProblem {
  const { code, detail, message, title, problems } = body;
  const said = [message, detail, title].find((text) => typeof text === 'string' && text !== '');
  return new EdgeProblem(
    typeof code === 'string' ? code : `HTTP_${String(status)}`,
    typeof said === 'string' ? said : `the answer was ${String(status)}`,
    { from, status, problems: Array.isArray(problems) ? problems.map(problemIn) : [] },
  );
}

/** A JSON object; anything else counts as one without members. */
export function docOf(value: unknown): Doc {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Doc) : {};
}

function problemIn(value: unknown): Rejection {
  const { code, message, path } = docOf(value);
  return { code: String(code), message: String(message), ...(typeof path === 'string' ? { path } : {}) };
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of typeof value === 'string' ? [value] : (value ?? [])) parameters.append(name, each);
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function jsonOf(text: string): Doc {
  try {
    return docOf(JSON.parse(text));
  } catch {
    return text === '' ? {} : { detail: text.slice(0, 200) };
  }
}

/** Only a path of the same service is followed: a token goes nowhere else. */
function isPath(location: string | null): location is string {
  return location?.startsWith('/') === true && !location.startsWith('//');
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}
