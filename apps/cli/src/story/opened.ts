// What the services show of sealed payloads to whoever asks: a log holds them sealed, and those who may see them have them opened.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Accepted } from '../audit/accepted.js';
import type { Service } from '../config.js';
import type { Session } from '../session.js';

const ROWS_MAX = 500;

/** Opened bodies by the hash of the sealed bytes. Errors: those of the edge, but for what is not found. */
export async function openedBy(session: Session, records: readonly Accepted[]): Promise<ReadonlyMap<string, unknown>> {
  const opened = new Map<string, unknown>();
  const texts = (field: string): readonly string[] => [
    ...new Set(records.flatMap(({ body }) => valuesOf(docOf(body), field))),
  ];
  const read = async (service: Service, path: string, query: Readonly<Record<string, string>>): Promise<void> => {
    try {
      const { items } = await session.service(service).list(path, { ...query, tenant: session.tenant }, ROWS_MAX);
      for (const item of items) collect(item, opened);
    } catch (cause) {
      if (!(cause instanceof EdgeProblem) || cause.code !== 'NOT_FOUND') throw cause;
    }
  };
  for (const run_id of texts('run_id')) {
    await read('ledger', '/v1/mutations', { run_id });
    await read('ledger', '/v1/compensations', { run_id });
    await read('recoveries', '/v1/steps', { run_id });
  }
  for (const ref of texts('ref')) await read('ledger', '/v1/assumptions', { ref });
  return opened;
}

/** Values of a text field, in a record or its execution. */
function valuesOf(body: Doc, field: string): readonly string[] {
  return [body[field], docOf(body['execution'])[field]].filter((one) => typeof one === 'string');
}

/** Payloads of an answer that were opened: their body is no text of sealed bytes. */
function collect(value: unknown, into: Map<string, unknown>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, into);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const doc = docOf(value);
  if (typeof doc['sha256'] === 'string' && typeof doc['body'] === 'object') into.set(doc['sha256'], doc['body']);
  for (const each of Object.values(doc)) collect(each, into);
}
