// An overrun has happened: a no holds its run up, and a later yes lets the run go on.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { decide, open, recorded, reserve, RUN } from './budgets.testing.js';
import type { Who } from './budgets.testing.js';
import { budgetsCore } from './core.js';

const EVE = { principal: 'eve' };

describe.each(WAYS)('an overrun that a person denied, $way', ({ isRebuilt }) => {
  const overrun = (): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    })
      .when(recorded('a', 500), 1)
      .then(fact('BudgetOverrun', {}));
  const denied = (): CoreHarness =>
    overrun()
      .when(decide('a', false), 2)
      .then(fact('EscalationDecided', { approved: false, by: 'dana' }));
  const held = { exceeded: [{ scope: 'run', scope_id: RUN, measure: 'overrun' }] };
  const openOverruns = (desk: CoreHarness) => desk.rows('run_standing').map(({ doc }) => doc['open_overruns']);

  it('holds its run up until one lets it stand: another, or who denied it', () => {
    for (const who of [EVE, { principal: 'dana' }]) {
      const desk = denied().when(reserve('b', 5), 3).then(fact('BudgetEscalated', held));
      desk
        .when(decide('a', true, who), 4)
        .then(fact('EscalationDecided', { approved: true, by: who.principal, debits: [] }))
        .when(decide('a', true, who), 5)
        .thenNothing()
        .thenAnswer({ httpStatus: 200 })
        .when(reserve('c', 5), 6)
        .then(fact('BudgetReserved', {}));
      expect(openOverruns(desk)).toEqual([0]);
      expect(desk.rows('escalation')[0]?.doc).toMatchObject({ phase: 'approved', decided_by: who.principal });
    }
  });

  it('was denied by no program', () => {
    const desk = overrun()
      .when(decide('a', false, { principal: 'svc:bot', roles: ['approver'] }), 2)
      .thenNothing()
      .thenAnswer({ httpStatus: 403, code: 'APPROVER_NOT_A_PERSON' });
    expect(desk.rows('escalation')[0]?.doc).toMatchObject({ phase: 'open' });
  });

  it('is let stand by nobody who may not, and denied no second time by another', () => {
    const desk = denied();
    const askers: readonly (readonly [who: Who, code: string])[] = [
      [{ principal: 'agent-7' }, 'SELF_APPROVAL'],
      [{ principal: 'svc:bot' }, 'APPROVER_NOT_A_PERSON'],
      [{ principal: 'eve', roles: ['agent'] }, 'ROLE_REQUIRED'],
    ];
    for (const [who, code] of askers)
      desk
        .when(decide('a', true, who), 3)
        .thenNothing()
        .thenAnswer({ code });
    desk
      .when(decide('a', false, EVE), 4)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'ESCALATION_DECIDED' });
    expect(openOverruns(desk)).toEqual([1]);
  });

  it('stands once it was let stand: a no comes too late then', () => {
    denied()
      .when(decide('a', true, EVE), 3)
      .when(decide('a', false, EVE), 4)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'ESCALATION_DECIDED' });
  });

  it('is no ceiling, which stays denied', () => {
    denied()
      .when(decide('a', true, EVE), 3)
      .when(open('run', 100), 4)
      .when(reserve('b', 500), 5)
      .then(fact('BudgetEscalated', {}))
      .when(decide('b', false), 6)
      .when(decide('b', true, EVE), 7)
      .thenNothing()
      .thenAnswer({ httpStatus: 409, code: 'ESCALATION_DECIDED' });
  });
});
