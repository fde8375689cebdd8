// Nobody lets themselves, or what acts for them, spend more (P5): neither who asked, nor whom it is for, nor who answers for the agent.
import { describe, expect, it } from '@jest/globals';
import { entryView, EXPOSURE } from '@recourse/contract';
import { entrySaid, fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { namedIn } from './rules/budget/escalation.decider.js';
import {
  command,
  decide,
  INR,
  open,
  recorded,
  refundView,
  releaseOf,
  reserve,
  RUN,
  TENANT,
} from './budgets.testing.js';

const AGENT = 'refund-agent';
const INITIATOR = 'ines';
const ANSWERABLE = 'otto';
/** Before anybody's deadline, and after what nobody used is asked about. */
const IN_TIME = 50_000_000;

describe.each(WAYS)('an escalation of the budget, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => {
    const entries = memoryView(entryView);
    const charter = { owner: ANSWERABLE, doc: 'd', agent: AGENT, purpose: 'refunds', allowed: ['wire.*'], denied: [] };
    entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body: charter }));
    // Another charter of the agent hides nobody who answers for it.
    const other = { ...charter, owner: 'mallory' };
    entries.append('c', entrySaid('agent_charter', { name: 'a0', tenant: TENANT, body: other }));
    const core = budgetsCore({ settleWithinMs: 3_600_000 });
    return harness(core, { isRebuilt, views: { contracts: refundView().view, entries } }).when(open('run', 500), 1);
  };
  const asked = (amount_minor: number) =>
    command('ReserveBudget', {
      run_id: RUN,
      effect_key: 'a',
      capability: 'wire.send_money',
      values: [{ amount_minor, currency: INR }],
      agent_id: AGENT,
      initiator: INITIATOR,
    });
  const escalated = (): CoreHarness =>
    start()
      .when(asked(600), 2)
      .then(fact('BudgetEscalated', { parties: ['agent-7', AGENT, INITIATOR] }));
  const overrun = (): CoreHarness =>
    start()
      .when(recorded('a', 600, { agent: AGENT, initiator: INITIATOR }), 2)
      .then(fact('BudgetOverrun', { parties: [AGENT, INITIATOR] }));
  const unsettled = (): CoreHarness => {
    const run = start().when(asked(100), 2);
    const due = run.rows('reservation')[0]?.dueAt ?? 0;
    return run.whenDue(due).then(fact('BudgetOverdue', { about: 'unsettled' }));
  };

  it.each([
    ['whom the agent acts for', 'a ceiling', INITIATOR, escalated],
    ['who answers for the agent', 'a ceiling', ANSWERABLE, escalated],
    ['the agent', 'a ceiling', `agent:${AGENT}`, escalated],
    ['whom the agent acts for', 'an overrun', INITIATOR, overrun],
    ['who answers for the agent', 'an overrun', ANSWERABLE, overrun],
    ['whom the agent acts for', 'what was never used', INITIATOR, unsettled],
  ] as const)('is not decided by %s where it is about %s', (_who, _what, principal, made) => {
    for (const approved of [true, false])
      made()
        .when(decide('a', approved, { principal }), IN_TIME)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' });
  });

  it.each([
    ['who answers for the agent', ANSWERABLE],
    ['the agent', `agent:${AGENT}`],
    ['who proposed it', 'bruno'],
  ])(
    'about a raise of the ceiling of an agent is not decided by %s, in any spelling of its name',
    (_who, principal) => {
      for (const scope_id of [AGENT, `agent:${AGENT.toUpperCase()}`]) {
        const place = { scope: 'agent', scope_id, currency: INR };
        const BRUNO = { principal: 'bruno', roles: ['budget_owner'] };
        const proposed = start()
          .when(command('OpenBudget', { ...place, ceiling_minor: 100 }), 2)
          .when(command('MoveCeiling', { ...place, ceiling_minor: 9_999 }, BRUNO), 3)
          .then(fact('CeilingProposed', {}));
        const word = (who: string) => {
          const { escalation_id } = proposed.rows('escalation')[0]?.doc ?? {};
          return command('DecideEscalation', { escalation_id, approved: true, reason: 'because' }, { principal: who });
        };
        proposed
          .when(word(principal), IN_TIME)
          .thenNothing()
          .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' })
          .when(word('dana'), IN_TIME)
          .then(fact('EscalationDecided', { by: 'dana' }), fact('CeilingMoved', { ceiling_minor: 9_999 }));
      }
    },
  );

  it('names everybody whose name could be taken for another where it is decided', () => {
    const run = escalated();
    expect(namedIn(run.rows('escalation')[0]?.doc ?? {})).toEqual(['agent-7', AGENT, INITIATOR]);
  });

  describe('under a contract', () => {
    const CAPABILITY = 'payments.issue_refund';
    const { digest } = refundView();
    const spends = (amount_minor: number) => {
      const values = [{ amount_minor, currency: INR }];
      return command('ReserveBudget', {
        run_id: RUN,
        effect_key: 'a',
        capability: CAPABILITY,
        values,
        subject_ref: 'order/1',
        agent_id: AGENT,
      });
    };
    const made = {
      'a ceiling': () =>
        start()
          .when(spends(60_000), 2)
          .then(fact('BudgetEscalated', { contract_digest: digest })),
      'an overrun': () =>
        start()
          .when(recorded('a', 60_000, { agent: AGENT, digest }), 2)
          .then(fact('BudgetOverrun', { contract_digest: digest })),
      'what was never used': () => {
        const run = start().when(spends(0), 2);
        return run.whenDue(run.rows('reservation')[0]?.dueAt ?? 0).then(fact('BudgetOverdue', { about: 'unsettled' }));
      },
    };

    it.each(
      (['a ceiling', 'an overrun', 'what was never used'] as const).flatMap((what) => [
        ['who registered it', what, 'Rosa'] as const,
        ['who confirmed it', what, 'remo'] as const,
      ]),
    )('is not decided by %s where it is about %s', (_who, what, principal) => {
      for (const approved of [true, false])
        made[what]()
          .when(decide('a', approved, { principal }), IN_TIME)
          .thenNothing()
          .thenAnswer({ httpStatus: 403, code: 'EDITOR_APPROVAL' });
      made[what]()
        .when(decide('a', true), IN_TIME)
        .then(fact('EscalationDecided', { by: 'dana' }));
    });
  });

  it.each([
    ['a ceiling', escalated],
    ['an overrun', overrun],
    ['what was never used', unsettled],
  ] as const)('is decided by another approver where it is about %s', (_what, made) => {
    const run = made()
      .when(decide('a', true, { principal: 'dana' }), IN_TIME)
      .then(fact('EscalationDecided', { by: 'dana' }));
    expect(run.rows('escalation')[0]?.doc).toMatchObject({ phase: 'approved', decided_by: 'dana' });
  });
});

