// A later attempt that says so goes on with what an earlier one holds: what becomes of the earlier one takes nothing of it away.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { decide, open, owes, recorded, releaseOf, reserve } from './budgets.testing.js';
import { budgetsCore } from './core.js';

let commands = 0;
const ask = (attempt?: number): RecordInput =>
  reserve('a', 100, {
    ...(attempt === undefined ? {} : { attempt }),
    who: { command_id: `c${String((commands += 1))}` },
  });
const failed = (began: number, at: number, more: object = {}): RecordInput =>
  recorded('a', 100, { state: 'failed', recoverability: 'planned', began, at, ...more });

describe.each(WAYS)('an attempt that asks before the failure of the one before it is heard, $way', ({ isRebuilt }) => {
  const under = (ceiling: number): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    }).when(open('run', ceiling, { command_id: 'c0' }), 1);
  /** Reserved by the first attempt at 1 s, which began at 1.1 s and failed; the second one asks at 1.21 s. */
  const retried = (): CoreHarness =>
    under(100)
      .when(ask(1), 1_000)
      .then(fact('BudgetReserved', { attempt: 1 }))
      .when(ask(2), 1_210)
      .then(fact('BudgetRetried', { attempt: 2, effect_key: 'a', forward_approval: null }))
      .thenAnswer({ httpStatus: 200, body: { phase: 'reserved', debits: owes(100) } });
  const used = (desk: CoreHarness): unknown => desk.rows('budget').map(({ doc }) => doc['used_minor']);

  it.each([
    ['at once', failed(1_100, 1_205)],
    ['an hour later', failed(1_100, 3_600_000)],
    ['as its worker found it out', failed(1_100, 1_205, { foundOut: { how: 'worker' } })],
  ])('keeps what is reserved where it is heard %s, counted once', (_when, heard) => {
    const desk = retried().when(heard, 3_700_000).thenNothing();
    expect(used(desk)).toEqual([100, 100, 100]);
    desk
      .when(reserve('b', 1, { who: { command_id: 'b' } }), 3_700_001)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', used_minor: 100, asked_minor: 1 }] }))
      .when(recorded('a', 100), 3_700_002)
      .then(fact('BudgetSettled', {}));
    expect(used(desk)).toEqual([100, 100, 100]);
  });

  it.each([
    ['by the call of it', failed(9_000, 9_100)],
    ['by somebody who found that out later', failed(1_220, 60_000, { foundOut: { how: 'worker' } })],
  ])('gives back what is reserved once it failed itself, as is told %s', (_whom, heard) => {
    const desk = retried()
      .when(heard, 60_001)
      .then(fact('BudgetReleased', { cause: 'failed', debits: owes(100) }));
    expect(used(desk)).toEqual([0, 0, 0]);
  });

  it('keeps it also where the one before had waited long between asking and calling', () => {
    under(100)
      .when(ask(1), 1_000)
      .when(ask(2), 61_000)
      .then(fact('BudgetRetried', { attempt: 2 }))
      .when(failed(60_000, 60_900), 62_000)
      .thenNothing();
  });

  it('keeps what the one before gives back late, and gives it back itself', () => {
    retried()
      .when(releaseOf('a', { command_id: 'r1' }, 1), 1_220)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } })
      .when(releaseOf('a', { command_id: 'r2' }, 2), 1_230)
      .then(fact('BudgetReleased', { cause: 'command' }));
    // An administrator counts no attempts.
    retried()
      .when(releaseOf('a', { command_id: 'r3' }), 1_220)
      .then(fact('BudgetReleased', { cause: 'command' }));
  });

  it('is answered as before where it asks again, and so is one before it, and one that nobody counts', () => {
    const desk = retried();
    for (const attempt of [2, 1, undefined])
      desk
        .when(ask(attempt), 1_300)
        .thenNothing()
        .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } });
    desk
      .when(failed(1_100, 1_205), 1_400)
      .thenNothing()
      .when(ask(3), 1_500)
      .then(fact('BudgetRetried', { attempt: 3 }));
  });

  it('takes over what nobody counted as the first', () => {
    under(100)
      .when(ask(), 1_000)
      .when(ask(1), 1_100)
      .thenNothing()
      .when(ask(2), 1_210)
      .then(fact('BudgetRetried', { attempt: 2 }));
  });

  it('is the one reservation where nobody counts: the failure takes it away, and the effect is a person’s', () => {
    under(100)
      .when(ask(), 1_000)
      .when(ask(), 1_210)
      .thenNothing()
      .when(failed(1_100, 1_205), 1_300)
      .then(fact('BudgetReleased', { cause: 'failed' }))
      .when(recorded('a', 100), 1_400)
      .then(fact('BudgetOverrun', {}));
  });

  it('is asked about by the question of the one before, which stands until a person decides it', () => {
    const desk = under(50)
      .when(ask(1), 1_000)
      .then(fact('BudgetEscalated', { attempt: 1 }));
    const question = desk.rows('escalation')[0]?.doc;
    desk
      .when(ask(2), 1_210)
      .then(fact('BudgetRetried', { attempt: 2 }))
      .thenAnswer({ httpStatus: 202, body: { phase: 'escalated', escalation_id: question?.['escalation_id'] } })
      .when(failed(1_100, 1_205), 1_300)
      .thenNothing();
    expect(desk.rows('escalation').map(({ doc }) => doc)).toEqual([question]);
    desk
      .when(decide('a', true), 5_000)
      .when(ask(2), 5_100)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } })
      .when(recorded('a', 100), 5_300)
      .then(fact('BudgetSettled', {}));
  });

  it.each([false, true])('has the word of a person that the one before had, with a raise: %s', (isRaised) => {
    const who = { principal: 'dana', roles: ['approver', 'administrator', 'platform_administrator'] };
    const desk = under(50)
      .when(ask(1), 1_000)
      .when(decide('a', true, who, isRaised), 1_050)
      .then(fact('EscalationDecided', { approved: true }))
      .when(ask(2), 1_210)
      .then(fact('BudgetRetried', { attempt: 2 }))
      .when(failed(1_100, 1_205), 1_300)
      .thenNothing();
    expect(desk.rows('escalation')[0]?.doc['phase']).toBe('approved');
    desk.when(recorded('a', 100), 1_400).then(fact('BudgetSettled', {}));
  });

  it('is nothing new of what a person denied, of what was done, and of another value', () => {
    const who = { principal: 'dana' };
    under(50)
      .when(ask(1), 1_000)
      .when(decide('a', false, who), 1_050)
      .when(ask(2), 1_210)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'RESERVATION_DENIED' });
    under(100)
      .when(ask(1), 1_000)
      .when(recorded('a', 100), 1_050)
      .when(ask(2), 1_210)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { phase: 'settled' } });
    under(300)
      .when(ask(1), 1_000)
      .when(reserve('a', 200, { attempt: 2, who: { command_id: 'other' } }), 1_210)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'RESERVATION_CONFLICT' });
  });

  it.each([0, -1, -7])(
    'is none that is counted as %s: it is answered, and neither reserves nor gives anything back',
    (attempt) => {
      const refusal = { httpStatus: 422, code: 'ATTEMPT_INVALID' };
      const desk = under(100).when(ask(attempt), 1_000).thenNothing().thenAnswer(refusal);
      expect(desk.rows('reservation')).toEqual([]);
      desk
        .when(ask(1), 1_100)
        .then(fact('BudgetReserved', { attempt: 1 }))
        .when(releaseOf('a', { command_id: `r${String(attempt)}` }, attempt), 1_200)
        .thenNothing()
        .thenAnswer(refusal)
        .when(ask(attempt), 1_300)
        .thenNothing()
        .thenAnswer(refusal);
      expect(used(desk)).toEqual([100, 100, 100]);
    },
  );

  it('reserves anew what the one before gave back in time, which says no more than before where nobody counts', () => {
    const desk = under(100)
      .when(ask(1), 1_000)
      .when(releaseOf('a', { command_id: 'r4' }, 1), 1_200)
      .when(ask(2), 1_210)
      .then(fact('BudgetReserved', { attempt: 2 }))
      .when(failed(1_100, 1_205), 1_300)
      .thenNothing();
    expect(desk.rows('reservation')[0]?.doc).toMatchObject({ attempt: 2, again: 1_210 });
    expect(under(100).when(ask(), 1_000).rows('reservation')[0]?.doc).not.toHaveProperty('attempt');
  });
});
