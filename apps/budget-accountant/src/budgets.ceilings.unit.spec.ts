// How a ceiling moves: down at once, up by two people, and back when its time is over.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { budgetsCore } from './core.js';
import { questionDigest } from './rules/budget/escalation.decider.js';
import { command, INR, open, reserve, RUN, TENANT } from './budgets.testing.js';
import type { Who } from './budgets.testing.js';

const BRUNO: Who = { principal: 'bruno', roles: ['budget_owner', 'approver'] };
const DAY = 86_400_000;
const move = (ceiling_minor: number, more: object = {}, who: Who = BRUNO) =>
  command('MoveCeiling', { scope: 'run', scope_id: RUN, currency: INR, ceiling_minor, ...more }, who);
const PROPOSAL = deriveId('cei', TENANT, 'cmd_1');
const say = (approved: boolean, principal: string, more: object = {}) =>
  command(
    'DecideEscalation',
    { escalation_id: deriveId('esc', PROPOSAL), approved, reason: 'because', ...more },
    { principal },
  );

describe.each(WAYS)('a ceiling that moves, $way', ({ isRebuilt }) => {
  const start = () =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    }).when(open('run', 500), 1);
  const ceiling = (run: CoreHarness) =>
    run.rows('budget').find(({ doc }) => doc['scope'] === 'run')?.doc['ceiling_minor'];

  it('is lowered by one person, at once, even below what is used', () => {
    const run = start()
      .when(reserve('a', 400), 2)
      .when(move(300), 3)
      .then(fact('CeilingMoved', { from_minor: 500, ceiling_minor: 300, cause: 'lowered', by: ['bruno'] }))
      .thenAnswer({ httpStatus: 200 })
      .when(reserve('b', 1), 4)
      .then(fact('BudgetEscalated', { exceeded: [{ used_minor: 400, ceiling_minor: 300 }] }));
    expect(ceiling(run)).toBe(300);
  });

  it('is raised once another person agrees, and not before', () => {
    const run = start()
      .when(move(900), 2)
      .then(fact('CeilingProposed', { from_minor: 500, ceiling_minor: 900, by: 'bruno', owner: 'role:approver' }))
      .thenAnswer({ httpStatus: 202 });
    expect([ceiling(run), run.rows('escalation')[0]?.doc]).toMatchObject([500, { about: 'raise', phase: 'open' }]);
    run
      .when(say(true, 'bruno'), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 403, code: 'SELF_APPROVAL' })
      .when(say(true, 'dana'), 4)
      .then(
        fact('EscalationDecided', { approved: true, debits: [] }),
        fact('CeilingMoved', { from_minor: 500, ceiling_minor: 900, cause: 'raised', by: ['bruno', 'dana'] }),
      );
    expect(ceiling(run)).toBe(900);
  });

  it('stays as it is where the other one says no, or nothing', () => {
    const denied = start().when(move(900), 2).when(say(false, 'dana'), 3).then(fact('EscalationDecided'));
    const silent = start()
      .when(move(900), 2)
      .whenDue(2 + DAY)
      .then(fact('EscalationDecided', { approved: false, reason: 'DEADLINE_PASSED' }));
    expect([ceiling(denied), ceiling(silent)]).toEqual([500, 500]);
  });

  describe('since a raise was proposed', () => {
    const proposed = () => start().when(move(900), 2);
    const again = (ceiling_minor: number, more: object = {}) =>
      move(ceiling_minor, more, { ...BRUNO, command_id: `to-${String(ceiling_minor)}` });
    const yes = (command_id: string) =>
      command(
        'DecideEscalation',
        { escalation_id: deriveId('esc', deriveId('cei', TENANT, command_id)), approved: true, reason: 'because' },
        { principal: 'dana' },
      );

    it.each([
      ['lowered', (run: CoreHarness) => run.when(again(100), 3), '100'],
      ['raised by another proposal', (run: CoreHarness) => run.when(again(700), 3).when(yes('to-700'), 3), '700'],
      [
        'raised for a while that is over',
        (run: CoreHarness) =>
          run
            .when(again(700, { until: 4 }), 3)
            .when(yes('to-700'), 3)
            .when(again(400), 3)
            .whenDue(4),
        '400',
      ],
    ] as const)('is raised by no yes to what it was, where it was %s', (_how, moved, now) => {
      const run = moved(proposed());
      const read = questionDigest(
        run.rows('escalation').find(({ doc }) => doc['reservation_id'] === PROPOSAL)?.doc ?? {},
      );
      run
        .when(say(true, 'dana'), 5)
        .thenNothing()
        .thenAnswer({ httpStatus: 409, code: 'CEILING_MOVED' })
        .when(say(true, 'dana', { action_digest: Buffer.from(read, 'hex') }), 6)
        .thenNothing()
        .thenAnswer({ httpStatus: 409, code: 'CEILING_MOVED' });
      expect(String(ceiling(run))).toBe(now);
      run.when(say(false, 'dana'), 7).then(fact('EscalationDecided', { approved: false }));
    });

    it('and moved back to what it was, is raised by a yes', () => {
      const run = proposed().when(again(100), 3).when(again(500), 4).when(yes('to-500'), 4);
      run.when(say(true, 'dana'), 5).then(fact('EscalationDecided', {}), fact('CeilingMoved', { ceiling_minor: 900 }));
      run.when(say(true, 'dana'), 6).thenNothing().thenAnswer({ httpStatus: 200 });
    });
  });

  it('falls back when its time is over', () => {
    const run = start()
      .when(move(900, { until: 10_000 }), 2)
      .when(say(true, 'dana'), 3)
      .whenDue(9_999)
      .thenNothing()
      .whenDue(10_000)
      .then(fact('CeilingMoved', { from_minor: 900, ceiling_minor: 500, cause: 'decayed', by: [] }));
    expect(ceiling(run)).toBe(500);
    expect(run.rows('budget')[0]?.dueAt).toBeNull();
  });

  it.each([
    ['by an agent', move(300, {}, { roles: ['agent'] }), 'ROLE_REQUIRED'],
    ['up by a service account', move(900, {}, { ...BRUNO, principal: 'svc:night' }), 'APPROVER_NOT_A_PERSON'],
    ['that nobody set', move(900, { currency: 'USD' }), 'BUDGET_UNKNOWN'],
    ['to less than nothing', move(-1), 'AMOUNT_INVALID'],
    ['in no unit', move(1, { currency: 'goodwill' }), 'CURRENCY_INVALID'],
    ['until yesterday', move(900, { until: 1 }), 'UNTIL_PAST'],
    ['of another tenant', move(1, { scope: 'tenant', scope_id: 'globex' }), 'SCOPE_MISMATCH'],
    ['of the platform by a tenant', move(1, { scope: 'platform', scope_id: TENANT }), 'ROLE_REQUIRED'],
  ] as const)('is not moved %s', (_what, input, code) => {
    start().when(input, 2).thenNothing().thenAnswer({ status: 'rejected', code });
  });

  it('that is asked for as it stands is left as it is', () => {
    start()
      .when(move(500), 2)
      .thenNothing()
      .thenAnswer({ status: 'accepted', httpStatus: 200, body: { ceiling_minor: 500, until: null } });
  });

  describe('of the platform', () => {
    const ALL = ['administrator', 'platform_administrator'];
    const place = { scope: 'platform', scope_id: TENANT };
    const opening = (roles: string[]) =>
      command('OpenBudget', { ...place, currency: INR, ceiling_minor: 100 }, { principal: 'root', roles });
    const moving = (ceiling: number, roles: string[]) => move(ceiling, place, { principal: 'root', roles });
    const proposed = (): CoreHarness => start().when(opening(ALL), 2).when(moving(9_999, ALL), 3);
    const yes = (roles: string[], approved = true) =>
      command(
        'DecideEscalation',
        { escalation_id: deriveId('esc', PROPOSAL), approved, reason: 'because' },
        { principal: 'dana', roles },
      );

    it.each([[['approver']], [['approver', 'budget_owner']], [['approver', 'administrator', 'budget_owner']]])(
      'is set, moved and raised by nobody who is %j of the tenant that it bounds',
      (roles) => {
        const refused = { httpStatus: 403, code: 'ROLE_REQUIRED' };
        start().when(opening(roles), 2).thenNothing().thenAnswer(refused);
        for (const ceiling of [50, 200])
          start().when(opening(ALL), 2).when(moving(ceiling, roles), 3).thenNothing().thenAnswer(refused);
        proposed().when(yes(roles), 4).thenNothing().thenAnswer(refused);
        proposed()
          .when(yes(roles, false), 4)
          .then(fact('EscalationDecided', { approved: false }));
      },
    );

    it('is raised by two administrators of all tenants, who are those that are asked', () => {
      proposed()
        .then(fact('CeilingProposed', { owner: 'role:platform_administrator' }))
        .when(yes(ALL), 5)
        .then(fact('EscalationDecided'), fact('CeilingMoved', { by: ['root', 'dana'] }));
    });
  });

  it('is set once: as net it is not set as gross by asking again, and who asks is told so', () => {
    const gross = (measure: string, refunds: string) =>
      command('OpenBudget', { scope: 'tenant', scope_id: TENANT, currency: INR, ceiling_minor: 500, measure, refunds });
    for (const measure of ['debt', 'value'])
      start()
        .when(gross(measure, 'gross'), 2)
        .then(fact('BudgetOpened'))
        .when(gross(measure, 'gross'), 3)
        .thenNothing()
        .thenAnswer({ httpStatus: 200, body: { refunds: 'gross' } })
        .when(gross(measure, 'net'), 4)
        .thenNothing()
        .thenAnswer({ httpStatus: 409, code: 'BUDGET_CONFLICT' });
  });

  it('is raised by no yes past its deadline, also where nobody has said yet that it passed', () => {
    const late = start().when(move(900), 2);
    for (const at of [2 + DAY, 3 + DAY])
      late.when(say(true, 'dana'), at).thenNothing().thenAnswer({ httpStatus: 409, code: 'DEADLINE_PASSED' });
    expect(ceiling(late)).toBe(500);
    late.when(say(false, 'dana'), 4 + DAY).then(fact('EscalationDecided', { approved: false }));
    start()
      .when(move(900), 2)
      .when(say(true, 'dana'), 1 + DAY)
      .then(fact('EscalationDecided'), fact('CeilingMoved'));
  });
});
