// The command line at a desk of proofs: services that answer as they are told, and a person who answers so.
import { systemClock } from '@recourse/sdk';
import type { Clock } from '@recourse/sdk';
import { visible } from './output/visible.js';
import { run } from './program.js';

/** One request, as a service saw it. */
export interface Asked {
  readonly method: string;
  readonly host: string;
  /** Without its query. */
  readonly pathname: string;
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | null;
  readonly key: string | null;
}

/** What a service answers; undefined where nothing listens. */
export type Respond = (asked: Asked) => Response | undefined;

export interface Desk {
  /** Runs `recourse` with these arguments; gives its exit code. */
  call(...args: readonly string[]): Promise<number>;
  readonly asked: readonly Asked[];
  /** What the person was asked: as everything, in the spelling that reaches a terminal. */
  readonly questions: readonly string[];
  paths(): readonly string[];
  out(): string;
  note(): string;
}

const SERVICES = ['contracts', 'ledger', 'recoveries', 'budget', 'notifier'];

/** A token, so that nothing is asked of an issuer. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SERVICES.map((name) => [`RECOURSE_${name.toUpperCase()}_URL`, `http://${name}.test`])),
  RECOURSE_TOKEN: 'secret',
};

/** Answers from a table; its keys are paths, with the method before them where it matters. */
export function table(answers: Readonly<Record<string, object>>): Respond {
  return ({ method, pathname }) => {
    const answer = answers[`${method} ${pathname}`] ?? answers[pathname];
    return answer === undefined ? undefined : Response.json(answer);
  };
}

/** A desk. `said` is what the person answers; null: nobody sits there. */
export function desk(
  respond: Respond,
  {
    said = null,
    environment = ENVIRONMENT,
    folder = '/',
    clock = systemClock,
  }: {
    readonly said?: string | null;
    readonly environment?: Readonly<Record<string, string>>;
    readonly folder?: string;
    readonly clock?: Clock;
  } = {},
): Desk {
  const [asked, questions, out, note]: [Asked[], string[], string[], string[]] = [[], [], [], []];
  const fetcher = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const one = askedOf(input, init);
    asked.push(one);
    const answer = respond(one);
    return answer === undefined ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(answer);
  };
  const terminal = {
    out: (text: string) => void out.push(visible(text)),
    note: (text: string) => void note.push(visible(text)),
    isInteractive: said !== null,
    ask: (question: string) => {
      questions.push(visible(question));
      return Promise.resolve(said ?? '');
    },
  };
  return {
    call: (...args) => run(args, { terminal, environment, folder, fetch: fetcher, clock }),
    asked,
    questions,
    paths: () => asked.map(({ path }) => path),
    out: () => out.join('\n'),
    note: () => note.join('\n'),
  };
}

function askedOf(input: string | URL | Request, init: RequestInit): Asked {
  const { host, pathname, search } = new URL(input instanceof Request ? input.url : input);
  const headers = new Headers(init.headers);
  return {
    method: init.method ?? 'GET',
    host,
    pathname,
    path: `${pathname}${search}`,
    body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null,
    authorization: headers.get('authorization'),
    key: headers.get('idempotency-key'),
  };
}
