// All that a call leaves behind is reserved before it is made: every unit in one question, and a person's answer is waited for.
import { describe, expect, it } from '@jest/globals';
import type { ContractDraft } from '@recourse/contract';
import type { Clock } from '@recourse/kernel';
import { MemoryBudget } from './budget.memory.js';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';
import { refund } from './guard.testing.js';

/** A budget that gives these answers, the last one again and again, and says what it was asked. */
function answering(...answers: readonly ReservationAnswer[]): {
  readonly budget: Budget;
  readonly asked: readonly ReservationRequest[];
} {
  const asked: ReservationRequest[] = [];
  return {
    asked,
    budget: {
      reserve: (request) => {
        asked.push(request);
        return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? RESERVED);
      },
      release: () => Promise.resolve('released'),
    },
  };
}
const RESERVED: ReservationAnswer = { kind: 'reserved', reservationId: 'res_1' };
const ESCALATED: ReservationAnswer = { kind: 'escalated', code: 'CEILING_EXCEEDED' };
const DENIED: ReservationAnswer = { kind: 'refused', code: 'RESERVATION_DENIED' };

/** Time that passes as it is slept. */
function sleeping(): Clock {
  let at = 5_000;
  return {
    now: () => at,
    monotonic: () => at,
    sleep: (ms) => {
      at += ms;
      return Promise.resolve();
    },
    alarm: () => () => undefined,
  };
}

describe('what a guarded call leaves behind', () => {
  it('is reserved in every unit by one question, with whom it is for and what it is about (D11)', async () => {
    const { budget, asked } = answering();
    const contract: ContractDraft = {
      consequence: { money: 'args.amount_minor + 100', comms: '2', commitments: 'args.amount_minor > 1000 ? 1 : 0' },
    };
    expect(await refund({ contract, options: { budget } }).run({ reach: 'tenant' })).toMatchObject({
      kind: 'succeeded',
    });
    expect(asked).toEqual([
      expect.objectContaining({
        agentId: 'agent',
        initiator: 'asha',
        subjectRef: '4711',
        reach: 'tenant',
        values: [
          { amount_minor: 500_100, currency: 'INR' },
          { amount_minor: 2_000, currency: 'comms' },
          { amount_minor: 1_000, currency: 'commitments' },
        ],
      }),
    ]);
  });

  it('is asked about where nothing is moved, as long as a cap counts the call (A28)', async () => {
    const { budget, asked } = answering(ESCALATED);
    const contract: ContractDraft = {
      value: undefined,
      blast_radius: { max_calls_per_run: 1, scope: 'single_subject' },
    };
    expect(await refund({ contract, options: { budget } }).run()).toMatchObject({ code: 'BUDGET_ESCALATED' });
    expect(asked.map(({ values }) => values)).toEqual([[]]);
  });

  it.each([0, 2_000])('is refused in words that name the cap, and what is used of it; patience %i', async (waitMs) => {
    const cap = { scope: 'capability', scope_id: 'payments.issue_refund', measure: 'calls', currency: '' } as const;
    const exceeded = [{ ...cap, window: 'life', used_minor: 1, asked_minor: 1, ceiling_minor: 1 }];
    const { budget } = answering({ ...ESCALATED, exceeded });
    const { run } = refund({ options: { budget, clock: sleeping(), budgetPatience: { waitMs, everyMs: 1_000 } } });
    expect(await run()).toMatchObject({
      code: 'BUDGET_ESCALATED',
      problems: [
        { message: expect.stringContaining('calls of capability payments.issue_refund: 1 used, 1 asked, at most 1') },
      ],
    });
  });

  it('that nobody can read is no nothing: the call is not made', async () => {
    const { budget, asked } = answering();
    const { run, calls } = refund({
      contract: { consequence: { comms: 'args.amount_minor - 600000' } },
      options: { budget },
    });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'CONSEQUENCE_UNREADABLE' });
    expect([asked, calls()]).toEqual([[], 0]);
  });

  it('that only its answer tells is left to the ledger', async () => {
    const { budget, asked } = answering();
    const contract: ContractDraft = { consequence: { exposure: 'result.records' } };
    expect(await refund({ contract, options: { budget } }).run()).toMatchObject({ kind: 'succeeded' });
    expect(asked.map(({ values }) => values.map(({ currency }) => currency))).toEqual([['INR']]);
  });
});

describe('a call that waits for a person', () => {
  const waiting = (budget: Budget, waitMs: number) =>
    refund({ options: { budget, clock: sleeping(), budgetPatience: { waitMs, everyMs: 1_000 } } });

  it('goes on once one agreed within its patience', async () => {
    const { budget, asked } = answering(ESCALATED, ESCALATED, RESERVED);
    const { run, calls } = waiting(budget, 2_000);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([asked.length, calls()]).toEqual([3, 1]);
  });

  it.each([
    ['nobody did within its patience', [ESCALATED], 'BUDGET_ESCALATED', 3],
    ['somebody denied it', [ESCALATED, DENIED], 'BUDGET_REFUSED', 2],
  ] as const)('ends with a code where %s', async (_what, answers, code, times) => {
    const { budget, asked } = answering(...answers);
    const { run, calls } = waiting(budget, 2_000);
    expect(await run()).toMatchObject({ kind: 'refused', code });
    expect([asked.length, calls()]).toEqual([times, 0]);
  });

  it('waits for nobody in observe: it is heard of, and made', async () => {
    const { budget, asked } = answering(ESCALATED);
    const options = { mode: 'observe', budget, clock: sleeping(), budgetPatience: { waitMs: 2_000 } } as const;
    const { run, calls, troubles } = refund({ options });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect([asked.length, calls(), troubles]).toEqual([1, 1, ['BUDGET_ESCALATED']]);
  });

  it('does not wait unless it was told to', async () => {
    const { run } = refund({ options: { budget: new MemoryBudget(0) } });
    expect(await run()).toMatchObject({ code: 'BUDGET_ESCALATED' });
  });
});
