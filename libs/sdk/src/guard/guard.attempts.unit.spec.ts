// A guard reserves as the attempt that its call is: the accountant hears of failures later than the next attempt asks.
import { describe, expect, it } from '@jest/globals';
import { ToolRejected } from '../tool/tool.js';
import { actionOf, mutationOf } from './action.js';
import { MemoryBudget } from './budget.memory.js';
import type { ReservationAnswer, ReservationRequest } from './budget.port.js';
import { refund, refundCall } from './guard.testing.js';
import { MemoryStanding } from './standing.memory.js';

/** A budget that notes which attempt asks for what. */
class NotedBudget extends MemoryBudget {
  readonly said: (readonly [string, number | undefined])[] = [];

  override reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    this.said.push(['reserve', request.attempt]);
    return super.reserve(request);
  }

  override release(request: ReservationRequest): ReturnType<MemoryBudget['release']> {
    this.said.push(['release', request.attempt]);
    return super.release(request);
  }
}

const later = { execute: () => Promise.reject(new ToolRejected('RATE_LIMITED', 'later')) };

describe('what a guarded call reserves', () => {
  it('is asked for, and given back, by the attempt that the record says it is', async () => {
    const [standing, budget] = [new MemoryStanding(), new NotedBudget(500_000)];
    const { run, options } = refund({ tool: later, options: { standing, budget } });
    for (const _ of [1, 2]) {
      await run();
      standing.record(mutationOf(actionOf(refundCall, options)), 'failed', 'planned');
    }
    expect(budget.said).toEqual([
      ['reserve', 1],
      ['release', 1],
      ['reserve', 2],
      ['release', 2],
    ]);
  });

  it('is that of a recovery’s attempt where it takes an effect back', async () => {
    const budget = new NotedBudget(500_000);
    const recovery = { callId: 'rev_1', idempotencyKey: 'rev_k', attempt: 3 };
    await refund({ options: { budget } }).run({ recovery });
    expect(budget.said).toEqual([['reserve', 3]]);
  });

  it('is that of the first where nobody has a record to ask', async () => {
    const budget = new NotedBudget(500_000);
    const { run } = refund({ tool: later, options: { budget } });
    await run();
    await run();
    expect(budget.said.map(([, attempt]) => attempt)).toEqual([1, 1, 1, 1]);
  });
});
