// Where each kind of item that is no step of a recovery is read. Items that have no route of their own are looked for in their list, on
// whichever of its pages: those that wait first, then the others, for somebody may have ended one since it was listed.
import { answered, budgets, checked, ledger, recoveries } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import { foundIn } from '../api/pages.js';
import type { Call, More } from '../api/pages.js';
import { ApiProblem } from '../api/problem.js';
import { textIn } from '../api/rows.js';
import { ROW, ROWS } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { readBreaker } from './breaker.verbs.js';
import { questionsOf } from './budget.rules.js';

export interface Place {
  readonly edge: EdgeName;
  /** Errors: ApiProblem. */
  readonly read: (id: string, run: string) => Promise<Row>;
}

const path = (id: string) => ({ params: { path: { id } } });
const LIMIT = 500;

function one(edge: EdgeName, call: (id: string) => Call): Place {
  return { edge, read: (id) => checked(ROW, call(id)) };
}

/** The one of some lists that has the id in this column. */
function listed(column: string, lists: (run: string) => readonly ((more: More) => Call)[]): Place['read'] {
  return async (id, run) => {
    for (const call of lists(run)) {
      const row = await foundIn(ROWS, call, (item) => textIn(item, column) === id);
      if (row !== undefined) return row;
    }
    throw missing();
  };
}

/** As a service answers of what it has not. */
const missing = (): ApiProblem => new ApiProblem('NOT_FOUND', 404, '');

const mutation = one('ledger', (id) => ledger.GET('/v1/mutations/{id}', path(id)));

/** Items of a budget go by their reservation; people decide about the question of it. Some are of no run. */
const asked = listed('reservation_id', (run) =>
  questionsOf(run).map(
    (query) => (more) => budgets.GET('/v1/escalations', { params: { query: { ...query, ...more } } }),
  ),
);

export const PLACES: Readonly<Record<string, Place>> = {
  rollback: one('ledger', (id) => ledger.GET('/v1/rollbacks/{id}', path(id))),
  task: one('recoveries', (id) => recoveries.GET('/v1/tasks/{id}', path(id))),
  incident: one('recoveries', (id) => recoveries.GET('/v1/incidents/{id}', path(id))),
  forward_approval: one('recoveries', (id) => recoveries.GET('/v1/forward-approvals/{id}', path(id))),
  budget: {
    edge: 'budgets',
    read: async (id, run) => {
      const question = textIn(await asked(id, run), 'escalation_id') ?? '';
      return answered(ROW, budgets.GET('/v1/escalations/{id}', path(question)));
    },
  },
  breaker: {
    edge: 'ledger',
    read: async (id, run) => {
      const breaker = await readBreaker(id, run);
      if (breaker === undefined) throw missing();
      return breaker;
    },
  },
  execution: mutation,
  exposure: mutation,
  escalated: mutation,
  window: mutation,
  delivery: {
    edge: 'ledger',
    read: listed('delivery_id', (run_id) =>
      [{ phase: 'overdue' as const }, {}].map((phase) => (more) => {
        const query = { run_id, ...phase, limit: LIMIT, ...more };
        return ledger.GET('/v1/deliveries', { params: { query } });
      }),
    ),
  },
  divergence: {
    edge: 'ledger',
    read: listed('divergence_id', () => [
      (more) => ledger.GET('/v1/reconciliations/divergences', { params: { query: { limit: LIMIT, ...more } } }),
    ]),
  },
  trend: {
    edge: 'ledger',
    read: listed('trend_id', () => [
      (more) => ledger.GET('/v1/trends', { params: { query: { state: 'rising', limit: LIMIT, ...more } } }),
    ]),
  },
};
