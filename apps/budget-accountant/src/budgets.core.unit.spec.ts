import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { partitionForKey } from '@recourse/kernel';
import { entrySaid, fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import {
  changed,
  command,
  decide,
  INR,
  mutationOf,
  open,
  owes,
  recorded,
  refundView,
  releaseOf,
  reservationOf,
  reserve,
  RUN,
  stranger,
  TENANT,
} from './budgets.testing.js';
import type { Who } from './budgets.testing.js';

const money = (amount_minor: number, currency = INR) => ({ amount_minor, currency });
const bound = (scope: string, more: object = {}) => ({ scope, ...more });

function used(accountant: CoreHarness, scope: string, currency = INR): unknown {
  return accountant.rows('budget').find((row) => row.doc['scope'] === scope && row.key === currency)?.doc['used_minor'];
}
function phaseOf(accountant: CoreHarness, effect: string): unknown {
  return accountant.rows('reservation').find((row) => row.key === reservationOf(effect))?.doc['phase'];
}

describe.each(WAYS)('the budget accountant, $way', ({ isRebuilt }) => {
  const { view, digest } = refundView();
  const start = () =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: view, entries: memoryView(entryView) },
    });
  const withCeilings = (run: number, tenant: number) =>
    start().when(open('run', run), 1).when(open('tenant', tenant), 2);

  describe('a kill switch', () => {
    const entries = memoryView(entryView);
    const said = (type: 'EntryRegistered' | 'EntryRetired', scope: object): void => {
      const body = { owner: 'ops', doc: 'd', scope, severity: 'sev1', runbook: 'r', reason: 'x' };
      entries.append('s', entrySaid('kill_switch', { name: 'stop', tenant: TENANT, body }, type));
    };
    const ask = (effect: string, agent_id: string | null, who: Who = {}) =>
      command(
        'ReserveBudget',
        {
          run_id: RUN,
          effect_key: effect,
          capability: 'payments.issue_refund',
          values: [money(100)],
          subject_ref: 'order/1',
          agent_id,
        },
        who,
      );

    it.each([
      [{ over: 'tenant' }, null],
      [{ over: 'capability', capability: 'payments.issue_refund' }, null],
      [{ over: 'agent', agent: 'agent-7' }, 'agent-7'],
    ])('over %j reserves nothing while it stands, and gives back all the same', (scope, agent) => {
      const accountant = harness(budgetsCore(), {
        isRebuilt,
        views: { contracts: view, entries },
      }).when(ask('before', agent), 1);
      said('EntryRegistered', scope);
      accountant
        .when(ask('after', agent), 2)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 403, code: 'KILL_SWITCH' })
        .when(releaseOf('before'), 3)
        .then(fact('BudgetReleased'));
      said('EntryRetired', scope);
      accountant.when(ask('after', agent), 4).then(fact('BudgetReserved'));
    });

    it('thrown a moment ago, which the view has not read yet, stops it too; what is refused waits for no view', () => {
      const own = memoryView(entryView);
      const accountant = harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: own } });
      const body = { owner: 'ops', doc: 'd', scope: { over: 'tenant' }, severity: 'sev1', runbook: 'r', reason: 'x' };
      own.appendUnread('s', entrySaid('kill_switch', { name: 'stop', tenant: TENANT, body }));
      accountant.whenBehind(ask('a', null), 1);
      own.catchUp();
      accountant.when(ask('a', null), 2).thenNothing().thenAnswer({ httpStatus: 403, code: 'KILL_SWITCH' });
      expect(() => accountant.thenReadViews()).toThrow();
    });

    const stopped = (owner: string) => {
      const own = memoryView(entryView);
      const entry = { owner: 'mira', doc: 'd', scope: { over: 'agent', agent: 'agent-7' }, severity: 'sev1' };
      const body = { ...entry, reason: 'r', runbook: 'b' };
      own.append('k', entrySaid('kill_switch', { name: 'k', tenant: owner, body }));
      return harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: own } });
    };

    it.each([
      ['says nothing of which agent it is', null, {}],
      ['names another agent', 'agent-8', {}],
      ['names another agent, under another account', 'agent-8', { principal: 'svc-1', accounts: ['agent:Agent-7'] }],
      ['is named by who acts for it', 'agent-7', { principal: 'svc-1' }],
    ])('over an agent stops it too where it %s', (_how, agent, who) => {
      stopped(TENANT)
        .when(ask('a', agent, who), 1)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'KILL_SWITCH' });
    });

    it.each([TENANT, '*'])('over an agent of %s has everybody else say which agent is about to act', (owner) => {
      stopped(owner)
        .when(ask('a', null, { principal: 'svc-1' }), 1)
        .thenNothing()
        .thenAnswer({ httpStatus: 422, code: 'AGENT_UNNAMED' })
        .when(ask('a', 'agent-8', { principal: 'svc-1' }), 2)
        .then(fact('BudgetReserved', { agent_id: 'agent-8' }));
      stopped('globex')
        .when(ask('a', null, { principal: 'svc-1' }), 1)
        .then(fact('BudgetReserved'));
    });
  });

  describe('a ceiling', () => {
    it('is set once, and asking again changes nothing', () => {
      start()
        .when(open('run', 500), 1)
        .then(fact('BudgetOpened', { scope: 'run', scope_id: RUN, ceiling_minor: 500, by: 'agent-7' }))
        .thenAnswer({ httpStatus: 201 })
        .when(open('run', 500), 2)
        .thenNothing()
        .thenAnswer({ status: 'accepted', httpStatus: 200 })
        .when(open('run', 501), 3)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'BUDGET_CONFLICT' });
    });

    it('is not set by who may only spend, nor for another tenant', () => {
      start()
        .when(open('run', 500, { roles: ['agent'] }), 1)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' })
        .when(command('OpenBudget', { scope: 'tenant', scope_id: 'globex', currency: INR, ceiling_minor: 1 }), 2)
        .thenAnswer({ httpStatus: 422, code: 'SCOPE_MISMATCH' })
        .when(open('run', -1), 3)
        .thenAnswer({ code: 'AMOUNT_INVALID' });
    });

    it('is not moved by a command on the wire of another key', () => {
      start()
        .when({ ...open('run', 500), key: 'globex' }, 1)
        .thenNothing()
        .thenAnswer({ httpStatus: 422, code: 'KEY_MISMATCH' });
    });
  });

  describe('a reservation', () => {
    it('passes at exact equality and escalates one minor unit above (A75)', () => {
      withCeilings(500, 500)
        .when(reserve('a', 499), 3)
        .when(reserve('b', 1), 4)
        .then(fact('BudgetReserved', { debits: owes(1) }))
        .thenAnswer({ httpStatus: 201 });
      withCeilings(500, 500)
        .when(reserve('a', 499), 3)
        .when(reserve('b', 2), 4)
        .then(
          fact('BudgetEscalated', {
            exceeded: ['run', 'tenant'].map((scope) =>
              bound(scope, { used_minor: 499, asked_minor: 2, ceiling_minor: 500 }),
            ),
            debits: owes(2),
            requested_by: 'agent-7',
            deadline_at: 4 + 86_400_000,
          }),
        )
        .thenAnswer({ status: 'accepted', httpStatus: 202 });
    });

    it('names the tenant when only its ceiling is exceeded', () => {
      withCeilings(5_000, 500)
        .when(reserve('a', 501), 3)
        .then(
          fact('BudgetEscalated', {
            exceeded: [bound('tenant', { used_minor: 0, asked_minor: 501, ceiling_minor: 500 })],
          }),
        );
    });

    it('is weighed by the contract, rounded up', () => {
      const accountant = withCeilings(3_000, 3_000)
        .when(reserve('a', 30_000, { capability: 'payments.issue_refund' }), 3)
        .then(fact('BudgetReserved', { debits: owes(3_000, INR, 30_000) }));
      expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([3_000, 3_000]);
    });

    it('of an unknown capability waits for the contracts, then counts in full', () => {
      start()
        .whenBehind(reserve('a', 10), 1)
        .when(reserve('a', 10), 2)
        .then(fact('BudgetReserved', { debits: owes(10) }));
    });

    it('is unbounded where no ceiling stands, and counted all the same', () => {
      const accountant = start()
        .when(reserve('a', 9_000_000), 1)
        .then(fact('BudgetReserved', { debits: owes(9_000_000) }));
      expect(used(accountant, 'tenant')).toBe(9_000_000);
      accountant
        .when(open('tenant', 9_000_000), 2)
        .when(reserve('b', 1), 3)
        .then(fact('BudgetEscalated', { exceeded: [bound('tenant')] }));
    });

    it('said twice is recorded once; said otherwise is refused', () => {
      withCeilings(500, 500)
        .when(reserve('a', 100), 3)
        .when(reserve('a', 100), 4)
        .thenNothing()
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { phase: 'reserved' } })
        .when(reserve('a', 101), 5)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'RESERVATION_CONFLICT' })
        .when(reserve('a', 100, { currency: 'USD' }), 6)
        .thenNothing()
        .thenAnswer({ code: 'RESERVATION_CONFLICT' });
    });

    it.each([
      ['below what was asked for', 60],
      ['beyond it', 150],
      ['as it was asked for', 100],
    ])('said again after it was settled %s is known, and said otherwise is refused', (_what, executed) => {
      withCeilings(500, 500)
        .when(reserve('a', 100), 3)
        .when(recorded('a', executed), 4)
        .when(reserve('a', 100), 5)
        .thenNothing()
        .thenAnswer({ status: 'accepted', httpStatus: 200, body: { debits: [{ debit_minor: executed }] } })
        .when(reserve('a', executed === 100 ? 60 : executed), 6)
        .thenNothing()
        .thenAnswer({ code: 'RESERVATION_CONFLICT' });
    });

    it('says of no row more than before where it was settled as it was asked for', () => {
      const run = withCeilings(500, 500).when(reserve('a', 100), 3).when(recorded('a', 100), 4);
      expect(run.rows('reservation')[0]?.doc).not.toHaveProperty('asked');
    });

    it('of an amount that is none is refused', () => {
      start()
        .when(reserve('a', -5), 1)
        .thenAnswer({ code: 'AMOUNT_INVALID' })
        .when(reserve('a', 5, { currency: 'rupee' }), 2)
        .thenAnswer({ code: 'CURRENCY_INVALID' });
    });

    it('is given back once, and may be asked for anew', () => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 500), 3)
        .when(releaseOf('a'), 4)
        .then(fact('BudgetReleased', { debits: owes(500), cause: 'command' }));
      expect(used(accountant, 'run')).toBe(0);
      accountant
        .when(releaseOf('a'), 5)
        .thenNothing()
        .thenAnswer({ httpStatus: 200 })
        .when(reserve('a', 500), 6)
        .then(fact('BudgetReserved'))
        .when(releaseOf('b'), 7)
        .thenAnswer({ httpStatus: 404, code: 'RESERVATION_UNKNOWN' });
    });
  });

  describe('an escalation', () => {
    const escalated = () => withCeilings(500, 500).when(reserve('a', 600), 3).then(fact('BudgetEscalated'));

    it('debits nothing until it is approved, and then once', () => {
      const accountant = escalated();
      expect(used(accountant, 'run')).toBe(0);
      accountant
        .when(decide('a', true), 4)
        .then(fact('EscalationDecided', { approved: true, debits: owes(600), by: 'dana' }));
      expect([used(accountant, 'run'), used(accountant, 'tenant'), phaseOf(accountant, 'a')]).toEqual([
        600,
        600,
        'reserved',
      ]);
      accountant.when(decide('a', true), 5).thenNothing().thenAnswer({ status: 'accepted', httpStatus: 200 });
      expect(used(accountant, 'run')).toBe(600);
      accountant
        .when(decide('a', true, { principal: 'eve' }), 6)
        .thenAnswer({ httpStatus: 409, code: 'ESCALATION_DECIDED' });
    });

    it('is decided by an approver who did not ask', () => {
      escalated()
        .when(decide('a', true, { principal: 'agent-7' }), 4)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' })
        .when(decide('a', true, { principal: 'dana', roles: ['administrator'] }), 5)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' })
        .when(decide('b', true), 6)
        .thenAnswer({ httpStatus: 404, code: 'ESCALATION_UNKNOWN' })
        .when(decide('a', true, { principal: 'dana', tenant: 'globex' }), 7)
        .thenAnswer({ httpStatus: 404, code: 'ESCALATION_UNKNOWN' })
        .when(command('DecideEscalation', { escalation_id: 'x'.repeat(9_000), approved: true, reason: '' }), 8)
        .thenAnswer({ code: 'ESCALATION_UNKNOWN' });
    });

    it.each([
      ['AGENT-7', 'SELF_APPROVAL'],
      ['agent:agent-7', 'SELF_APPROVAL'],
      ['agent-7\u200b', 'APPROVER_NOT_A_PERSON'],
      ['agent:other', 'APPROVER_NOT_A_PERSON'],
      ['svc:night-batch', 'APPROVER_NOT_A_PERSON'],
    ])('is not decided by %s', (principal, code) => {
      escalated()
        .when(decide('a', true, { principal }), 4)
        .thenNothing()
        .thenAnswer({ status: 'rejected', httpStatus: 403, code });
    });

    it('denied debits nothing, and the effect is not reserved again', () => {
      const accountant = escalated()
        .when(decide('a', false), 4)
        .then(fact('EscalationDecided', { approved: false }));
      expect([used(accountant, 'run'), phaseOf(accountant, 'a')]).toEqual([0, 'denied']);
      accountant.when(reserve('a', 600), 5).thenNothing().thenAnswer({ httpStatus: 409, code: 'RESERVATION_DENIED' });
    });

    it('stands in the list with owner and deadline until somebody decides or withdraws', () => {
      const accountant = escalated();
      expect(accountant.rows('escalation')[0]?.doc).toMatchObject({
        phase: 'open',
        owner: 'role:approver',
        deadline_at: 3 + 86_400_000,
      });
      accountant.when(releaseOf('a'), 4).then(fact('BudgetReleased', { debits: [] }));
      expect(accountant.rows('escalation')[0]?.doc['phase']).toBe('withdrawn');
      expect(used(accountant, 'run')).toBe(0);
    });
  });

  describe('an execution', () => {
    it('settles its reservation once', () => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 400), 3)
        .when(recorded('a', 400), 4)
        .then(fact('BudgetSettled', { debits: owes(400), mutation_id: mutationOf('a') }))
        .when(recorded('a', 400), 5)
        .thenNothing();
      expect([used(accountant, 'run'), phaseOf(accountant, 'a')]).toEqual([400, 'settled']);
      accountant.when(releaseOf('a'), 6).thenAnswer({ httpStatus: 409, code: 'RESERVATION_WRONG_PHASE' });
    });

    it('of less than was reserved frees the rest', () => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 400), 3)
        .when(recorded('a', 150), 4)
        .then(fact('BudgetSettled', { debits: owes(150) }));
      expect(used(accountant, 'tenant')).toBe(150);
    });

    it('of more than was reserved is an overrun of the rest', () => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 1), 3)
        .when(recorded('a', 700), 4)
        .then(fact('BudgetSettled', { debits: owes(1) }), fact('BudgetOverrun', { debits: owes(699) }));
      expect([used(accountant, 'run'), phaseOf(accountant, 'a')]).toEqual([700, 'overrun']);
      accountant
        .when(changed('a', 'compensation_verified'), 5)
        .then(fact('BudgetRefunded', { members: [{ debits: owes(700) }] }));
      expect(used(accountant, 'run')).toBe(0);
    });

    it('in another currency than was reserved is an overrun in that one', () => {
      const accountant = start()
        .when(reserve('a', 9), 3)
        .when(recorded('a', 7, { currency: 'USD' }), 4)
        .then(fact('BudgetSettled', { debits: owes(0) }), fact('BudgetOverrun', { debits: owes(7, 'USD') }));
      expect([used(accountant, 'run'), used(accountant, 'run', 'USD')]).toEqual([0, 7]);
    });

    it('that nobody reserved and whose money nobody can read is no execution without money: a person is asked', () => {
      const exceeded = [{ scope: 'run', scope_id: RUN, measure: 'unread' }];
      const run = start().when(recorded('a', null, { digest }), 1);
      run.then(fact('BudgetOverrun', { debits: [], exceeded, mutation_id: mutationOf('a') }));
      expect(phaseOf(run, 'a')).toBe('overrun');
      // What was asked for it counts where nobody knows better, and what its contract says nothing of moves nothing.
      run.when(reserve('b', 100), 2).then(fact('BudgetEscalated', {})).when(recorded('c', null), 3).then();
    });

    it('that nobody reserved is debited in full, and a person is asked once', () => {
      const accountant = withCeilings(500, 500)
        .when(recorded('a', 600), 3)
        .then(fact('BudgetOverrun', { debits: owes(600), owner: 'role:approver' }))
        .when(recorded('a', 600), 4)
        .thenNothing();
      expect(accountant.rows('budget').map((row) => row.doc['overrun'])).toEqual([true, true, true]);
      accountant
        .when(reserve('b', 1), 5)
        .then(
          fact('BudgetEscalated', {
            exceeded: [bound('run', { measure: 'overrun' }), bound('run', { used_minor: 600 }), bound('tenant')],
          }),
        )
        .when(decide('a', true), 6)
        .then(fact('EscalationDecided', { debits: [] }));
      expect(used(accountant, 'run')).toBe(600);
    });

    it('while the escalation is open, or after a denial, is an overrun', () => {
      withCeilings(500, 500)
        .when(reserve('a', 600), 3)
        .when(recorded('a', 600), 4)
        .then(fact('BudgetOverrun', { debits: owes(600) }));
      withCeilings(500, 500)
        .when(reserve('a', 600), 3)
        .when(decide('a', false), 4)
        .when(recorded('a', null), 5)
        .then(fact('BudgetOverrun', { debits: owes(600) }));
    });

    it('under a contract counts by its weight', () => {
      start()
        .when(recorded('a', 30_000, { digest }), 1)
        .then(fact('BudgetOverrun', { debits: owes(3_000, INR, 30_000) }));
    });

    it('under a contract not yet read waits, then counts by the class the ledger bound', () => {
      start()
        .whenBehind(recorded('a', 4_991, { digest: Buffer.alloc(32, 1) }), 1)
        .when(recorded('a', 4_991, { digest: Buffer.alloc(32, 1) }), 2)
        .then(fact('BudgetOverrun', { debits: owes(500, INR, 4_991) }));
    });

    it('that happened after all is debited in full, though it was cancelled and its reservation given back', () => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 400), 3)
        .when(recorded('a', 400, { state: 'planned', recoverability: 'cancelled' }), 4)
        .then(fact('BudgetReleased', { debits: owes(400), cause: 'cancelled' }));
      accountant
        .when(recorded('a', 400, { recoverability: 'cancelled' }), 5)
        .then(fact('BudgetOverrun', { debits: owes(400) }));
      expect(used(accountant, 'run')).toBe(400);
    });

    it('of no known value debits nothing that was not asked for', () => {
      start()
        .when(recorded('a', null), 1)
        .thenNothing()
        .when(recorded('b', 0), 2)
        .thenNothing()
        .when(recorded('c', 5, { state: 'uncertain' }), 3)
        .thenNothing();
    });

    it.each(['failed', 'cancelled'])('that %s gives its reservation back', (end) => {
      const accountant = withCeilings(500, 500)
        .when(reserve('a', 400), 3)
        .when(end === 'failed' ? recorded('a', 400, { state: 'failed' }) : changed('a', 'cancelled'), 4)
        .then(fact('BudgetReleased', { debits: owes(400), cause: end }));
      expect(used(accountant, 'run')).toBe(0);
      accountant.when(recorded('b', 1, { state: 'failed' }), 5).thenNothing();
    });
  });

  it('refunds a verified compensation once, and nothing else', () => {
    const accountant = withCeilings(500, 500).when(reserve('a', 400), 3).when(recorded('a', 400), 4);
    for (const event of ['compensation_started', 'compensation_failed', 'manual_required'])
      accountant.when(changed('a', event), 5).thenNothing();
    accountant
      .when(changed('a', 'compensation_verified'), 6)
      .then(fact('BudgetRefunded', { members: [{ debits: owes(400), mutation_id: mutationOf('a') }] }))
      .when(changed('a', 'compensation_verified'), 7)
      .thenNothing()
      .when(changed('z', 'compensation_verified'), 8)
      .thenNothing();
    expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([0, 0]);
  });

  it('refunds all that was undone at once in one record, at every budget that they share', () => {
    const accountant = withCeilings(500, 500);
    for (const effect of ['a', 'b', 'c']) accountant.when(reserve(effect, 100), 3).when(recorded(effect, 100), 3);
    expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([300, 300]);
    accountant.when(changed(['c', 'a', 'z'], 'compensation_verified'), 5).then(
      fact('BudgetRefunded', {
        members: ['c', 'a'].map((effect) => ({ debits: owes(100), mutation_id: mutationOf(effect) })),
      }),
    );
    expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([100, 100]);
    accountant.when(changed(['a', 'b'], 'compensation_verified'), 6);
    expect([used(accountant, 'run'), used(accountant, 'tenant')]).toEqual([0, 0]);
  });

  it('leaves tenants alone that live on another partition', () => {
    const count = 4;
    const other = stranger(TENANT, count);
    const at = (partition: number) =>
      harness(budgetsCore(), {
        isRebuilt,
        partitionCount: count,
        partition,
        views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
      });
    at(partitionForKey(TENANT, count))
      .when(recorded('a', 5), 1)
      .then(fact('BudgetOverrun', { tenant: TENANT }))
      .when(recorded('a', 5, { tenant: other }), 2)
      .thenNothing()
      .when(changed('a', 'compensation_verified', other), 3)
      .thenNothing();
    at(partitionForKey(other, count))
      .when(recorded('a', 5), 1)
      .thenNothing()
      .when(recorded('a', 5, { tenant: other }), 2)
      .then(fact('BudgetOverrun', { tenant: other }));
  });
});
