import { describe, expect, it } from '@jest/globals';
import { entrySaid, fact, WAYS } from '@recourse/testing';
import {
  accountant,
  AGENT,
  freeze,
  GOOD,
  ID,
  judged,
  KIND,
  praised,
  REFUNDS,
  policySaid,
  register,
  signalled,
  standingOf,
  undone,
} from './budgets.autonomy.testing.js';
import { INR, mutationOf, open, recorded, reserve, TENANT } from './budgets.testing.js';

describe.each(WAYS)('what an agent has earned at a kind of task, $way', ({ isRebuilt }) => {
  const start = (policy: object | null = {}) => accountant(isRebuilt, policy);

  it('follows from eight signals, and the record of a change holds them all (D30, D32)', () => {
    const { desk, digest } = start();
    praised(desk).then(
      fact('AutonomyChanged', {
        autonomy_id: ID,
        tenant: TENANT,
        agent_id: AGENT,
        task_kind: KIND,
        cause: 'signal',
        signal: 'user_impact',
        before: 'draft',
      }),
    );
    expect(standingOf(desk)).toMatchObject({
      score_ppm: 710_000,
      rung: 'execute_with_approval',
      capped_by: null,
      policy_version: 1,
    });
    expect(standingOf(desk)?.['signals']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          signal: 'reversibility',
          value_ppm: 500_000,
          source: `contract:${digest.toString('hex')}`,
        }),
        expect.objectContaining({ signal: 'eval_score', stated_ppm: 850_000, source: 'critic' }),
        expect.objectContaining({ signal: 'approval_history', stated_ppm: null, value_ppm: 0 }),
      ]),
    );
    expect(desk.rows('autonomy_change')).toHaveLength(6);
  });

  it('is of the tenant, the agent and the kind of task alone (D30)', () => {
    const { desk } = start();
    praised(desk)
      .when(signalled('eval_score', 1, { agent_id: 'agent-8' }), 2_000)
      .when(signalled('eval_score', 1, { task_kind: 'x.y_z' }), 2_000);
    expect(desk.rows('autonomy').map(({ doc }) => doc['rung'])).toEqual(
      expect.arrayContaining(['execute_with_approval', 'read', 'read']),
    );
    expect(desk.rows('autonomy')).toHaveLength(3);
  });

  it('of a capability without a contract counts it as irreversible (D35)', () => {
    const { desk } = start({ capabilities: [REFUNDS, 'wire.send_money'] });
    praised(desk);
    expect(standingOf(desk)).toMatchObject({ score_ppm: 635_000, rung: 'draft' });
  });

  it('counts what the platform’s policy of the same name names beside the tenant’s own, which loosens nothing', () => {
    const { desk, entries } = start({ capabilities: [REFUNDS] });
    register(entries, { capabilities: ['wire.send_money'] }, KIND, '*');
    praised(desk);
    expect(standingOf(desk)).toMatchObject({ score_ppm: 635_000, rung: 'draft' });
  });

  it('is said twice and counts once', () => {
    const { desk } = start();
    const said = signalled('eval_score', 0.5);
    desk.when(said, 1).when(said, 2).thenNothing();
  });

  it.each([
    ['a name nobody knows', { signal: 'charm', value: 1 }, 'SIGNAL_UNKNOWN'],
    ['a name that every object has', { signal: 'constructor', value: null }, 'SIGNAL_UNKNOWN'],
    ['a rung that the agent claims', { signal: 'rung', value: 1 }, 'SIGNAL_DERIVED'],
    ['reversibility', { signal: 'reversibility', value: 1 }, 'SIGNAL_DERIVED'],
    ['no number', { value: Number.NaN }, 'SIGNAL_OUT_OF_RANGE'],
    ['more than all', { value: 1.000001 }, 'SIGNAL_OUT_OF_RANGE'],
    ['less than nothing', { value: -0.1 }, 'SIGNAL_OUT_OF_RANGE'],
    ['a score without one', { value: null }, 'SIGNAL_OUT_OF_RANGE'],
    ['an incident with a score', { signal: 'safety_violation', value: 0.1 }, 'SIGNAL_OUT_OF_RANGE'],
    ['a word of the agent about itself', { source: AGENT }, 'SIGNAL_OF_ONESELF'],
    ['the same, spelt otherwise', { source: `agent:${AGENT.toUpperCase()}` }, 'SIGNAL_OF_ONESELF'],
    ['the future', { stated_at: 10_000_000 }, 'SIGNAL_AHEAD'],
    ['nobody', { source: '' }, 'SIGNAL_NAME_INVALID'],
  ])('is not changed by %s, and the log says why', (_what, more, code) => {
    const { desk } = start();
    praised(desk)
      .when(signalled('eval_score', 1, more), 1_000)
      .then(fact('SignalRefused', { tenant: TENANT, agent_id: AGENT, task_kind: KIND, code }));
    expect(standingOf(desk)?.['score_ppm']).toBe(710_000);
  });

  it('is not changed by what lies under the key of another tenant, and that tenant is not held up', () => {
    const { desk } = start();
    desk
      .when(signalled('eval_score', 1, { tenant: 'globex', event_id: 'f' }), 1_000)
      .then(fact('SignalRefused', { tenant: TENANT, code: 'TENANT_FORGED' }))
      .when(signalled('eval_score', 1, { event_id: 'f' }), 1_000)
      .then(fact('AutonomyChanged', { tenant: TENANT, event_id: 'f' }))
      .when(signalled('eval_score', 1, {}, '*'), 1_000)
      .thenParked('KEY_MISMATCH');
  });

  it('is changed by the sources its policy names alone', () => {
    const { desk } = start({ sources: ['judge'] });
    desk
      .when(signalled('eval_score', 1), 1_000)
      .then(fact('SignalRefused', { code: 'SOURCE_NOT_TRUSTED' }))
      .when(signalled('eval_score', 1, { source: 'judge' }), 1_000)
      .then(fact('AutonomyChanged', { source: 'judge' }));
  });

  it('is changed neither by what is older nor by the same event with other words', () => {
    const { desk } = start();
    desk
      .when(signalled('eval_score', 0.5, { event_id: 'x', stated_at: 500 }), 1_000)
      .when(signalled('eval_score', 1, { stated_at: 499 }), 1_000)
      .then(fact('SignalRefused', { code: 'SIGNAL_SUPERSEDED' }))
      .when(signalled('eval_score', 1, { event_id: 'x', stated_at: 501 }), 1_000)
      .then(fact('SignalRefused', { code: 'SIGNAL_CONFLICT' }));
  });

  it('falls with violations and rises again when their time is over, by itself (D36)', () => {
    const { desk } = start({ hold_ms: 3_600_000 });
    praised(desk)
      .when(signalled('policy_violation', null), 2_000)
      .then(fact('AutonomyChanged', { cause: 'violation', before: 'execute_with_approval' }))
      .when(signalled('safety_violation', null), 3_000);
    expect(standingOf(desk)).toMatchObject({ rung: 'read', earned: 'execute_with_approval', capped_by: 'violation' });
    desk
      .when(desk.timer('autonomy', ID), 3_603_000)
      .then(fact('AutonomyChanged', { cause: 'elapsed', before: 'read' }));
    expect(standingOf(desk)).toMatchObject({ rung: 'execute_with_approval', capped_by: null });
  });

  it('falls with an execution that nobody reserved, where somebody watches the agent', () => {
    const { desk, digest } = start({ capabilities: ['wire.send_money'] });
    praised(desk)
      .when(recorded('a', 500, { digest }), 2_000)
      .then(
        fact('BudgetOverrun', {}),
        fact('AutonomyChanged', {
          cause: 'overrun',
          before: 'draft',
        }),
      );
    expect(standingOf(desk)?.['rung']).toBe('recommend');
    const { desk: other } = start(null);
    other.when(recorded('a', 500, { digest }), 2_000).then(fact('BudgetOverrun', {}));
  });

  describe('is held to by who never asks', () => {
    const rungs = {
      draft: { forward_approval: 'refused' },
      execute_with_approval: { forward_approval: 'human', ceilings: [{ currency: INR, ceiling_minor: 3_000 }] },
    };
    const wanted = (asked_minor: number) => ({ scope: 'agent', scope_id: AGENT, measure: 'rung', asked_minor });

    it('a person has what the rung wanted asked first and nobody reserved, and the run reserves nothing more (A84)', () => {
      const { desk, digest } = start({ rungs });
      praised(desk)
        .when(recorded('a', 500, { digest, capability: REFUNDS }), 2_000)
        .then(fact('BudgetOverrun', { exceeded: [wanted(1)] }), fact('AutonomyChanged', { cause: 'overrun' }));
      expect(desk.rows('escalation').map(({ doc }) => doc)).toMatchObject([
        { about: 'overrun', phase: 'open', exceeded: [wanted(1)] },
      ]);
      // It fell a rung for that: what comes next is not for it at all.
      desk
        .when(recorded('b', 500, { digest, capability: REFUNDS, subject: 'order/a' }), 3_000)
        .then(
          fact('BudgetOverrun', { exceeded: [wanted(3), { measure: 'debt' }, { measure: 'calls' }] }),
          fact('AutonomyChanged', {}),
        );
    });

    it('also where it leaves no debt, and beyond the ceiling that the rung grants', () => {
      const { desk, digest } = start({ rungs });
      praised(desk)
        .when(recorded('a', 40_000, { digest, capability: REFUNDS }), 2_000)
        .then(
          fact('BudgetOverrun', { exceeded: [wanted(1), { scope: 'run', measure: 'debt', ceiling_minor: 3_000 }] }),
          fact('AutonomyChanged', {}),
        );
      const { desk: free, digest: other } = start({ rungs });
      praised(free)
        .when(recorded('a', 0, { digest: other, capability: REFUNDS }), 2_000)
        .then(fact('BudgetOverrun', { exceeded: [wanted(1)] }), fact('AutonomyChanged', {}));
    });

    it('and nobody has what was reserved, whose guard asks, or what no rung wants asked', () => {
      const { desk, digest } = start({ rungs });
      praised(desk)
        .when(reserve('a', 500, { capability: REFUNDS, who: { principal: AGENT } }), 2_000)
        .when(recorded('a', 500, { digest, capability: REFUNDS }), 3_000)
        .then(fact('BudgetSettled', {}));
      const { desk: open, digest: other } = start({ rungs: { auto_execute: { ceilings: [] } } });
      praised(open)
        .when(recorded('a', 0, { digest: other, capability: REFUNDS }), 2_000)
        .then(fact('BudgetDebited', {}));
    });
  });

  it('falls when an effect was taken back, and rises when a person says that the trigger was wrong', () => {
    const { desk } = start();
    praised(desk, { ...GOOD, evidence_confidence: 0.7, eval_score: 0.8 })
      .when(undone('a', 'b'), 2_000)
      .then(fact('AutonomyChanged', { cause: 'compensation_verified', before: 'execute_with_approval' }));
    expect(standingOf(desk)).toMatchObject({ rung: 'draft', score_ppm: 600_000 });
    desk
      .when(judged('a', true), 3_000)
      .thenNothing()
      .when(judged('a', false), 3_000)
      .then(fact('AutonomyChanged', { cause: 'false_trigger', before: 'draft', by: 'dana' }))
      .when(judged('b', false), 3_000);
    expect(standingOf(desk)).toMatchObject({ rung: 'execute_with_approval', score_ppm: 660_000 });
  });

  it('does not fall when an effect was taken back of which a person said before that its trigger was wrong (D36)', () => {
    const { desk } = start();
    praised(desk)
      .when(judged('a', false), 2_000)
      .then(fact('AutonomyChanged', { cause: 'false_trigger', before: 'execute_with_approval', by: 'dana' }));
    const before = standingOf(desk);
    expect(before).toMatchObject({ rung: 'execute_with_approval', pardoned: [{ at: 2_000 }] });
    desk
      .when(undone('a'), 3_000)
      .then(fact('AutonomyChanged', { cause: 'compensation_verified', standing: { undone: [], corrections: [] } }));
    const { pardoned: _spent, ...rest } = before ?? {};
    expect(standingOf(desk)).toEqual(rest);
    desk.when(undone('b'), 4_000);
    expect(standingOf(desk)).toMatchObject({ undone: [{ id: mutationOf('b') }] });
  });

  it('falls with an effect whose trigger a person said was wrong while nobody watched its agent, by who watches since', () => {
    const { desk, entries } = accountant(isRebuilt, null);
    desk.when(judged('a', false), 2_000).thenNothing();
    register(entries, {});
    desk.when(judged('b', false), 2_500).when(undone('a', 'b'), 3_000);
    expect(standingOf(desk)).toMatchObject({ undone: [{ id: mutationOf('a') }], corrections: { length: 1 } });
  });

  it('falls with an effect that was taken back for another trigger than the one that a person closed', () => {
    const { desk } = start();
    praised(desk)
      .when(judged('a', false, TENANT, true), 2_000)
      .thenNothing();
    desk.when(undone('a'), 3_000);
    expect(standingOf(desk)?.['undone']).toHaveLength(1);
  });

  it('forgets what was never taken back, and knows of so many and no more', () => {
    const { desk } = start();
    praised(desk);
    for (let at = 0; at < 102; at += 1) desk.when(judged(`e${String(at)}`, false), 2_000);
    expect(standingOf(desk)?.['pardoned']).toHaveLength(100);
    desk.when(signalled('eval_score', 0.9), 2_000 + 30 * 86_400_000);
    expect(standingOf(desk)).not.toHaveProperty('pardoned');
  });

  it('is frozen by many effects that were taken back, as by other corrections (D37)', () => {
    const { desk } = start();
    praised(desk).when(undone('a', 'b'), 2_000).when(signalled('operator_correction', null), 3_000);
    expect(standingOf(desk)?.['frozen_by']).toBe('corrections');
  });

  it('counts a correction of each source, whatever events others tell under the same id (D37)', () => {
    const { desk } = start({ corrections: { count: 3, window_ms: 86_400_000 } });
    const correction = (source: string, event_id: string) =>
      signalled('operator_correction', null, { source, event_id });
    praised(desk).when(correction('desk', 'e'), 2_000).when(correction('desk', 'f'), 2_001);
    desk.when(correction('critic', 'f'), 2_002).when(correction('critic', 'f'), 2_003).thenNothing();
    expect(standingOf(desk)).toMatchObject({ frozen_by: 'corrections' });
    expect(standingOf(desk)?.['corrections']).toHaveLength(3);
  });

  it('keeps a correction of its own beside an effect that was taken back, and takes no other one back with it', () => {
    const { desk } = start();
    const mutation = mutationOf('a');
    praised(desk).when(undone('a'), 2_000);
    desk.when(signalled('operator_correction', null, { event_id: mutation }), 2_001);
    expect(standingOf(desk)?.['corrections']).toHaveLength(2);
    desk.when(judged('a', false), 3_000);
    expect(standingOf(desk)?.['corrections']).toHaveLength(1);
  });

  describe('that is frozen', () => {
    const frozen = (policy: object = {}) => {
      const { desk, entries } = start(policy);
      praised(desk).when(signalled('replay_failed', null), 2_000);
      const charter = {
        owner: 'otto',
        doc: 'd',
        agent: AGENT,
        purpose: 'refunds',
        allowed: ['payments.*'],
        denied: [],
      };
      entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body: charter }));
      const platform = { ...charter, owner: 'petra' };
      entries.append('c', entrySaid('agent_charter', { name: 'p', tenant: '*', body: platform }));
      return desk;
    };

    it('rises again when a person lets it (D37)', () => {
      const desk = frozen();
      desk
        .when(signalled('evidence_confidence', 1), 3_000)
        .when(signalled('tool_reliability', 1), 3_000)
        .when(signalled('eval_score', 1), 3_000);
      desk.when(signalled('approval_history', 1), 3_000);
      expect(standingOf(desk)).toMatchObject({
        rung: 'execute_with_approval',
        capped_by: 'frozen',
        earned: 'auto_execute',
      });
      desk
        .when(freeze({ principal: 'dana', roles: ['approver'] }, 'UnfreezeAutonomy'), 4_000)
        .then(fact('AutonomyChanged', { cause: 'unfrozen', by: 'dana', reason: 'looked into it' }))
        .thenAnswer({ httpStatus: 200, body: { rung: 'auto_execute', frozen_by: null } });
    });

    it.each([
      ['the agent itself', { principal: AGENT, roles: ['approver'] }, 'SELF_APPROVAL', 403],
      ['who answers for it', { principal: 'otto', roles: ['approver'] }, 'SELF_APPROVAL', 403],
      ['whom the platform’s charter names', { principal: 'petra', roles: ['approver'] }, 'SELF_APPROVAL', 403],
      ['an account of theirs', { principal: 'o2', accounts: ['user:otto'], roles: ['approver'] }, 'SELF_APPROVAL', 403],
      ['a program', { principal: 'svc:bot', roles: ['approver'] }, 'APPROVER_NOT_A_PERSON', 403],
      ['somebody without the role', { principal: 'dana', roles: ['operator'] }, 'ROLE_REQUIRED', 403],
      ['another tenant', { tenant: 'globex', principal: 'dana', roles: ['approver'] }, 'AUTONOMY_UNKNOWN', 404],
    ])('is not let by %s', (_who, who, code, httpStatus) => {
      frozen().when(freeze(who, 'UnfreezeAutonomy'), 4_000).thenNothing().thenAnswer({ code, httpStatus });
    });

    it('is not frozen twice, and what is not frozen not let', () => {
      frozen()
        .when(freeze({ principal: 'dana', roles: ['operator'] }), 4_000)
        .thenAnswer({ code: 'AUTONOMY_FROZEN', httpStatus: 409 });
      const { desk } = start();
      praised(desk)
        .when(freeze({ principal: 'dana', roles: ['approver'] }, 'UnfreezeAutonomy'), 4_000)
        .thenAnswer({ code: 'AUTONOMY_NOT_FROZEN', httpStatus: 409 })
        .when(freeze({ principal: 'dana', roles: ['operator'] }), 4_000)
        .then(fact('AutonomyChanged', { cause: 'frozen', by: 'dana' }))
        .when(freeze({ principal: 'dana', roles: ['operator'] }, 'FreezeAutonomy', 'nobody'), 4_000)
        .thenAnswer({ code: 'AUTONOMY_UNKNOWN', httpStatus: 404 });
    });
  });

  describe('says what may be spent and who is asked (A84)', () => {
    const rungs = {
      draft: { forward_approval: 'refused', ceilings: [{ currency: INR, ceiling_minor: 0 }] },
      execute_with_approval: { forward_approval: 'human', ceilings: [{ currency: INR, ceiling_minor: 3_000 }] },
    };
    const refund = (effect: string, amount: number, principal = AGENT) =>
      reserve(effect, amount, { capability: REFUNDS, who: { principal } });

    it('in the answer to a reservation', () => {
      const { desk } = start({ rungs });
      praised(desk)
        .when(refund('a', 30_000), 2_000)
        .then(fact('BudgetReserved', { debits: [{ currency: INR, debit_minor: 3_000 }] }))
        .thenAnswer({
          httpStatus: 201,
          body: {
            autonomy: { task_kind: KIND, rung: 'execute_with_approval', capped_by: null, forward_approval: 'human' },
          },
        })
        .when(refund('b', 1), 3_000)
        .then(
          fact('BudgetEscalated', {
            exceeded: [
              { scope: 'run', used_minor: 3_000, ceiling_minor: 3_000 },
              { measure: 'calls' },
              { measure: 'subjects' },
            ],
          }),
        );
    });

    it('where a ceiling was opened, the lower of the two', () => {
      const { desk } = start({ rungs });
      praised(desk)
        .when(open('run', 5), 2_000)
        .when(refund('a', 100), 2_000)
        .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', ceiling_minor: 5 }] }));
      const { desk: wide } = start({ rungs });
      praised(wide)
        .when(open('run', 5_000), 2_000)
        .when(refund('a', 30_001), 2_000)
        .then(fact('BudgetEscalated', { exceeded: [{ scope: 'run', ceiling_minor: 3_000 }] }));
    });

    it('and refuses what is not for the agent to do, until it has earned it', () => {
      const { desk } = start({ rungs });
      praised(desk)
        .when(signalled('policy_violation', null), 2_000)
        .when(refund('a', 1), 3_000)
        .thenNothing()
        .thenAnswer({
          code: 'RUNG_TOO_LOW',
          httpStatus: 403,
          body: { autonomy: { rung: 'draft', capped_by: 'violation' } },
        });
    });

    it('by a policy that was tightened a moment ago, which the view has not read yet', () => {
      const { desk, entries } = start({ rungs });
      praised(desk);
      entries.appendUnread(KIND, policySaid({ rungs, caps: [{ name: 'pilot', rung: 'draft', reason: 'r' }] }));
      desk.whenBehind(refund('a', 1), 2_500);
      entries.catchUp();
      desk.when(refund('a', 1), 3_000).thenAnswer({ code: 'RUNG_TOO_LOW', httpStatus: 403 });
    });

    it('to nobody who borrows the name of an agent', () => {
      const { desk } = start({
        rungs: { ...rungs, read: { forward_approval: 'refused' }, recommend: { forward_approval: 'refused' } },
      });
      const borrowed = reserve('a', 1, { capability: REFUNDS, who: { principal: 'agent-8' } });
      const claimed = { ...borrowed, body: { ...borrowed.body, agent_id: AGENT } };
      praised(desk)
        .when(claimed, 2_000)
        .thenAnswer({ code: 'RUNG_TOO_LOW', httpStatus: 403, body: { autonomy: { rung: 'read' } } });
    });

    it('of several kinds of task the lowest rung, the platform and the tenant together', () => {
      const { desk, entries } = start({ rungs });
      register(entries, { rungs: { auto_execute: { forward_approval: 'human' } } }, 'all_money', '*');
      praised(desk)
        .when(refund('a', 1), 2_000)
        .thenAnswer({
          httpStatus: 201,
          body: { autonomy: { task_kind: 'all_money', rung: 'read', forward_approval: 'human' } },
        });
    });

    it('and nothing where no policy is about it', () => {
      const { desk } = start(null);
      desk.when(refund('a', 100), 2_000).thenAnswer({
        httpStatus: 201,
        body: { autonomy: { task_kind: REFUNDS, rung: 'read', forward_approval: 'policy' } },
      });
    });
  });
});
