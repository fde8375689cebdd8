// What a compensation leaves behind itself: a debt under its own contract, whatever it gave back (A62, B9).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, contractView, entryView, parseContract } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { fact, harness, logged, memoryView, WAYS } from '@recourse/testing';
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
  reserve,
  RUN,
  TENANT,
} from './budgets.testing.js';

const view = memoryView(contractView);
const digestOf = (name: string): Buffer => {
  const read = parseContract(readFileSync(`examples/contracts/${name}.json`, 'utf8'));
  if (!read.ok) throw new Error('the example parses');
  const body = contractBody(read.contract);
  const digest = contractDigest(body);
  view.append(name, fact('ContractRegistered', { name, version: 1, tenant: '*', digest, body }));
  return digest;
};
const [REFUND, REVERSE] = [digestOf('payments.issue_refund'), digestOf('payments.reverse_refund')];

/** The compensation of an effect, as the ledger tells it. */
function compensation(effect: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    compensation_id: mutationOf(`rev_${effect}`),
    effect_key: `rev_${effect}`,
    reverses_mutation_id: mutationOf(effect),
    contract_digest: REVERSE,
    reversal_class: 'irreversible',
    capability: 'payments.reverse_refund',
    subject_ref: 'order/1',
    consequence: [{ amount_minor: 400, currency: INR }],
    execution_state: 'succeeded',
    agent_id: 'agent-7',
    initiator: 'ada',
    ...more,
  };
}

function executed(...members: readonly object[]): RecordInput {
  const body = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', members };
  return logged('recourse.mutations', 'CompensationsExecuted', body, 3, { partition: 3 });
}

const openOf = (scope_id: string, ceiling_minor: number, more: object = {}): RecordInput =>
  command('OpenBudget', { scope: 'agent', scope_id, currency: INR, ceiling_minor, ...more });

