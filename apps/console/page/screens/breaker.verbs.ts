// A breaker: each partition has one of its own under the same id, named by its run, and a person closes them as one.
import { commanded, ledger, underKey } from '../api/clients.js';
import { problemIn } from '../api/problem.js';
import { rowsIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { closeEach, closingOf } from './breaker.rules.js';
import { plain } from './verbs.js';

type State = 'open' | 'closed';

const breakers = (id: string, state: State) =>
  ledger.GET('/v1/breakers', { params: { query: { breaker_id: id, state, limit: 500 } } });

/** The breaker of the run's partition; one that a person closed is found as well. */
export async function readBreaker(id: string, run: string) {
  const [open, closed] = await Promise.all([breakers(id, 'open'), breakers(id, 'closed')]);
  if (!open.response.ok) return open;
  const of = (row: Row): boolean => textIn(row, 'run_id') === run;
  return { ...closed, data: rowsIn(open.data, 'items').find(of) ?? rowsIn(closed.data, 'items').find(of) };
}

export function breakerVerbs(row: Row, id: string): readonly Verb[] {
  if (row['phase'] === 'closed') return [];
  return [
    plain(
      'Close the breaker',
      [
        'It is closed wherever it is open. What it holds is decided again, one by one.',
        'A burst that goes on opens it again.',
      ],
      async ({ reason, key }) => {
        const { data, error, response } = await breakers(id, 'open');
        if (!response.ok) throw problemIn(error, response.status);
        const runs = rowsIn(data, 'items').map((one) => textIn(one, 'run_id') ?? '');
        return closeEach(runs, (run) => {
          const { run_id, body } = closingOf(run, reason);
          const params = { path: { run_id, id }, header: underKey(key) };
          return commanded(ledger.POST('/v1/breakers/{run_id}/{id}/close', { params, body }));
        });
      },
    ),
  ];
}
