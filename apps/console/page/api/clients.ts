// One client per service. Paths, queries and bodies are typed by the services' OpenAPI documents (page/generated); what is read of
// an answer is checked against a schema of api/shapes.
import createClient from 'openapi-fetch';
import type { Client, Middleware } from 'openapi-fetch';
import * as z from 'zod/mini';
import type { paths as BudgetPaths } from '../generated/budget-accountant.js';
import type { paths as ContractPaths } from '../generated/contract-registry.js';
import type { paths as LedgerPaths } from '../generated/mutation-ledger.js';
import type { paths as NotifierPaths } from '../generated/notifier.js';
import type { paths as RecoveryPaths } from '../generated/recovery-orchestrator.js';
import { placeOf, settled } from './outcome.js';
import type { Outcome, Taken } from './outcome.js';
import { ApiProblem, problemIn } from './problem.js';

export const EDGES = ['contracts', 'ledger', 'recoveries', 'budgets', 'notifier'] as const;
export type EdgeName = (typeof EDGES)[number];

export const EDGE_WORDS: Readonly<Record<EdgeName, string>> = {
  contracts: 'the contract registry',
  ledger: 'the mutation ledger',
  recoveries: 'the recovery orchestrator',
  budgets: 'the budget accountant',
  notifier: 'the notifier',
};

let csrfWord = '';

/** What each command of this page carries; the session says it. */
export function carryWord(word: string): void {
  csrfWord = word;
}

const withWord: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set('x-recourse-csrf', csrfWord);
    return request;
  },
};

function edge<Paths extends object>(name: EdgeName): Client<Paths> {
  const client = createClient<Paths>({ baseUrl: `/api/${name}` });
  client.use(withWord);
  return client;
}

export const contracts = edge<ContractPaths>('contracts');
export const ledger = edge<LedgerPaths>('ledger');
export const recoveries = edge<RecoveryPaths>('recoveries');
export const budgets = edge<BudgetPaths>('budgets');
export const notifier = edge<NotifierPaths>('notifier');

interface Answered<Data = unknown> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The answer, checked; what is read of it the document of its service tells of, or this does not compile. Errors: ApiProblem. */
export function answered<T, In, Data extends In>(
  schema: z.ZodMiniType<T, In>,
  call: Promise<Answered<Data>>,
): Promise<T> {
  return checked(schema, call);
}

/** The answer, checked, of whichever call. Errors: ApiProblem. */
export async function checked<T>(schema: z.ZodMiniType<T>, call: Promise<Answered>): Promise<T> {
  const { data, error, response } = await call.catch(() => {
    throw new ApiProblem('CONSOLE_AWAY', 0, 'The console does not answer. Check the connection.');
  });
  if (!response.ok) throw problemIn(error, response.status);
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  throw new ApiProblem('ANSWER_UNEXPECTED', response.status, `${response.url}: ${read.error.message}`);
}

/** What became of a command: done, or taken and not yet known. Errors: ApiProblem. */
export async function commanded(call: Promise<Answered>): Promise<Outcome> {
  const { data, error, response } = await call.catch(() => {
    throw new ApiProblem('CONSOLE_AWAY', 0, 'The console does not answer. Nobody knows whether the command arrived.');
  });
  if (!response.ok) throw problemIn(error, response.status);
  return isPending(response, data) ? { places: placeOf(response.url, response.headers.get('location')) } : 'done';
}

/** What became of a command that was taken, once that is known; as it was where nobody says for a minute. Errors: ApiProblem. */
export function outcomeOfTaken(taken: Taken): Promise<Outcome> {
  return settled(taken, { ask: (place) => commanded(lookUp(place)) });
}

async function lookUp(place: string): Promise<Answered> {
  const response = await fetch(place);
  const body: unknown = await response.json().catch(() => undefined);
  return response.ok ? { data: body, response } : { error: body, response };
}

const TAKEN = 202;
const UNTOLD = z.union([
  z.looseObject({ status: z.literal('pending') }),
  z.strictObject({ detail: z.optional(z.unknown()) }),
]);

/** Of a 202, as the SDK reads it: its outcome is to be asked for; what says more than words of a gateway (`detail`) is the outcome. */
function isPending({ status, headers }: Response, data: unknown): boolean {
  return status === TAKEN && (headers.has('location') || UNTOLD.safeParse(data ?? {}).success);
}

/** Sent again under the same key, a command is not done again. */
export function underKey(key: string): { readonly 'Idempotency-Key': string } {
  return { 'Idempotency-Key': key };
}
