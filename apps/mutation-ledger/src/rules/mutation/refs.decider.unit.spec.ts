import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Binding } from './mutation.messages.js';
import { newest } from './refs.decider.js';

const binding = (mutation_id: string, recorded_seq: number | undefined): Binding => ({
  mutation_id,
  tenant: 'acme',
  run_id: 'run-1',
  ref: 'order/1#open',
  position: 0,
  ...(recorded_seq === undefined ? {} : { recorded_seq }),
});
const many = fc
  .uniqueArray(fc.tuple(fc.nat(200), fc.option(fc.nat(12), { nil: undefined })), {
    maxLength: 60,
    selector: ([id]) => id,
  })
  .map((all) => all.map(([id, seq]) => binding(`mut_${String(id)}`, seq)));

describe('the newest of many bindings', () => {
  it('are those that putting all in order would give, however many are recorded at one place', () => {
    fc.assert(
      fc.property(many, fc.integer({ min: 1, max: 20 }), (bindings, count) => {
        const inOrder = [...bindings].sort(
          (a, b) => (b.recorded_seq ?? 0) - (a.recorded_seq ?? 0) || (a.mutation_id < b.mutation_id ? -1 : 1),
        );
        expect(newest(bindings, count)).toEqual(inOrder.slice(0, count));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leave what they were chosen from as it was', () => {
    const bindings = [binding('mut_a', 1), binding('mut_b', 2)];
    expect([newest(bindings, 5).map(({ mutation_id: id }) => id), bindings.map(({ mutation_id: id }) => id)]).toEqual([
      ['mut_b', 'mut_a'],
      ['mut_a', 'mut_b'],
    ]);
  });
});
