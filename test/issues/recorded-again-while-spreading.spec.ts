// Simulation seed 91: an invalidation was still being spread over the commits of its ref when one of them, uncertain until then,
// was recorded again. Judged anew, it was bound past the statement, so that the spread passed over it: the commit stood on an
// assumption that had failed, and nobody was told.
import { expect, it } from '@jest/globals';
import {
  executed,
  isHit,
  ledger,
  NOW,
  refund,
  state,
  statement,
} from '../../apps/mutation-ledger/src/core/ledger.testing.js';

it('a commit that is recorded again while an invalidation of its ref is spread is contradicted by it all the same', () => {
  const { run, assumptions } = ledger({ effectsMax: 1 });
  for (const run_id of ['first', 'again'])
    run.when(executed(refund({ run_id, outcome: 'uncertain', result: null })), NOW);
  run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 1);
  // A reaffirmation lets the second report be judged well: only the place of the first one knows better.
  state(assumptions, statement('holds', 'reaf-1'));
  for (const run_id of ['first', 'again']) run.when(executed(refund({ run_id })), NOW + 2);
  run.whenDue(NOW + 3);
  const contradicted = run
    .records()
    .filter(isHit)
    .map(({ body }) => body['run_id']);
  expect([...contradicted].sort()).toEqual(['again', 'first']);
});