describe('what an agent reserved', () => {
  const start = (): CoreHarness =>
    harness(budgetsCore(), { views: { contracts: refundView().view, entries: memoryView(entryView) } });
  const reserved = (): CoreHarness => start().when(reserve('a', 100), 1);

  it.each<[string, object, string]>([
    ['another agent', { principal: 'agent-8', roles: ['agent'] }, 'RESERVATION_OF_ANOTHER'],
    ['nobody in particular', { principal: 'agent-7', roles: [] }, 'ROLE_REQUIRED'],
    ['who only reads', { principal: 'vera', roles: ['viewer', 'approver'] }, 'ROLE_REQUIRED'],
  ])('is not given back by %s', (_who, asker, code) => {
    reserved().when(releaseOf('a', asker), 2).thenNothing().thenAnswer({ httpStatus: 403, code });
  });

  it('is given back by itself and by an administrator', () => {
    for (const asker of [{ roles: ['agent'] }, { principal: 'root', roles: ['administrator'] }])
      reserved().when(releaseOf('a', asker), 2).then(fact('BudgetReleased'));
  });

  it('is reserved by agents alone', () => {
    for (const roles of [[], ['viewer'], ['approver', 'administrator', 'budget_owner']])
      start()
        .when(reserve('a', 100, { who: { roles } }), 1)
        .thenNothing()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
  });
});

describe.each(WAYS)('a ceiling of what an agent may disclose, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => {
    const entries = memoryView(entryView);
    const charter = { owner: ANSWERABLE, doc: 'd', agent: AGENT, purpose: 'refunds', allowed: ['wire.*'], denied: [] };
    entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body: charter }));
    return harness(budgetsCore(), { isRebuilt, views: { contracts: refundView().view, entries } });
  };
  const opens = (principal: string, more: object = {}) =>
    command(
      'OpenBudget',
      { scope: 'agent', scope_id: `agent:${AGENT}`, currency: EXPOSURE, ceiling_minor: 5, ...more },
      { principal, roles: ['budget_owner'] },
    );

  it.each([
    ['a service account', 'svc:deploy', 'APPROVER_NOT_A_PERSON'],
    ['the agent', AGENT, 'SELF_APPROVAL'],
    ['who answers for the agent', ANSWERABLE, 'SELF_APPROVAL'],
  ])('is not set above nothing by %s', (_who, principal, code) => {
    start()
      .when(opens(principal), 1)
      .thenNothing()
      .thenAnswer({ httpStatus: 403, code })
      .when(opens(principal, { ceiling_minor: 0 }), 2)
      .then(fact('BudgetOpened', {}));
    start()
      .when(opens(principal, { currency: INR }), 1)
      .then(fact('BudgetOpened', {}));
  });

  it('is set by another person, and of a run by whoever sets ceilings', () => {
    start().when(opens('bruno'), 1).then(fact('BudgetOpened', {}));
    start()
      .when(opens(ANSWERABLE, { scope: 'run', scope_id: RUN }), 1)
      .then(fact('BudgetOpened', {}));
  });
});
