// An agent is one agent however its name is spelt, and an effect is what was executed, whatever was reserved for it.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractBody, contractDigest, contractView, entryView, parseContract } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { command, INR, owes, recorded, refundView, releaseOf, reserve, RUN, TENANT } from './budgets.testing.js';
import { budgetsCore } from './core.js';
import { asOneAccount } from './rules/budget/bounds.decisions.js';
import { emptyBudget } from './rules/budget/budget.decider.js';

const SPELLINGS = ['agent-a', 'Agent-A', 'agent:agent-a', 'user:agent-a', 'AGENT:user:Agent-a'];
const DAY_MS = 86_400_000;

function setOf(agent: string, ceiling_minor: number, more: object = {}) {
  return command('OpenBudget', { scope: 'agent', scope_id: agent, currency: INR, ceiling_minor, ...more });
}
function by(agent_id: string | null, effect: string, amount: number, principal = 'svc:gateway') {
  const values = [{ amount_minor: amount, currency: INR }];
  const asked = { run_id: `run-${effect}`, effect_key: effect, capability: 'wire.send_money', values, agent_id };
  return command('ReserveBudget', asked, { principal });
}

describe.each(WAYS)('the ceiling of an agent, $way', ({ isRebuilt }) => {
  const begun = (): CoreHarness =>
    harness(budgetsCore(), {
      isRebuilt,
      views: { contracts: memoryView(contractView), entries: memoryView(entryView) },
    });

  it.each(SPELLINGS.flatMap((set) => SPELLINGS.map((said) => [set, said] as const)))(
    'that is set for %s bounds what is reserved as %s',
    (set, said) => {
      for (const window of ['life', 'day'] as const)
        begun()
          .when(setOf(set, 1_000, { window }), 1)
          .then(fact('BudgetOpened', { scope_id: set }))
          .when(by('agent-a', 'a', 900), 2)
          .then(fact('BudgetReserved', { agent_id: set }))
          .when(by(said, 'b', 900), 3)
          .then(
            fact('BudgetEscalated', {
              exceeded: [{ scope: 'agent', scope_id: set, used_minor: 900, asked_minor: 900, ceiling_minor: 1_000 }],
            }),
          )
          .when(by(null, 'c', 101, said), 4)
          .then(fact('BudgetEscalated', { exceeded: [{ scope: 'agent' }] }))
          .when(by(said, 'd', 100), 5)
          .then(fact('BudgetReserved', {}));
    },
  );

  it('counts what was reserved under another spelling before it was set, and frees it when it is given back', () => {
    begun()
      .when(by('Agent-A', 'a', 900), 1)
      .then(fact('BudgetReserved', { agent_id: 'Agent-A' }))
      .when(setOf('agent-a', 1_000), 2)
      .then(fact('BudgetOpened', { scope_id: 'agent-a' }))
      .when(by('Agent-A', 'b', 101), 3)
      .then(fact('BudgetEscalated', { exceeded: [{ scope_id: 'agent-a', used_minor: 900 }] }))
      .when(command('ReleaseReservation', { run_id: 'run-a', effect_key: 'a' }), 4)
      .then(fact('BudgetReleased', {}))
      .when(by('user:agent-a', 'c', 1_000), 5)
      .then(fact('BudgetReserved', { agent_id: 'agent-a' }));
  });

  it('is one: set or moved under another spelling it is the one that stands', () => {
    begun()
      .when(setOf('Agent-A', 1_000), 1)
      .then(fact('BudgetOpened', { scope_id: 'Agent-A' }))
      .when(setOf('agent-a', 5_000), 2)
      .thenAnswer({ httpStatus: 409, code: 'BUDGET_CONFLICT' })
      .when(command('MoveCeiling', { scope: 'agent', scope_id: 'user:agent-a', currency: INR, ceiling_minor: 100 }), 3)
      .then(fact('CeilingMoved', { scope_id: 'Agent-A', from_minor: 1_000, ceiling_minor: 100 }));
  });

  it('counts what an agent does past it under another spelling', () => {
    begun()
      .when(setOf('agent-a', 1_000), 1)
      .when(recorded('a', 900, { agent: 'Agent-A' }), 2)
      .then(fact('BudgetOverrun', { agent_id: 'agent-a' }))
      .when(by('agent-a', 'b', 101), 3)
      .then(fact('BudgetEscalated', { exceeded: [{ scope: 'agent', used_minor: 900 }] }));
  });

  it('bounds each what counts under all where two stood under two spellings before, and each is moved by its own name', () => {
    const stood = (scope_id: string, ceiling_minor: number) => {
      const limits = { currency: INR, window: 'life', measure: 'debt', refunds: 'net', ceiling_minor };
      return fact('BudgetOpened', {
        tenant: TENANT,
        scope: 'agent',
        scope_id,
        ...limits,
        by: 'b',
        command_id: scope_id,
      });
    };
    const counted = (effect: string, agent_id: string, amount: number) => {
      const of = { reservation_id: `res_${effect}`, tenant: TENANT, run_id: `run-${effect}`, effect_key: effect };
      const who = { agent_id, capability: 'c', subject_id: null, mutation_id: `mut_${effect}`, expires_at: null };
      return fact('BudgetDebited', { ...of, ...who, debits: owes(amount), reverses_mutation_id: null });
    };
    const move = (scope_id: string, ceiling_minor: number, command_id: string) =>
      command('MoveCeiling', { scope: 'agent', scope_id, currency: INR, ceiling_minor }, { command_id });
    begun()
      .given(stood('agent-a', 1_000), stood('Agent-A', 500), counted('x', 'agent-a', 200), counted('y', 'Agent-A', 200))
      .when(by('user:agent-a', 'a', 101), 1)
      .then(fact('BudgetEscalated', { exceeded: [{ scope_id: 'Agent-A', used_minor: 400, ceiling_minor: 500 }] }))
      .when(move('Agent-A', 450, 'm1'), 2)
      .then(fact('CeilingMoved', { scope_id: 'Agent-A', from_minor: 500, ceiling_minor: 450 }))
      .when(move('agent-a', 430, 'm2'), 3)
      .then(fact('CeilingMoved', { scope_id: 'agent-a', from_minor: 1_000, ceiling_minor: 430 }))
      .when(by('Agent-A', 'b', 31), 4)
      .then(fact('BudgetEscalated', { exceeded: [{ scope_id: 'agent-a', used_minor: 400, ceiling_minor: 430 }] }))
      .when(by('Agent-A', 'c', 30), 5)
      .then(fact('BudgetReserved', {}))
      .when(by('agent-a', 'd', 1), 6)
      .then(fact('BudgetEscalated', { exceeded: [{ scope_id: 'agent-a', used_minor: 430 }] }));
  });

  it('bounds another agent by nothing', () => {
    begun()
      .when(setOf('agent-a', 100), 1)
      .when(by('agent-ab', 'a', 900), 2)
      .then(fact('BudgetReserved', { agent_id: 'agent-ab' }))
      .when(by('Svc:agent-a', 'b', 900), 3)
      .then(fact('BudgetReserved', { agent_id: 'Svc:agent-a' }));
  });
});

