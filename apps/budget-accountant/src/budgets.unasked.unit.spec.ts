import { describe, expect, it } from '@jest/globals';
import { fact, logged, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  accountant,
  AGENT,
  DONE,
  praised,
  REFUNDS,
  signalled,
  standingOf,
  undone,
  used,
} from './budgets.autonomy.testing.js';
import { decide, INR, mutationOf, recorded, reserve, RUN, TENANT } from './budgets.testing.js';

const OTHER = Buffer.alloc(32, 8);
const EXECUTED = 10_000;
const WAIT = 5 * 60_000;
const OVER = EXECUTED + WAIT;

describe.each(WAYS)(
  'an effect that was reserved, and that its rung wants people asked about, $way',
  ({ isRebuilt }) => {
    const wanting = (forward_approval: string) => {
      const rungs = { execute_with_approval: { forward_approval }, draft: {}, recommend: {} };
      const { desk, digest } = accountant(isRebuilt, { rungs });
      const executed = (effect: string, more: object = {}) =>
        recorded(effect, 500, { digest, capability: REFUNDS, actionDigest: DONE, at: EXECUTED, ...more });
      return { desk: praised(desk), executed };
    };
    const refund = (effect: string, who: object = { principal: AGENT }) =>
      reserve(effect, 500, { capability: REFUNDS, who });
    const wanted = (asked_minor: number) => ({ scope: 'agent', scope_id: AGENT, measure: 'rung', asked_minor });
    const spent = (desk: CoreHarness) => desk.rows('budget').map(({ doc }) => doc['used_minor']);

    it('is settled and waited for, and nobody is blamed before the time is over (A84)', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(refund('a'), 2_000)
        .then(fact('BudgetReserved', { forward_approval: 'human' }))
        .when(executed('a'), EXECUTED)
        .then(fact('BudgetSettled', { awaited: { executed_at: EXECUTED, wait_until: OVER } }))
        .whenDue(OVER - 1)
        .thenNothing();
    });

    it('is a breach once nobody has asked them: a person’s, against the agent, and the run reserves nothing more (A84)', () => {
      const { desk, executed } = wanting('human');
      desk.when(refund('a'), 2_000).when(executed('a'), EXECUTED);
      const before = spent(desk);
      desk
        .whenDue(OVER)
        .then(
          fact('BudgetOverrun', { debits: [], exceeded: [wanted(1)], mutation_id: mutationOf('a'), agent_id: AGENT }),
          fact('AutonomyChanged', { cause: 'overrun', mutation_id: mutationOf('a') }),
        );
      expect(standingOf(desk)).toMatchObject({ rung: 'draft', capped_by: 'violation' });
      expect(spent(desk)).toEqual(before);
      expect(desk.rows('escalation').map(({ doc }) => doc)).toMatchObject([
        { about: 'overrun', phase: 'open', exceeded: [wanted(1)], brief: { objective: 'pay the invoices of May' } },
      ]);
      desk
        .when(refund('b'), OVER + 1)
        .then(
          fact('BudgetEscalated', {
            exceeded: [{ measure: 'overrun' }, { measure: 'calls' }, { measure: 'subjects' }],
          }),
        )
        .whenDue(OVER + WAIT)
        .thenNothing();
    });

    it.each([
      ['before it was reserved', ['used', 'refund', 'executed']],
      ['before it was executed', ['refund', 'used', 'executed']],
      ['as a record that comes after that of the execution', ['refund', 'executed', 'used']],
    ])('is nobody’s fault where people agreed %s', (_when, order) => {
      const { desk, executed } = wanting('human');
      const inputs = { used: used('a'), refund: refund('a'), executed: executed('a') };
      for (const [at, name] of order.entries()) desk.when(inputs[name as keyof typeof inputs], EXECUTED + at);
      desk.whenDue(OVER + WAIT).thenNothing();
      expect(desk.rows('escalation')).toEqual([]);
      expect(desk.rows('reservation')).toMatchObject([{ doc: { phase: 'settled' }, dueAt: null }]);
      expect(desk.rows('reservation')[0]?.doc).not.toHaveProperty('awaited');
      desk.when(used('a'), OVER + WAIT).thenNothing();
    });

    it.each([
      ['agreed to something else', { digest: OTHER }],
      ['agreed to it afterwards', { at: EXECUTED + 2_001 }],
      ['agreed to another effect of the run', { effect: 'z' }],
    ])(
      'is a breach where people %s',
      (_what, { effect = 'a', ...more }: { effect?: string; digest?: Buffer; at?: number }) => {
        for (const isEarly of [true, false]) {
          const { desk, executed } = wanting('human');
          desk.when(refund('a'), 2_000);
          if (isEarly) desk.when(used(effect, more), 3_000);
          desk.when(executed('a'), EXECUTED);
          if (!isEarly) desk.when(used(effect, more), EXECUTED + 1);
          desk.whenDue(OVER).then(fact('BudgetOverrun', { exceeded: [wanted(1)] }), fact('AutonomyChanged', {}));
        }
      },
    );

    it('wants as many people as the rung, or a rule that stands for them', () => {
      const breach = [fact('BudgetOverrun', { exceeded: [wanted(2)] }), fact('AutonomyChanged', {})];
      for (const [agreedBy, isBreach] of [
        [['dana'], true],
        [['dana', 'eve'], false],
        [['policy:refunds@1/small'], false],
      ] as const) {
        const { desk, executed } = wanting('dual_control');
        desk.when(refund('a'), 2_000).when(used('a', { agreedBy }), 3_000).when(executed('a'), EXECUTED).whenDue(OVER);
        desk.then(...(isBreach ? breach : []));
      }
    });

    it('is judged by what whoever reserved was told, also when the agent rose since', () => {
      const { desk, executed } = wanting('human');
      desk.when(refund('a'), 2_000);
      for (const name of ['evidence_confidence', 'tool_reliability', 'eval_score', 'approval_history'])
        desk.when(signalled(name, 1), 3_000);
      expect(standingOf(desk)).toMatchObject({ rung: 'auto_execute' });
      desk
        .when(refund('a'), 4_000)
        .thenNothing()
        .thenAnswer({ httpStatus: 200, body: { autonomy: { rung: 'auto_execute', forward_approval: 'human' } } })
        .when(executed('a'), EXECUTED)
        .then(fact('BudgetSettled', { awaited: { wait_until: OVER } }));
    });

    it('is a breach also when it was taken back meanwhile, and counts nothing then', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(refund('a'), 2_000)
        .when(executed('a'), EXECUTED)
        .when(undone('a'), EXECUTED + 1);
      desk.whenDue(OVER).then(fact('BudgetOverrun', { debits: [] }), fact('AutonomyChanged', { cause: 'overrun' }));
      expect(desk.rows('reservation')).toMatchObject([{ doc: { phase: 'refunded', debits: [] }, dueAt: null }]);
      expect(spent(desk)).toEqual([0, 0, 0]);
    });

    it('that spent more than was reserved holds its run up once, and its question says both', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(refund('a'), 2_000)
        .when(executed('a', { consequence: [{ amount_minor: 900, currency: INR }] }), EXECUTED)
        .then(fact('BudgetSettled', {}), fact('BudgetOverrun', {}), fact('AutonomyChanged', {}))
        .whenDue(OVER)
        .then(fact('BudgetOverrun', { debits: [], exceeded: [wanted(1)] }), fact('AutonomyChanged', {}));
      expect(desk.rows('run_standing')).toMatchObject([{ doc: { open_overruns: 1 } }]);
      desk.when(decide('a', true), OVER + 1);
      expect(desk.rows('run_standing')).toMatchObject([{ doc: { open_overruns: 0 } }]);
    });

    it.each([
      [
        'moved money that nobody can read',
        'unread',
        { capability: REFUNDS, who: { principal: AGENT } },
        { consequence: [] },
      ],
      ['was reserved in the name of another', 'name', { who: { principal: 'agent-9' } }, { digest: undefined }],
    ])('is a breach of its own also where it %s: what else it broke hides nothing', (_what, measure, as, more) => {
      const { desk, executed } = wanting('human');
      desk
        .when(reserve('a', 500, as), 2_000)
        .when(executed('a', more), EXECUTED)
        .then(
          fact('BudgetSettled', { awaited: { wait_until: OVER } }),
          fact('BudgetOverrun', { debits: [] }),
          fact('AutonomyChanged', {}),
        )
        .whenDue(OVER)
        .then(fact('BudgetOverrun', { debits: [] }), fact('AutonomyChanged', { cause: 'overrun' }))
        .whenDue(OVER + WAIT)
        .thenNothing();
      const exceeded = desk.rows('escalation').flatMap(({ doc }) => doc['exceeded'] as readonly object[]);
      expect(exceeded).toMatchObject([{ measure }, wanted(1)]);
      expect(desk.rows('run_standing')).toMatchObject([{ doc: { open_overruns: 1 } }]);
    });

    it('is nobody’s fault where people agreed, whatever else it broke', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(refund('a'), 2_000)
        .when(executed('a', { consequence: [] }), EXECUTED)
        .when(used('a'), EXECUTED + 1)
        .whenDue(OVER)
        .thenNothing();
      expect(desk.rows('escalation')).toMatchObject([{ doc: { exceeded: [{ measure: 'unread' }] } }]);
    });

    it('is judged by nobody where its record is older than digests, where it failed, or where no rung wants anybody asked', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(refund('a'), 2_000)
        .when(executed('a', { actionDigest: undefined }), EXECUTED)
        .then(fact('BudgetSettled', { awaited: null }))
        .when(refund('b'), EXECUTED)
        .when(executed('b', { state: 'failed' }), EXECUTED)
        .whenDue(OVER)
        .thenNothing();
      const { desk: free, executed: done } = wanting('policy');
      free
        .when(refund('a'), 2_000)
        .when(done('a'), EXECUTED)
        .then(fact('BudgetSettled', { awaited: null }));
    });

    it('cannot be hidden behind a reservation of something else', () => {
      const { desk, executed } = wanting('human');
      desk
        .when(reserve('a', 500, { who: { principal: AGENT } }), 2_000)
        .then(fact('BudgetReserved', { forward_approval: null }))
        .when(executed('a'), EXECUTED)
        .whenDue(OVER)
        .then(
          fact('BudgetOverrun', { capability: REFUNDS, exceeded: [wanted(1)] }),
          fact('AutonomyChanged', { cause: 'overrun' }),
        );
    });

    it('that takes another back was agreed to with its recovery, and its guard asks nobody', () => {
      const { desk } = wanting('human');
      const member = {
        compensation_id: mutationOf('rev_a'),
        effect_key: 'rev_a',
        reverses_mutation_id: mutationOf('a'),
        contract_digest: null,
        reversal_class: 'irreversible',
        capability: REFUNDS,
        subject_ref: 'order/a',
        consequence: [{ amount_minor: 500, currency: INR }],
        execution_state: 'succeeded',
        agent_id: AGENT,
        initiator: null,
      };
      const body = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', members: [member] };
      desk
        .when(refund('rev_a'), 2_000)
        .when(logged('recourse.mutations', 'CompensationsExecuted', body, 3, { partition: 3 }), EXECUTED)
        .then(fact('BudgetSettled', { awaited: null }))
        .whenDue(OVER)
        .thenNothing();
    });

    it('of no tenant is nobody’s, and is not noted', () => {
      const { desk } = wanting('human');
      const foreign = used('a');
      desk.when({ ...foreign, body: { ...foreign.body, tenant: '' } }, 3_000).thenNothing();
    });
  },
);
