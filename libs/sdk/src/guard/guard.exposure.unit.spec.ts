import { describe, expect, it } from '@jest/globals';
import { EXPOSURE } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { ToolRejected } from '../tool/tool.js';
import { MemoryBudget } from './budget.memory.js';
import type { Budget, ReservationRequest } from './budget.port.js';
import { refund, refundCall } from './guard.testing.js';

const personal = { args: { order: 'order of asha@example.org', amount_minor: 500 } };
const abroad: Partial<Contract> = { approval_mode: 'network' };

/** A budget that says what it was asked. */
function listening(budget: Budget): { readonly budget: Budget; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const note = (word: string, { values }: ReservationRequest): void => {
    asked.push([word, ...values.map(({ amount_minor, currency }) => `${String(amount_minor)} ${currency}`)].join(' '));
  };
  return {
    asked,
    budget: {
      reserve: (request) => {
        note('reserve', request);
        return budget.reserve(request);
      },
      release: (request) => {
        note('release', request);
        return budget.release(request);
      },
    },
  };
}

describe('a guarded call that discloses personal data (D61)', () => {
  it('reserves the disclosure beside the money, before it is made', async () => {
    const { budget, asked } = listening(new MemoryBudget(500, 1));
    const { run, calls } = refund({ contract: abroad, options: { budget } });
    expect(await run(personal)).toMatchObject({ kind: 'succeeded' });
    expect([asked, calls()]).toEqual([[`reserve 500 INR 1 ${EXPOSURE}`], 1]);
  });

  it('is not made where nobody allowed a disclosure, and tells nobody', async () => {
    const { run, calls, told } = refund({ contract: abroad, options: { budget: new MemoryBudget(500) } });
    expect(await run(personal)).toMatchObject({ kind: 'refused', code: 'BUDGET_ESCALATED' });
    expect([calls(), told()]).toEqual([0, []]);
  });

  it('gives back both when the tool did nothing', async () => {
    const budget = new MemoryBudget(500, 1);
    const failing = refund({
      contract: abroad,
      tool: { execute: () => Promise.reject(new ToolRejected('closed', 'closed')) },
      options: { budget },
    });
    expect(await failing.run(personal)).toMatchObject({ kind: 'failed' });
    expect(await refund({ contract: abroad, options: { budget } }).run({ ...personal, stepId: 'again' })).toMatchObject(
      { kind: 'succeeded' },
    );
  });
});

describe('a guarded call that discloses nothing', () => {
  it.each([
    ["whose arguments are nobody's", abroad, {}],
    ['whose arguments stay here', { approval_mode: 'local_write' } as const, personal],
  ])('%s reserves its money alone', async (_, contract, call) => {
    const { budget, asked } = listening(new MemoryBudget(500_000));
    await refund({ contract, options: { budget } }).run({ ...refundCall, ...call });
    expect(asked.every((word) => word.endsWith('INR'))).toBe(true);
    expect(asked).toHaveLength(1);
  });
});