it('ceilings of one agent under several spellings each bound what counts in their window under any of them', () => {
  const key = { tenant: 't', scope: 'agent', currency: INR, window: 'day' } as const;
  const at = 3 * DAY_MS;
  const one = { ...emptyBudget({ ...key, scope_id: 'a' }), window_at: at, used_minor: 1, moved_minor: 2 };
  const other = { ...emptyBudget({ ...key, scope_id: 'A' }), window_at: at, used_minor: 10, moved_minor: 20 };
  const old = { ...other, scope_id: 'user:a', window_at: 0, used_minor: 700, raised_minor: 5 };
  const of = { window_at: at, used_minor: 11, moved_minor: 22 };
  expect(asOneAccount([one, other, old], at + 1)).toMatchObject([of, of, { ...of, raised_minor: 0 }]);
  expect(asOneAccount([one], at + 1)).toEqual([one]);
});

const CAPPED = 'payments.issue_refund';
/** As much as taking it back is declared to cost at least, so that whatever is reserved for it holds that. */
const AMOUNT = 3_000;

describe.each(WAYS)('an effect that is executed as something else than was reserved, $way', ({ isRebuilt }) => {
  /** A refund whose contract bounds what a run makes of it. */
  const under = (radius: object) => {
    const json = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object; // a contract is a JSON object
    const read = parseContract(JSON.stringify({ ...json, blast_radius: { scope: 'single_subject', ...radius } }));
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const body = contractBody(read.contract);
    const digest = contractDigest(body);
    const contracts = memoryView(contractView);
    contracts.append(CAPPED, fact('ContractRegistered', { name: CAPPED, version: 1, tenant: '*', digest, body }));
    const desk = harness(budgetsCore(), { isRebuilt, views: { contracts, entries: memoryView(entryView) } });
    const refunded = (effect: string, subject = 'order/1') =>
      recorded(effect, AMOUNT, { digest, capability: CAPPED, subject });
    const calls = (name: string) => desk.rows('run_capability').find(({ doc }) => doc['capability'] === name)?.doc;
    return { desk, refunded, calls };
  };

  it('is a call of what was executed: the second of one is a person’s', () => {
    const { desk, refunded, calls } = under({ max_calls_per_run: 1 });
    desk
      .when(reserve('a', AMOUNT, { capability: 'foo.bar', subject: 'order/1' }), 1)
      .when(refunded('a'), 2)
      .then(fact('BudgetSettled', { capability: CAPPED }));
    expect(calls('foo.bar')).toMatchObject({ calls: 0, subjects: 0, moved: { [INR]: 0 } });
    expect(calls(CAPPED)).toMatchObject({ calls: 1, subjects: 1, moved: { [INR]: AMOUNT } });
    desk
      .when(reserve('b', AMOUNT, { capability: 'foo.bar', subject: 'order/1' }), 3)
      .when(refunded('b'), 4)
      .then(
        fact('BudgetSettled', { capability: CAPPED }),
        fact('BudgetOverrun', {
          debits: [],
          exceeded: [{ scope: 'capability', scope_id: CAPPED, measure: 'calls', used_minor: 1, ceiling_minor: 1 }],
        }),
      );
    expect(calls(CAPPED)).toMatchObject({ calls: 2, subjects: 1, moved: { [INR]: 2 * AMOUNT } });
  });

  it('touches the subject that was executed: the second of one is a person’s', () => {
    const { desk, refunded, calls } = under({ max_subjects_per_run: 1 });
    const held = { capability: CAPPED, subject: 'order/1' };
    desk
      .when(reserve('a', AMOUNT, held), 1)
      .when(refunded('a', 'order/1'), 2)
      .then(fact('BudgetSettled', { capability: null, subject_id: null }))
      .when(reserve('b', AMOUNT, held), 3)
      .when(refunded('b', 'order/2'), 4)
      .then(
        fact('BudgetSettled', { capability: CAPPED }),
        fact('BudgetOverrun', { debits: [], exceeded: [{ measure: 'subjects', used_minor: 1, ceiling_minor: 1 }] }),
      );
    expect(calls(CAPPED)).toMatchObject({ calls: 2, subjects: 2 });
  });

  it('is nobody’s where it is within its bounds, whatever counts of its own reservation', () => {
    const { desk, refunded, calls } = under({ max_calls_per_run: 1, max_subjects_per_run: 1 });
    desk
      .when(
        command('OpenBudget', { scope: 'run', scope_id: RUN, currency: INR, measure: 'value', ceiling_minor: AMOUNT }),
        1,
      )
      .when(reserve('a', AMOUNT, { capability: CAPPED, subject: 'order/1' }), 2)
      .then(fact('BudgetReserved', {}))
      .when(refunded('a', 'order/2'), 3)
      .then(fact('BudgetSettled', { capability: CAPPED }));
    expect(calls(CAPPED)).toMatchObject({ calls: 1, subjects: 1 });
    desk.when(refunded('a', 'order/3'), 4).thenNothing();
  });

  it('is a call of what was executed also where what it was asked for as was given back', () => {
    const { desk, refunded, calls } = under({ max_calls_per_run: 1 });
    for (const [effect, now, exceeded] of [
      ['a', 1, []],
      ['b', 2, [{ scope: 'capability', scope_id: CAPPED, measure: 'calls', used_minor: 1, ceiling_minor: 1 }]],
    ] as const)
      desk
        .when(reserve(effect, 0, { capability: 'foo.bar', subject: 'order/1' }), now)
        .when(releaseOf(effect), now)
        .when(refunded(effect), now)
        .then(fact('BudgetOverrun', { capability: CAPPED, exceeded }));
    expect(calls('foo.bar')).toMatchObject({ calls: 0, subjects: 0 });
    expect(calls(CAPPED)).toMatchObject({ calls: 2, subjects: 1, moved: { [INR]: 2 * AMOUNT } });
  });
});

