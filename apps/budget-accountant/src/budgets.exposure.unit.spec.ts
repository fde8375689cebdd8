import { describe, expect, it } from '@jest/globals';
import { entryView, EXPOSURE } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { register } from './budgets.autonomy.testing.js';
import { budgetsCore } from './core.js';
import {
  changed,
  command,
  decide,
  INR,
  owes,
  recorded,
  refundView,
  releaseOf,
  reservationOf,
  reserve,
  RUN,
  TENANT,
} from './budgets.testing.js';

const one = owes(1, EXPOSURE);

function used(accountant: CoreHarness, scope: string, unit = EXPOSURE): unknown {
  return accountant.rows('budget').find((row) => row.doc['scope'] === scope && row.key === unit)?.doc['used_minor'];
}
function phaseOf(accountant: CoreHarness, effect: string): unknown {
  return accountant.rows('reservation').find((row) => row.key === reservationOf(effect))?.doc['phase'];
}
const bound = (more: object) => more;
const disclose = (effect: string, more = {}) => reserve(effect, 1, { currency: EXPOSURE, ...more });
const allow = (scope: 'run' | 'tenant', ceiling_minor: number) =>
  command('OpenBudget', { scope, scope_id: scope === 'run' ? RUN : TENANT, currency: EXPOSURE, ceiling_minor });

describe.each(WAYS)('a disclosure at the accountant, $way (D61)', ({ isRebuilt }) => {
  const { view, digest } = refundView();
  const start = () =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: view, entries: memoryView(entryView) },
    });

  it('is a question to a person from the first on, where nobody set a ceiling (A81)', () => {
    start()
      .when(disclose('a'), 1)
      .then(
        fact('BudgetEscalated', {
          reservation_id: reservationOf('a'),
          debits: one,
          exceeded: [bound({ scope: 'run', used_minor: 0, ceiling_minor: 0 })],
        }),
      )
      .thenAnswer({ status: 'accepted', httpStatus: 202 });
  });

  it('is debited once when a person agrees, and the next is a question again', () => {
    const accountant = start()
      .when(disclose('a'), 1)
      .when(decide('a', true), 2)
      .then(fact('EscalationDecided', { approved: true, debits: one }));
    expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([1, 1]);
    accountant
      .when(disclose('a'), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } })
      .when(disclose('b'), 4)
      .then(fact('BudgetEscalated', { exceeded: [bound({ used_minor: 1, ceiling_minor: 0 })] }));
  });

  it.each(['run', 'tenant'] as const)('passes up to the ceiling of its %s, equality included', (scope) => {
    start()
      .when(allow(scope, 1), 1)
      .when(disclose('a'), 2)
      .then(fact('BudgetReserved', { debits: one }))
      .when(disclose('b'), 3)
      .then(fact('BudgetEscalated', { exceeded: [bound({ scope, ceiling_minor: 1 })] }));
  });

  it('is opened by no ceiling of a rung, which only lowers what somebody opened', () => {
    const entries = memoryView(entryView);
    const grant = { ceilings: [{ currency: EXPOSURE, ceiling_minor: 1 }] };
    register(entries, { capabilities: ['wire.send_money'], rungs: { auto_execute: grant } }, 'mails');
    harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries } })
      .when(disclose('a'), 1)
      .then(fact('BudgetEscalated', { exceeded: [bound({ scope: 'run', used_minor: 0, ceiling_minor: 0 })] }))
      .when(allow('tenant', 5), 2)
      .when(disclose('b'), 3)
      .then(fact('BudgetReserved', { debits: one }))
      .when(disclose('c'), 4)
      .then(fact('BudgetEscalated', { exceeded: [bound({ scope: 'run', used_minor: 1, ceiling_minor: 1 })] }));
  });

  it('counts in full, whatever class undoes the effect', () => {
    start()
      .when(allow('run', 1), 1)
      .when(disclose('a', { capability: 'payments.issue_refund' }), 2)
      .then(fact('BudgetReserved', { debits: one }));
  });

  it('is reserved with the money of its effect in one decision, and given back with it', () => {
    const both = [...owes(500), ...one];
    const accountant = start()
      .when(allow('run', 1), 1)
      .when(
        command('ReserveBudget', {
          run_id: RUN,
          effect_key: 'a',
          capability: 'wire.send_money',
          values: [
            { amount_minor: 500, currency: INR },
            { amount_minor: 1, currency: EXPOSURE },
          ],
        }),
        2,
      )
      .then(fact('BudgetReserved', { debits: both }))
      .when(releaseOf('a'), 4)
      .then(fact('BudgetReleased', { reservation_id: reservationOf('a'), debits: both }));
    expect([used(accountant, 'run', INR), used(accountant, 'run')]).toEqual([0, 0]);
    accountant.when(releaseOf('a'), 5).thenNothing().thenAnswer({ httpStatus: 200 });
  });

  it('is settled by an execution whose arguments are marked, and stays when the effect is compensated', () => {
    const accountant = start()
      .when(allow('run', 1), 1)
      .when(disclose('a'), 2)
      .when(recorded('a', 30_000, { sensitivity: 'personal', digest }), 3)
      .then(
        fact('BudgetSettled', { reservation_id: reservationOf('a'), debits: one }),
        fact('BudgetOverrun', { debits: owes(3_000, INR, 30_000) }),
      )
      .when(changed('a', 'compensation_verified'), 4)
      .then(fact('BudgetRefunded', { members: [{ debits: owes(3_000, INR, 30_000) }] }));
    expect([phaseOf(accountant, 'a'), used(accountant, 'run'), used(accountant, 'run', INR)]).toEqual([
      'refunded',
      1,
      0,
    ]);
  });

  it('that nobody reserved is debited all the same, and a person is asked', () => {
    const accountant = start()
      .when(recorded('a', null, { sensitivity: 'payment' }), 1)
      .then(fact('BudgetOverrun', { reservation_id: reservationOf('a'), debits: one, owner: 'role:approver' }));
    expect(used(accountant, 'tenant')).toBe(1);
    accountant.when(recorded('a', null, { sensitivity: 'payment' }), 2).thenNothing();
  });

  it('waits for the contract it was made under', () => {
    start()
      .whenBehind(recorded('a', null, { sensitivity: 'payment', digest: Buffer.alloc(32, 9) }), 1)
      .when(recorded('a', null, { sensitivity: 'payment', digest: Buffer.alloc(32, 9) }), 2)
      .then(fact('BudgetOverrun', { debits: one }));
  });

  it("is none when the arguments are nobody's", () => {
    start().when(recorded('a', null), 1).thenNothing();
  });

  it('is given back when the call failed, or was cancelled in time', () => {
    const failed = start()
      .when(allow('run', 1), 1)
      .when(disclose('a'), 2)
      .when(recorded('a', null, { sensitivity: 'personal', state: 'failed' }), 3)
      .then(fact('BudgetReleased', { debits: one, cause: 'failed' }));
    expect(used(failed, 'run')).toBe(0);
    const cancelled = start()
      .when(allow('run', 1), 1)
      .when(disclose('a'), 2)
      .when(changed('a', 'cancelled'), 3)
      .then(fact('BudgetReleased', { debits: one, cause: 'cancelled' }));
    expect(used(cancelled, 'run')).toBe(0);
  });
});
