// A ceiling that two people raised for a while is not higher for longer: whatever else moves meanwhile, it falls back.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { command, INR, open, reserve, RUN, TENANT } from './budgets.testing.js';
import { budgetsCore } from './core.js';
import { emptyBudget } from './rules/budget/budget.decider.js';
import { withMoved } from './rules/budget/ceiling.decider.js';

const BRUNO = { principal: 'bruno', roles: ['budget_owner', 'approver'] };

describe.each(WAYS)('a ceiling that is raised for a while, $way', ({ isRebuilt }) => {
  const opened = (): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    })
      .when(open('run', 1_000), 1)
      .when(command('OpenBudget', { ...place, measure: 'value', ceiling_minor: 1_000 }), 1);
  const place = { scope: 'run', scope_id: RUN, currency: INR };
  const move = (command_id: string, ceiling_minor: number, until: number | null, measure = 'debt') =>
    command('MoveCeiling', { ...place, measure, ceiling_minor, until }, { ...BRUNO, command_id });
  const yes = (command_id: string) =>
    command(
      'DecideEscalation',
      { escalation_id: deriveId('esc', deriveId('cei', TENANT, command_id)), approved: true, reason: 'because' },
      { principal: 'dana', command_id: `yes-${command_id}` },
    );
  /** Two people raise it. */
  const raised = (desk: CoreHarness, at: number, ...how: Parameters<typeof move>) =>
    desk
      .when(move(...how), at)
      .then(fact('CeilingProposed', {}))
      .when(yes(how[0]), at)
      .then(fact('EscalationDecided', {}), fact('CeilingMoved', { cause: 'raised' }));
  const ceilings = (desk: CoreHarness) => {
    const { ceiling_minor, value_ceiling_minor } =
      desk.rows('budget').find(({ doc }) => doc['scope'] === 'run')?.doc ?? {};
    return [ceiling_minor, value_ceiling_minor];
  };

  it.each([
    ['longer', 20_000],
    ['less long', 5_000],
  ])('and further for %s falls back to what was set for good', (_how, until) => {
    const desk = raised(raised(opened(), 10, 'a', 5_000, 10_000), 20, 'b', 8_000, until);
    expect(ceilings(desk.whenDue(until - 1))).toEqual([8_000, 1_000]);
    expect(ceilings(desk.whenDue(until))).toEqual([1_000, 1_000]);
    expect(ceilings(desk.whenDue(30_000))).toEqual([1_000, 1_000]);
  });

  it.each([
    ['for good', null],
    ['for longer', 20_000],
  ])('and lowered %s by one of them falls back all the same', (_how, until) => {
    const desk = raised(opened(), 10, 'a', 5_000, 10_000)
      .when(move('b', 4_999, until), 20)
      .then(fact('CeilingMoved', { from_minor: 5_000, ceiling_minor: 4_999, cause: 'lowered' }));
    expect(ceilings(desk.whenDue(9_999))).toEqual([4_999, 1_000]);
    expect(ceilings(desk.whenDue(10_000))).toEqual([1_000, 1_000]);
    expect(ceilings(desk.whenDue(30_000))).toEqual([1_000, 1_000]);
  });

  it('falls back when its time is over, whatever is raised of what it moves: each in its time', () => {
    const desk = raised(raised(opened(), 10, 'a', 5_000, 10_000), 20, 'b', 8_000, 20_000, 'value');
    expect(ceilings(desk.whenDue(9_999))).toEqual([5_000, 8_000]);
    expect(ceilings(desk.whenDue(10_000))).toEqual([1_000, 8_000]);
    expect(ceilings(desk.whenDue(20_000))).toEqual([1_000, 1_000]);
    expect(desk.rows('budget').map(({ dueAt }) => dueAt)).toEqual(desk.rows('budget').map(() => null));
    const other = raised(raised(opened(), 10, 'a', 5_000, 20_000), 20, 'b', 8_000, 10_000, 'value');
    expect(ceilings(other.whenDue(10_000))).toEqual([5_000, 1_000]);
    expect(ceilings(other.whenDue(20_000))).toEqual([1_000, 1_000]);
  });

  describe('and moved to what it stands at', () => {
    it('for less long is lowered by one of them', () => {
      const desk = raised(opened(), 10, 'a', 5_000, 10_000)
        .when(move('b', 5_000, 4_000), 20)
        .then(fact('CeilingMoved', { from_minor: 5_000, ceiling_minor: 5_000, until: 4_000, cause: 'lowered' }));
      expect(ceilings(desk.whenDue(3_999))).toEqual([5_000, 1_000]);
      expect(ceilings(desk.whenDue(4_000))).toEqual([1_000, 1_000]);
      expect(ceilings(desk.whenDue(30_000))).toEqual([1_000, 1_000]);
    });

    it.each([
      ['for longer', 20_000, [5_000, 1_000]],
      ['for good', null, [5_000, 5_000]],
    ] as const)('%s is raised by two people, and by none alone', (_how, until, [then, later]) => {
      const asked = raised(opened(), 10, 'a', 5_000, 10_000).when(move('b', 5_000, until), 20);
      asked.then(fact('CeilingProposed', { from_minor: 5_000, ceiling_minor: 5_000, until }));
      expect(ceilings(asked.whenDue(10_000))).toEqual([1_000, 1_000]);
      asked.when(yes('b'), 10_001).thenNothing().thenAnswer({ httpStatus: 409, code: 'CEILING_MOVED' });
      const desk = raised(raised(opened(), 10, 'a', 5_000, 10_000), 20, 'b', 5_000, until);
      expect(ceilings(desk.whenDue(19_999))).toEqual([then, 1_000]);
      expect(ceilings(desk.whenDue(30_000))).toEqual([later, 1_000]);
    });

    it.each([
      ['as long', 10_000],
      ['as long, where it stands for good', null],
    ])('%s is left as it is, and whoever asks is told how long that is', (_how, until) => {
      const desk = until === null ? opened() : raised(opened(), 10, 'a', 5_000, 10_000);
      desk
        .when(move('b', until === null ? 1_000 : 5_000, 10_000), 20)
        .thenNothing()
        .thenAnswer({ httpStatus: 200, body: { until } });
    });

    it('where it is lower for a while, is lower for longer by one, and for less long by two', () => {
      const lowered = () =>
        opened()
          .when(move('a', 400, 10_000), 10)
          .then(fact('CeilingMoved', { cause: 'lowered' }));
      const longer = lowered()
        .when(move('b', 400, 20_000), 20)
        .then(fact('CeilingMoved', { cause: 'lowered' }));
      expect(ceilings(longer.whenDue(19_999))).toEqual([400, 1_000]);
      expect(ceilings(longer.whenDue(20_000))).toEqual([1_000, 1_000]);
      const ever = lowered()
        .when(move('b', 400, null), 20)
        .then(fact('CeilingMoved', { cause: 'lowered' }));
      expect(ceilings(ever.whenDue(30_000))).toEqual([400, 1_000]);
      const sooner = raised(lowered(), 20, 'b', 400, 5_000);
      expect(ceilings(sooner.whenDue(4_999))).toEqual([400, 1_000]);
      expect(ceilings(sooner.whenDue(5_000))).toEqual([1_000, 1_000]);
    });
  });

  describe('whose time is over before a record says so', () => {
    const over = () => raised(opened(), 10, 'a', 5_000, 10_000);

    it('bounds as what it falls back to', () => {
      over()
        .when(reserve('x', 1_001), 9_999)
        .then(fact('BudgetEscalated', { exceeded: [{ measure: 'value' }] }));
      over()
        .when(reserve('x', 1_001), 10_000)
        .then(fact('BudgetEscalated', { exceeded: [{ measure: 'debt', ceiling_minor: 1_000 }, { measure: 'value' }] }));
    });

    it('and was lower for a while, bounds as what it was', () => {
      const lowered = opened().when(move('a', 400, 10_000), 10);
      lowered.when(reserve('x', 401), 9_999).then(fact('BudgetEscalated'));
      lowered.when(reserve('y', 401), 10_000).then(fact('BudgetReserved'));
    });

    it('is moved from what it falls back to', () => {
      over()
        .when(move('b', 2_000, null), 10_000)
        .then(fact('CeilingProposed', { from_minor: 1_000, ceiling_minor: 2_000 }));
      over()
        .when(command('OpenBudget', { ...place, ceiling_minor: 1_000 }), 10_000)
        .thenAnswer({ httpStatus: 200 });
      over()
        .when(move('b', 6_000, null), 20)
        .when(yes('b'), 10_000)
        .thenNothing()
        .thenAnswer({ httpStatus: 409, code: 'CEILING_MOVED' });
    });
  });

  it('stays where it is lowered to for good below what it would fall back to, and where two raise it for good', () => {
    const lowered = raised(opened(), 10, 'a', 5_000, 10_000).when(move('b', 500, null), 20);
    expect(ceilings(lowered.whenDue(30_000))).toEqual([500, 1_000]);
    const kept = raised(raised(opened(), 10, 'a', 5_000, 10_000), 20, 'b', 6_000, null);
    expect(ceilings(kept.whenDue(30_000))).toEqual([6_000, 1_000]);
  });
});

describe('a ceiling of before, that was lowered between a proposal and the yes to it', () => {
  it('falls back no higher than it was lowered to before the other one agreed', () => {
    const key = { tenant: TENANT, scope: 'run', scope_id: RUN, currency: INR, window: 'life' } as const;
    const raise = { measure: 'debt', ceiling_minor: 5_000, from_minor: 1_000, until: 10_000, cause: 'raised' } as const;
    expect(withMoved({ ...emptyBudget(key), ceiling_minor: 100 }, raise)).toMatchObject({
      ceiling_minor: 5_000,
      decay: { at: 10_000, to_minor: 100 },
    });
  });
});