describe.each(WAYS)('a compensation and its debt, $way', ({ isRebuilt }) => {
  const start = () => harness(budgetsCore(), { isRebuilt, views: { contracts: view, entries: memoryView(entryView) } });
  const within = (run: number, tenant: number) => start().when(open('run', run), 1).when(open('tenant', tenant), 2);
  const used = (accountant: CoreHarness) =>
    accountant.rows('budget').find(({ doc }) => doc['scope'] === 'run')?.doc['used_minor'];

  it('counts by the class of its own contract, when what it undid gives its debt back', () => {
    const accountant = within(5_000, 5_000)
      .when(recorded('a', 30_000, { digest: REFUND }), 3)
      .when(changed('a', 'compensation_verified'), 4)
      .then(fact('BudgetRefunded', { members: [{ debits: owes(3_000, INR, 30_000) }] }))
      .when(executed(compensation('a')), 5)
      .then(fact('BudgetDebited', { reverses_mutation_id: mutationOf('a'), debits: owes(400) }));
    expect(used(accountant)).toBe(400);
  });

  it('is debited once, however often it is told', () => {
    const accountant = within(1_000, 1_000)
      .when(executed(compensation('a')), 3)
      .when(executed(compensation('a')), 4)
      .then();
    expect(used(accountant)).toBe(400);
  });

  it('beyond a ceiling is debited all the same, and a person is asked', () => {
    const accountant = within(399, 1_000)
      .when(executed(compensation('a')), 3)
      .then(fact('BudgetOverrun', { debits: owes(400), parties: ['agent-7', 'ada'] }));
    expect(used(accountant)).toBe(400);
  });

  it('that says it cost more than is counted is a person’s, and nothing of it is counted', () => {
    const accountant = within(1_000, 1_000)
      .when(executed(compensation('a', { consequence: [{ amount_minor: 1e15, currency: INR }] })), 3)
      .then(fact('BudgetOverrun', { debits: [], exceeded: [{ measure: 'unread' }] }));
    expect(used(accountant)).toBe(0);
  });

  it('of a leg counts after those before it', () => {
    within(700, 1_000)
      .when(executed(compensation('a'), compensation('b')), 3)
      .then(fact('BudgetDebited', { debits: owes(400) }), fact('BudgetOverrun', { debits: owes(400) }));
  });

  describe('of a leg of several agents', () => {
    const both = [compensation('a'), compensation('b', { agent_id: 'agent-8' })];
    const orders = [
      ['the one first', both],
      ['the other first', both.toReversed()],
    ] as const;
    const bounded = (one: number, other: number) =>
      within(1_000, 1_000).when(openOf('agent-7', one), 2).when(openOf('agent-8', other), 2);

    it.each(orders)('counts at the ceilings of its own agent, %s', (_order, members) => {
      bounded(500, 500)
        .when(executed(...members), 3)
        .then(fact('BudgetDebited', {}), fact('BudgetDebited', {}));
    });

    it.each(orders)('accuses the agent whose ceiling it exceeds and no other, %s', (_order, members) => {
      const { records } = bounded(500, 300)
        .when(executed(...members), 3)
        .decision();
      expect(records.filter(({ type }) => type === 'BudgetOverrun')).toMatchObject([
        { body: { agent_id: 'agent-8', exceeded: [{ scope: 'agent', scope_id: 'agent-8', ceiling_minor: 300 }] } },
      ]);
    });
  });

  it('of a leg counts after one that was reserved only what that one has used', () => {
    within(800, 1_000)
      .when(reserve('rev_a', 400, { capability: 'payments.reverse_refund' }), 3)
      .when(executed(compensation('a'), compensation('b')), 4)
      .then(fact('BudgetSettled', { debits: owes(400) }), fact('BudgetDebited', { debits: owes(400) }));
  });

  it('of a leg counts after those before it also in a window that begins with it', () => {
    start()
      .when(openOf(RUN, 700, { scope: 'run', window: 'hour' }), 1)
      .when(executed(compensation('a'), compensation('b')), 7_200_000)
      .then(fact('BudgetDebited', {}), fact('BudgetOverrun', { exceeded: [{ window: 'hour', used_minor: 400 }] }));
  });

  it('that somebody reserved uses the reservation', () => {
    const accountant = within(1_000, 1_000)
      .when(reserve('rev_a', 400, { capability: 'payments.reverse_refund' }), 3)
      .when(executed(compensation('a')), 4)
      .then(fact('BudgetSettled', { debits: owes(400) }));
    expect(used(accountant)).toBe(400);
  });

  it.each(['failed', 'uncertain'])('that %s leaves none', (execution_state) => {
    within(1_000, 1_000)
      .when(executed(compensation('a', { execution_state })), 3)
      .then();
  });

  describe('as the cost of a recovery', () => {
    const costs = (accountant: CoreHarness) =>
      accountant.rows('recovery_cost').map(({ doc: { currency, amount_minor } }) => [currency, amount_minor]);
    const key = `rev_${mutationOf('a')}`;
    const taken = { effect_key: key, compensation_id: mutationOf(key) };
    const reversal = { capability: 'payments.reverse_refund' };

    it.each<readonly [string, number, number | null, object, number]>([
      ['that nobody reserved', 5_000, null, {}, 400],
      ['that nobody reserved, beyond a ceiling', 300, null, {}, 400],
      ['that somebody reserved', 5_000, 400, {}, 400],
      ['that was reserved for more', 5_000, 900, {}, 400],
      ['that was reserved for less', 5_000, 100, {}, 400],
      ['that was asked for, and that nobody let through', 300, 100, {}, 400],
      ['of a further call', 5_000, 400, { effect_key: `${key}_2` }, 400],
    ])('is what it was debited in all: one %s', (_what, ceiling, reserved, more, cost) => {
      const accountant = within(ceiling, 5_000).when(recorded('a', 1_000, { digest: REFUND }), 3);
      const effectKey = 'effect_key' in more ? String(more.effect_key) : key;
      if (reserved !== null) accountant.when(reserve(effectKey, reserved, reversal), 4);
      accountant.when(executed(compensation('a', { ...taken, ...more })), 5);
      expect(costs(accountant)).toEqual([[INR, cost]]);
    });

    it.each([true, false])('is nothing that an agent does under such a key; reserved before: %s', (isReserved) => {
      const accountant = within(5_000, 5_000).when(recorded('a', 1_000, { digest: REFUND }), 3);
      if (isReserved) accountant.when(reserve(key, 400), 4).when(decide(key, true), 5);
      accountant.when(recorded(key, 400), 6);
      expect(accountant.decision().records.map(({ type }) => type)).toContain('BudgetOverrun');
      expect(costs(accountant)).toEqual(isReserved ? [[INR, 0]] : []);
    });
  });

  it('of no known value leaves none, and one without a contract counts in full', () => {
    within(1_000, 1_000)
      .when(executed(compensation('a', { consequence: [], contract_digest: null })), 3)
      .then()
      .when(executed(compensation('b', { contract_digest: null })), 4)
      .then(fact('BudgetDebited', { debits: owes(400) }));
  });
});
