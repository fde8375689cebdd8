// Who reserves in the name of one agent and acts as another has found no way past the ceilings of the one that acts.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { command, decide, INR, mutationOf, recorded, refundView, releaseOf, RUN } from './budgets.testing.js';
import { budgetsCore } from './core.js';

describe.each(WAYS)('an effect of an agent that is reserved in the name of another, $way', ({ isRebuilt }) => {
  /** A program that speaks for many reserves in the name of one of them. */
  const reservedFor = (agent_id: string | null, principal = 'svc:gateway'): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    })
      .when(
        command(
          'ReserveBudget',
          {
            run_id: RUN,
            effect_key: 'a',
            capability: 'wire.send_money',
            values: [{ amount_minor: 100, currency: INR }],
            agent_id,
          },
          { principal },
        ),
        1,
      )
      .then(fact('BudgetReserved', {}));

  it.each([
    ['another agent', 'agent-1', 'svc:gateway'],
    ['nobody, by a program of another name', null, 'svc:gateway'],
    ['itself, by a program that acts as another', 'mallory', 'agent:mallory'],
  ])(
    'is a person’s where it was reserved for %s, and counts as an overrun of the one that acted',
    (_whom, agent, principal) => {
      const desk = reservedFor(agent, principal);
      desk.when(recorded('a', 100, { agent: 'agent-9' }), 2).then(
        fact('BudgetSettled', {}),
        fact('BudgetOverrun', {
          debits: [],
          agent_id: 'agent-9',
          mutation_id: mutationOf('a'),
          exceeded: [{ scope: 'agent', scope_id: 'agent-9', measure: 'name' }],
        }),
      );
      expect(desk.rows('escalation').map(({ doc }) => doc)).toMatchObject([{ about: 'overrun', phase: 'open' }]);
    },
  );

  it.each([
    ['was given back', 100, [releaseOf('a', { principal: 'svc:gateway' })]],
    ['a person denied', 900, [decide('a', false)]],
    ['a person is asked about', 900, []],
  ])('that %s is a person’s all the same, and counts on the account of the one that acted', (_end, amount, ends) => {
    const ceiling = (scope_id: string) => ({ scope: 'agent', scope_id, currency: INR, ceiling_minor: 500 });
    const asked = { run_id: RUN, effect_key: 'a', capability: 'wire.send_money', agent_id: 'agent-1' };
    const values = [{ amount_minor: amount, currency: INR }];
    const desk = harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    });
    for (const agent of ['agent-1', 'agent-9']) desk.when(command('OpenBudget', ceiling(agent)), 1);
    desk.when(command('ReserveBudget', { ...asked, values }, { principal: 'svc:gateway' }), 2);
    for (const input of ends) desk.when(input, 3);
    desk.when(recorded('a', amount, { agent: 'agent-9' }), 4).then(
      fact('BudgetOverrun', {
        agent_id: 'agent-9',
        exceeded: [
          { scope: 'agent', scope_id: 'agent-9', measure: 'name' },
          ...(amount > 500 ? [{ scope: 'agent', scope_id: 'agent-9', measure: 'debt' }] : []),
        ],
      }),
    );
    const used = desk.rows('budget').filter(({ doc }) => doc['scope'] === 'agent');
    expect(used.map(({ doc }) => [doc['scope_id'], doc['used_minor']])).toEqual([
      ['agent-1', 0],
      ['agent-9', amount],
    ]);
  });

  it('is refused to the one that acts, who is told before that it is not theirs to use', () => {
    const asks = (effect_key: string, principal: string, agent_id: string | null = null) =>
      command(
        'ReserveBudget',
        {
          run_id: RUN,
          effect_key,
          capability: 'wire.send_money',
          values: [{ amount_minor: 100, currency: INR }],
          agent_id,
        },
        { principal },
      );
    const desk = reservedFor('agent-1', 'agent:mallory');
    for (const input of [asks('a', 'agent:agent-9'), asks('a', 'svc:gateway', 'agent-9'), asks('a', 'svc:gateway')])
      desk.when(input, 2).thenNothing().thenAnswer({ httpStatus: 409, code: 'RESERVATION_CONFLICT' });
    for (const input of [asks('a', 'agent-1'), asks('a', 'svc:gateway', 'agent:Agent-1')])
      desk
        .when(input, 3)
        .thenNothing()
        .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } });
  });

  it('is answered to whoever takes an effect back, in whatever name they do', () => {
    const { view, digest } = refundView();
    const desk = harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: view, entries: memoryView(entryView) },
    });
    const effect_key = `rev_${mutationOf('a')}`;
    const values = [{ amount_minor: 100, currency: INR }];
    const asks = (principal: string) =>
      command(
        'ReserveBudget',
        { run_id: RUN, effect_key, capability: 'payments.reverse_refund', values },
        { principal },
      );
    desk
      .when(recorded('a', 100, { capability: 'payments.issue_refund', digest }), 1)
      .when(asks('svc:worker-1'), 2)
      .then(fact('BudgetReserved', {}))
      .when(asks('svc:worker-2'), 3)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { phase: 'reserved' } });
  });

  it('is settled where it was reserved for the one that acts, however it spells that', () => {
    for (const [agent, principal] of [
      ['agent-9', 'svc:gateway'],
      ['agent:Agent-9', 'svc:gateway'],
      [null, 'agent:agent-9'],
      [null, 'agent-9'],
    ] as const)
      reservedFor(agent, principal)
        .when(recorded('a', 100, { agent: 'agent-9' }), 2)
        .then(fact('BudgetSettled', {}));
  });
});
