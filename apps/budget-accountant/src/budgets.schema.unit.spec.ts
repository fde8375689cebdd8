import { describe, expect, it } from '@jest/globals';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { entryView } from '@recourse/contract';
import { harness, memoryView } from '@recourse/testing';
import { budgetsCore, BUDGETS_LOG } from './core.js';
import { changed, decide, open, recorded, refundView, releaseOf, reserve } from './budgets.testing.js';

describe('the records of the budgets log', () => {
  const accountant = harness(budgetsCore(), {
    views: { contracts: refundView().view, entries: memoryView(entryView) },
  });
  const inputs = [
    open('run', 100),
    reserve('a', 50),
    recorded('a', 50),
    changed('a', 'compensation_verified'),
    reserve('b', 500),
    decide('b', true),
    releaseOf('b'),
    recorded('c', 7),
    reserve('d', 0),
    reserve('d', 0, { attempt: 2 }),
  ];
  for (const input of inputs) accountant.when(input, 1);

  it('fit their schemas, each type at least once', async () => {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    await codecs.prepareWriter(BUDGETS_LOG, { register: true });
    for (const { type, body, seq, decidedAt } of accountant.records()) {
      expect(
        codecs.encode(BUDGETS_LOG, type, { ...body, seq, prev_hash: Buffer.alloc(32), decided_at: decidedAt }).length,
      ).toBeGreaterThan(5);
    }
    expect([...new Set(accountant.records().map((record) => record.type))].sort()).toEqual([
      'BudgetEscalated',
      'BudgetOpened',
      'BudgetOverrun',
      'BudgetRefunded',
      'BudgetReleased',
      'BudgetReserved',
      'BudgetRetried',
      'BudgetSettled',
      'EscalationDecided',
    ]);
  });
});
