// A breaker: each partition has one of its own under the same id, named by its run, and a person closes them as one.
import { commanded, ledger, underKey } from '../api/clients.js';
import { ROWS_MAX } from '../api/lists.js';
import { everyPage, foundIn } from '../api/pages.js';
import type { Call, More } from '../api/pages.js';
import { textIn } from '../api/rows.js';
import { ROWS } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { closeEach, closingOf } from './breaker.rules.js';
import { plain } from './verbs.js';

const breakers =
  (breaker_id: string, state: 'open' | 'closed') =>
  (more: More): Call =>
    ledger.GET('/v1/breakers', { params: { query: { breaker_id, state, limit: 500, ...more } } });

/** The breaker of the run's partition; one that a person closed is found as well. Errors: ApiProblem. */
export async function readBreaker(id: string, run: string): Promise<Row | undefined> {
  const isIt = (row: Row): boolean => textIn(row, 'run_id') === run;
  return (await foundIn(ROWS, breakers(id, 'open'), isIt)) ?? foundIn(ROWS, breakers(id, 'closed'), isIt);
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
        const { items } = await everyPage(ROWS, breakers(id, 'open'), ROWS_MAX);
        const runs = items.map((one) => textIn(one, 'run_id') ?? '');
        return closeEach(runs, (run) => {
          const { run_id, body } = closingOf(run, reason);
          const params = { path: { run_id, id }, header: underKey(key) };
          return commanded(ledger.POST('/v1/breakers/{run_id}/{id}/close', { params, body }));
        });
      },
    ),
  ];
}
