import { describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { fact, harness, WAYS, memoryView } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import {
  decide,
  open,
  owes,
  recorded,
  refundView,
  releaseOf,
  reservationOf,
  reserve,
  RUN,
  TENANT,
} from './budgets.testing.js';

const SETTLE_WITHIN = 60_000;
const DECIDE_WITHIN = 10_000;
/** What no contract weighs counts in full. */
const ADMINISTRATOR = { principal: 'root', roles: ['administrator'] };

describe.each(WAYS)('what is open about a budget, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness =>
    harness(budgetsCore({ escalationDeadlineMs: DECIDE_WITHIN, settleWithinMs: SETTLE_WITHIN }), {
      views: { contracts: refundView().view, entries: memoryView(entryView) },
      isRebuilt,
    });
  const escalation = (run: CoreHarness) => run.rows('escalation')[0]?.doc;
  const overdue = (about: string, owner: string, deadline_at: number) =>
    fact('BudgetOverdue', {
      reservation_id: reservationOf('e1'),
      tenant: TENANT,
      run_id: RUN,
      about,
      owner,
      deadline_at,
    });

  describe('a reservation nobody used', () => {
    const unsettled = () => start().when(open('run', 100), 0).when(reserve('e1', 40), 0).whenDue(SETTLE_WITHIN);

    it('is asked about at its deadline, and not before', () => {
      const run = start()
        .when(reserve('e1', 40), 0)
        .whenDue(SETTLE_WITHIN - 1)
        .thenNothing();
      run.whenDue(SETTLE_WITHIN).then(overdue('unsettled', 'role:approver', SETTLE_WITHIN + DECIDE_WITHIN));
      expect(escalation(run)).toMatchObject({ phase: 'open', about: 'unsettled', debits: owes(40), is_overdue: false });
      expect(run.rows('reservation')).toMatchObject([{ dueAt: null, doc: { phase: 'reserved', settle_by: null } }]);
    });

    it.each(['svc:night-batch', 'agent:other', 'role:approver'])(
      'is given back by no program: not by %s',
      (principal) => {
        const run = unsettled();
        for (const approved of [false, true])
          run
            .when(decide('e1', approved, { principal, roles: ['approver'] }), SETTLE_WITHIN + 1)
            .thenNothing()
            .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'APPROVER_NOT_A_PERSON' });
        expect(run.rows('reservation')[0]?.doc).toMatchObject({ phase: 'reserved' });
      },
    );

    it('is given back when a person says so', () => {
      const run = unsettled().when(decide('e1', false), SETTLE_WITHIN + 1);
      run.then(
        fact('EscalationDecided', { approved: false, settle_by: null }),
        fact('BudgetReleased', { debits: owes(40), cause: 'denied' }),
      );
      expect(run.rows('reservation')[0]?.doc).toMatchObject({ phase: 'released' });
      expect(run.rows('budget').map(({ doc }) => doc['used_minor'])).toEqual([0, 0, 0]);
    });

    it('stands for another while when a person lets it, and is then asked about again', () => {
      const run = unsettled()
        .when(decide('e1', true), SETTLE_WITHIN + 1)
        .then(
          fact('EscalationDecided', {
            approved: true,
            debits: [],
            settle_by: 2 * SETTLE_WITHIN + 1,
          }),
        );
      expect(run.rows('budget').map(({ doc }) => doc['used_minor'])).toEqual([40, 40, 40]);
      run
        .whenDue(2 * SETTLE_WITHIN + 1)
        .then(overdue('unsettled', 'role:approver', 2 * SETTLE_WITHIN + 1 + DECIDE_WITHIN));
    });

    it('is no question any more once it is settled or given back', () => {
      for (const input of [recorded('e1', 40), releaseOf('e1')]) {
        const run = unsettled().when(input, SETTLE_WITHIN + 1);
        expect(escalation(run)).toMatchObject({ phase: 'withdrawn' });
        expect(run.rows().filter(({ dueAt }) => dueAt !== null)).toEqual([]);
      }
    });

    it('is asked about at its new deadline when a person approved it over the ceiling', () => {
      const run = start()
        .when(open('run', 10), 0)
        .when(reserve('e1', 40), 0)
        .when(decide('e1', true), 5_000)
        .then(fact('EscalationDecided', { settle_by: 5_000 + SETTLE_WITHIN }));
      run
        .whenDue(5_000 + SETTLE_WITHIN)
        .then(overdue('unsettled', 'role:approver', 5_000 + SETTLE_WITHIN + DECIDE_WITHIN));
    });
  });

  describe('an escalation nobody decided', () => {
    const asked = () => start().when(open('run', 10), 0).when(reserve('e1', 40), 0);

    it('is denied at its deadline, once: silence lets nothing through (D13)', () => {
      const run = asked()
        .whenDue(DECIDE_WITHIN - 1)
        .thenNothing()
        .whenDue(DECIDE_WITHIN)
        .then(fact('EscalationDecided', { approved: false, debits: [], by: 'nobody', reason: 'DEADLINE_PASSED' }));
      expect(run.rows('escalation')).toMatchObject([{ dueAt: null, doc: { phase: 'denied', about: 'ceiling' } }]);
      run
        .whenDue(10 * DECIDE_WITHIN)
        .thenNothing()
        .when(reserve('e1', 40), 10 * DECIDE_WITHIN)
        .thenAnswer({ httpStatus: 409, code: 'RESERVATION_DENIED' })
        .when(reserve('e2', 40), 10 * DECIDE_WITHIN)
        .then(fact('BudgetEscalated'));
      expect(run.rows('budget').map(({ doc }) => doc['used_minor'])).toEqual([0]);
    });

    it('is let through by no yes at its deadline, also where nobody has said yet that it passed', () => {
      asked()
        .when(decide('e1', true), DECIDE_WITHIN)
        .thenNothing()
        .thenAnswer({ httpStatus: 409, code: 'DEADLINE_PASSED' })
        .when(decide('e1', false), DECIDE_WITHIN)
        .then(fact('EscalationDecided', { approved: false, by: 'dana' }));
      asked()
        .when(decide('e1', true), DECIDE_WITHIN - 1)
        .then(fact('EscalationDecided', { approved: true }));
    });

    it('of an overrun goes to the administrators', () => {
      start()
        .when(recorded('e1', 7), 0)
        .whenDue(DECIDE_WITHIN)
        .then(overdue('overrun', 'role:administrator', 2 * DECIDE_WITHIN));
    });

    it("of an overrun is an administrator's to decide from then on, and not before", () => {
      const run = start()
        .when(recorded('e1', 7), 0)
        .when(decide('e1', true, ADMINISTRATOR), 1)
        .then()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
      run
        .whenDue(DECIDE_WITHIN)
        .when(decide('e1', true, ADMINISTRATOR), DECIDE_WITHIN + 1)
        .thenAnswer({ status: 'accepted' });
      expect(run.rows('reservation')[0]?.doc).toMatchObject({ phase: 'overrun', debits: owes(7) });
    });

    it('is decided for good by then when somebody did', () => {
      asked().when(decide('e1', false), 1).whenDue(DECIDE_WITHIN).thenNothing();
    });
  });
});