describe.each(WAYS)('an effect whose record says less than is needed, $way', ({ isRebuilt }) => {
  const begun = (contracts = refundView().view): CoreHarness =>
    harness(budgetsCore(), { isRebuilt, views: { contracts, entries: memoryView(entryView) } });
  const { digest } = refundView();

  it.each([['nothing'], [-400_000], [2 ** 53], [4e25], [1.5]])(
    'is a person’s where it was reserved and moved %s: nobody can read how much',
    (amount) => {
      const consequence = typeof amount === 'number' ? [{ amount_minor: amount, currency: INR }] : [];
      begun()
        .when(reserve('a', 1, { capability: CAPPED }), 1)
        .when(recorded('a', null, { digest, capability: CAPPED, consequence }), 2)
        .then(
          fact('BudgetSettled', { debits: [{ value_minor: 1 }] }),
          fact('BudgetOverrun', { debits: [], exceeded: [{ scope: 'run', measure: 'unread' }] }),
        );
    },
  );

  it('is a person’s also where what was reserved was given back before', () => {
    begun()
      .when(reserve('a', 1, { capability: CAPPED }), 1)
      .when(releaseOf('a'), 2)
      .when(recorded('a', null, { digest, capability: CAPPED, consequence: [] }), 3)
      .then(fact('BudgetOverrun', { exceeded: [{ measure: 'unread' }] }));
  });

  it('waits for its contract, also where it moves nothing that can be read', () => {
    begun(memoryView(contractView)).whenBehind(
      recorded('a', null, { digest, capability: CAPPED, consequence: [] }),
      1_000,
    );
  });
});
