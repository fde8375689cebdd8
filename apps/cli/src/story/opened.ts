// What the services show of sealed payloads to whoever asks: a log holds them sealed, and those who may see them have them opened.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Accepted } from '../audit/accepted.js';
import type { Service } from '../config.js';
import { isClosed } from '../output/payload.js';
import type { Session } from '../session.js';

const ROWS_MAX = 500;

/** What the services showed. */
export interface Opened {
  /** Opened bodies by the hash of the sealed bytes. */
  readonly bodies: ReadonlyMap<string, unknown>;
  /** Roles that open what stayed sealed for whoever asked; empty where nothing did. */
  readonly openers: readonly string[];
}

/** What the services show of the records of a tenant. Errors: those of the edge, but for what is not found. */
export async function openedBy(session: Session, tenant: string | null, records: readonly Accepted[]): Promise<Opened> {
  const bodies = new Map<string, unknown>();
  const openers = new Set<string>();
  const texts = (field: string): readonly string[] => [
    ...new Set(records.flatMap(({ body }) => valuesOf(docOf(body), field))),
  ];
  const show = async (answer: Promise<unknown>): Promise<void> => {
    try {
      const shown = await answer;
      for (const [hash, body] of openedIn(shown)) bodies.set(hash, body);
      for (const role of openersIn(shown)) openers.add(role);
    } catch (cause) {
      if (!(cause instanceof EdgeProblem) || cause.code !== 'NOT_FOUND') throw cause;
    }
  };
  const read = (service: Service, path: string, query: Readonly<Record<string, string>>): Promise<void> =>
    show(session.service(service).list(path, { ...query, tenant }, ROWS_MAX));
  for (const run_id of texts('run_id')) {
    await read('ledger', '/v1/mutations', { run_id });
    await read('ledger', '/v1/compensations', { run_id });
    await read('ledger', '/v1/rollbacks', { run_id });
    await read('ledger', '/v1/undos', { run_id });
    await read('recoveries', '/v1/steps', { run_id });
  }
  // A list of questions has those of one phase.
  for (const id of questionsIn(records))
    await show(session.service('recoveries').get(`/v1/forward-approvals/${encodeURIComponent(id)}`, { tenant }));
  for (const ref of texts('ref')) await read('ledger', '/v1/assumptions', { ref });
  return { bodies, openers: [...openers] };
}

/** Questions before effects; a step has ids of approvals, too. */
function questionsIn(records: readonly Accepted[]): ReadonlySet<string> {
  const asked = records.filter(({ type }) => type === 'ForwardApprovalRequested');
  return new Set(asked.flatMap(({ body }) => valuesOf(docOf(body), 'approval_id')));
}

/** Values of a text field, in a record or its execution. */
function valuesOf(body: Doc, field: string): readonly string[] {
  return [body[field], docOf(body['execution'])[field]].filter((one) => typeof one === 'string');
}

/** Payloads of an answer that were sealed and came opened, whatever they hold; of one that stayed sealed nothing is known. */
export function openedIn(answer: unknown): ReadonlyMap<string, unknown> {
  if (typeof answer !== 'object' || answer === null) return new Map();
  const { encoding, sha256, body } = docOf(answer);
  const isOpened = encoding === 'sealed' && typeof sha256 === 'string' && body !== undefined && !isClosed(answer);
  const own = isOpened ? [[sha256, body] as const] : [];
  return new Map([...own, ...Object.values(answer).flatMap((each) => [...openedIn(each)])]);
}

/** Roles beside payloads that stayed sealed for whoever asked. */
function openersIn(answer: unknown): readonly string[] {
  if (typeof answer !== 'object' || answer === null) return [];
  const { encoding, opens_with: own } = docOf(answer);
  const roles = encoding === 'sealed' && Array.isArray(own) ? own.map(String) : [];
  return [...roles, ...Object.values(answer).flatMap((each) => openersIn(each))];
}
