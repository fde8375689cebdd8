// A key that is spelt as that of a compensation makes none: what an agent does under one is bounded and counted like all it does.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest, contractView, entryView, parseContract } from '@recourse/contract';
import { fact, harness, memoryView, WAYS } from '@recourse/testing';
import { command, mutationOf, recorded, releaseOf, reserve } from './budgets.testing.js';
import { budgetsCore } from './core.js';

const CAPPED = 'payments.issue_refund';
const AMOUNT = 3_000;

describe.each(WAYS)('an effect whose key is spelt as that of a compensation, $way', ({ isRebuilt }) => {
  const capped = () => {
    const json = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object; // a contract is a JSON object
    const radius = { scope: 'single_subject', max_calls_per_run: 1 };
    const read = parseContract(JSON.stringify({ ...json, blast_radius: radius }));
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const body = contractBody(read.contract);
    const digest = contractDigest(body);
    const contracts = memoryView(contractView);
    contracts.append(CAPPED, fact('ContractRegistered', { name: CAPPED, version: 1, tenant: '*', digest, body }));
    const desk = harness(budgetsCore(), { isRebuilt, views: { contracts, entries: memoryView(entryView) } });
    const calls = () => desk.rows('run_capability').find(({ doc }) => doc['capability'] === CAPPED)?.doc['calls'];
    desk
      .when(reserve('a', AMOUNT, { capability: CAPPED, subject: 'order/1' }), 1)
      .then(fact('BudgetReserved', {}))
      .when(recorded('a', AMOUNT, { digest, capability: CAPPED, subject: 'order/1' }), 2)
      .then(fact('BudgetSettled', {}));
    return { desk, digest, calls };
  };
  const posing = `rev_${mutationOf('a')}`;

  it.each([
    ['of the same capability', posing, CAPPED],
    ['of another', posing, 'wire.send_money'],
    ['of what takes it back, once more', `${posing}_2`, 'payments.reverse_refund'],
    ['of what takes it back, in words of its own', `${posing}x`, 'payments.reverse_refund'],
  ])('is a person’s before it is done: %s', (_what, key, capability) => {
    const exceeded = [{ scope: 'capability', scope_id: capability, measure: 'name' }];
    capped()
      .desk.when(reserve(key, AMOUNT, { capability, subject: 'order/1' }), 3)
      .then(
        fact('BudgetEscalated', { exceeded: capability === CAPPED ? [...exceeded, { measure: 'calls' }] : exceeded }),
      );
  });

  it('is a person’s in another run than that of the effect', () => {
    const asked = { run_id: 'run_2', effect_key: posing, capability: 'payments.reverse_refund', values: [] };
    capped().desk.when(command('ReserveBudget', asked), 3).then(fact('BudgetEscalated', {}));
  });

  it.each([AMOUNT, 0])('is a person’s where it was executed all the same: no cap counts it; it moved %d', (amount) => {
    const { desk, digest } = capped();
    desk.when(recorded(posing, amount, { digest, capability: CAPPED, subject: 'order/1' }), 3).then(
      fact('BudgetOverrun', {
        exceeded: [{ measure: 'name', scope: 'capability', scope_id: CAPPED }, { measure: 'calls' }],
      }),
    );
  });

  it('is none of an effect that never was: reserved, and given back', () => {
    capped()
      .desk.when(reserve('n', 10, { capability: CAPPED, subject: 'order/1' }), 3)
      .when(releaseOf('n'), 4)
      .when(reserve(`rev_${mutationOf('n')}`, AMOUNT, { capability: 'payments.reverse_refund', subject: 'order/1' }), 5)
      .then(fact('BudgetEscalated', {}));
  });

  it('is one where it is what its effect is taken back with: caps bound none', () => {
    const { desk, calls } = capped();
    desk
      .when(reserve(posing, AMOUNT, { capability: 'payments.reverse_refund', subject: 'order/1' }), 3)
      .then(fact('BudgetReserved', { capability: 'payments.reverse_refund' }));
    expect(calls()).toBe(1);
  });
});
