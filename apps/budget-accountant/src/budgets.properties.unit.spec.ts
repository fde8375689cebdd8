import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { harness, memoryView } from '@recourse/testing';
import type { Debit } from '@recourse/messages';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import { HOLDING_PHASES } from './rules/budget/budget.transitions.js';
import type { ReservationPhase } from './rules/budget/budget.transitions.js';
import { budgetsCore } from './core.js';
import { changed, open, recorded, releaseOf, reserve } from './budgets.testing.js';

const RUN_CEILING = 300;
const TENANT_CEILING = 400;

function opened(): CoreHarness {
  return harness(budgetsCore(), {
    views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
  })
    .when(open('run', RUN_CEILING), 1)
    .when(open('tenant', TENANT_CEILING), 1);
}
function usedOf(accountant: CoreHarness): readonly number[] {
  return accountant.rows('budget').map((row) => Number(row.doc['used_minor']));
}
function held(accountant: CoreHarness): number {
  return accountant
    .rows('reservation')
    .map((row) => row.doc)
    .filter((doc) => HOLDING_PHASES.includes(doc['phase'] as ReservationPhase))
    .flatMap((doc) => doc['debits'] as readonly Debit[])
    .reduce((sum, { debit_minor }) => sum + debit_minor, 0);
}

const STEPS = ['reserve', 'retry', 'release', 'settle', 'fail', 'refund'] as const;
const effect = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const amount = fc.integer({ min: 0, max: 200 });

/** Every order of asking, giving back and using, with repetitions; an effect is executed only as it was reserved. */
const reservedFirst = fc.array(fc.record({ effect, step: fc.constantFrom(...STEPS) }), { maxLength: 40 });
const amounts = fc.tuple(amount, amount, amount, amount, amount);

describe('concurrent reservations', () => {
  it('never exceed a ceiling, whatever order they come in', () => {
    fc.assert(
      fc.property(reservedFirst, amounts, (steps, values) => {
        const accountant = opened();
        for (const { effect: name, step } of steps) {
          const value = values[name.charCodeAt(0) - 97] ?? 0;
          const phase = accountant.rows('reservation').find((row) => row.doc['effect_key'] === name)?.doc['phase'];
          if (step === 'settle' && phase !== 'reserved') continue;
          accountant.when(inputOf(step, name, value), 1);
          for (const used of usedOf(accountant)) expect(used).toBe(held(accountant));
          expect(held(accountant)).toBeLessThanOrEqual(RUN_CEILING);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are counted as what holds a debit, even among executions nobody reserved', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ effect, step: fc.constantFrom(...STEPS), value: amount }), { maxLength: 40 }),
        (steps) => {
          const accountant = opened();
          for (const { effect: name, step, value } of steps) {
            accountant.when(inputOf(step, name, value), 1);
            for (const used of usedOf(accountant)) expect(used).toBe(held(accountant));
            if (accountant.decision().records.some((record) => record.type === 'BudgetReserved'))
              expect(held(accountant)).toBeLessThanOrEqual(RUN_CEILING);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of a thousand askers stop exactly at the ceiling', () => {
    const accountant = opened();
    for (let at = 0; at < 1_000; at += 1) accountant.when(reserve(`effect-${at}`, 1), 1);
    expect(usedOf(accountant)).toEqual([RUN_CEILING, RUN_CEILING, RUN_CEILING]);
    expect(accountant.records().filter((record) => record.type === 'BudgetEscalated')).toHaveLength(
      1_000 - RUN_CEILING,
    );
  });
});

function inputOf(step: string, name: string, value: number): RecordInput {
  switch (step) {
    case 'reserve':
      return reserve(name, value);
    case 'retry':
      return reserve(name, value, { attempt: 2 });
    case 'release':
      return releaseOf(name);
    case 'settle':
      return recorded(name, value);
    case 'fail':
      return recorded(name, value, { state: 'failed' });
    default:
      return changed(name, 'compensation_verified');
  }
}
