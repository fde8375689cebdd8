// P12 asked of the services' lists: what is open has an owner and a deadline.
import type { Arena } from '../arena.js';
import { AUDITOR, factsOf, listOf } from '../edge.js';
import type { Facts, Side } from '../edge.js';

/** One of the lists of the services, and when a row of it is open. */
export interface OpenList {
  readonly side: Side;
  readonly path: string;
  readonly id: string;
  readonly isOpen: (row: Facts) => boolean;
  /** Where owner and deadline stand. */
  readonly ownedBy?: (row: Facts) => Facts;
}

const STEPS_AT_REST: readonly unknown[] = ['compensated', 'not_needed', 'denied', 'resolved'];
const EXECUTIONS_AT_REST: readonly unknown[] = ['succeeded', 'failed'];

export const LISTS: readonly OpenList[] = [
  { side: 'orchestrator', path: '/v1/steps', id: 'step_id', isOpen: ({ phase }) => !STEPS_AT_REST.includes(phase) },
  { side: 'ledger', path: '/v1/rollbacks', id: 'rollback_id', isOpen: ({ phase }) => phase !== 'marked' },
  {
    side: 'ledger',
    path: '/v1/mutations',
    id: 'mutation_id',
    isOpen: (row) => !EXECUTIONS_AT_REST.includes(row['execution_state']),
    ownedBy: (row) => factsOf(row['awaited']),
  },
  { side: 'budget', path: '/v1/escalations', id: 'escalation_id', isOpen: ({ phase }) => phase === 'open' },
];

export interface OpenRows {
  /** Rows that somebody still has to do with. */
  readonly open: number;
  /** Those of them without owner or deadline. */
  readonly problems: readonly string[];
}

/** What is open of some runs, as the services list it. */
export async function openRows(arena: Arena, runIds: readonly string[]): Promise<OpenRows> {
  const asked = runIds.flatMap((runId) =>
    LISTS.map(async (list) =>
      openIn(list, listOf((await arena.edge.get(list.side, `${list.path}?run_id=${runId}`, AUDITOR)).body['items'])),
    ),
  );
  const found = await Promise.all(asked);
  return { open: found.reduce((sum, { open }) => sum + open, 0), problems: found.flatMap(({ problems }) => problems) };
}

/** What of a list's rows is open, and which of that nobody owns or nothing ends. Pure. */
export function openIn({ path, id, isOpen, ownedBy = (row) => row }: OpenList, rows: readonly Facts[]): OpenRows {
  const open = rows.filter(isOpen);
  const lost = open.filter((row) => !isOwned(ownedBy(row)));
  return {
    open: open.length,
    problems: lost.map(
      (row) => `${path}: ${String(row[id])} is open without owner or deadline: ${JSON.stringify(row).slice(0, 400)}`,
    ),
  };
}

function isOwned({ owner, deadline_at }: Facts): boolean {
  return typeof owner === 'string' && owner !== '' && typeof deadline_at === 'number';
}
