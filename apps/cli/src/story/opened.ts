// What the services show of sealed payloads to whoever asks: a log holds them sealed, and those who may see them have them opened.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Accepted } from '../audit/accepted.js';
import type { Service } from '../config.js';
import { isClosed } from '../output/payload.js';
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
      for (const [hash, body] of openedIn(items)) opened.set(hash, body);
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

/** Payloads of an answer that were sealed and came opened, whatever they hold; of one that stayed sealed nothing is known. */
export function openedIn(answer: unknown): ReadonlyMap<string, unknown> {
  if (typeof answer !== 'object' || answer === null) return new Map();
  const { encoding, sha256, body } = docOf(answer);
  const isOpened = encoding === 'sealed' && typeof sha256 === 'string' && body !== undefined && !isClosed(answer);
  const own = isOpened ? [[sha256, body] as const] : [];
  return new Map([...own, ...Object.values(answer).flatMap((each) => [...openedIn(each)])]);
}
