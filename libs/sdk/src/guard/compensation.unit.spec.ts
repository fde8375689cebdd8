import { describe, expect, it } from '@jest/globals';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import type { Budget } from './budget.port.js';
import { MemoryBudget } from './budget.memory.js';
import { guardCompensation } from './compensation.js';
import type { GuardOptions } from './guard.messages.js';
import { FOR_GOOD, refund } from './guard.testing.js';

const context: ToolContext = {
  runId: 'run-1',
  tenant: 'acme',
  callId: 'rev_mut_1',
  idempotencyKey: 'rev_fwd_1',
  reason: 'order 4711 was shipped',
  attempt: 1,
  phase: 'execute',
  about: 'compensation',
  subjectRef: 'order/4711',
  externalTransactionRef: 'rf_1',
};
const args = { order: '4711', amount_minor: 500_000 };

function scene(tool: Tool = () => Promise.resolve({ status: 'reversed' }), more: Partial<GuardOptions> = {}) {
  const { options, told } = refund({
    contract: {
      ...FOR_GOOD,
      name: 'payments.reverse_refund',
      commit_hold_ms: 5_000,
      cancel_capability: 'payments.cancel_refund',
    },
    options: more,
  });
  return { told, compensate: guardCompensation(tool, { ...options, agentId: 'worker-1' }) };
}

describe('a guarded compensation', () => {
  it('is told by nobody but its worker: the ledger records it from the verdict, once', async () => {
    const { compensate, told } = scene();
    expect(await compensate(args, context)).toEqual({ status: 'reversed' });
    expect(told()).toEqual([]);
  });

  it('reserves under its own capability, in the run and under the key that the ledger records it by', async () => {
    const asked: unknown[] = [];
    const budget: Budget = {
      reserve: (request) => {
        asked.push(request);
        return Promise.resolve({ kind: 'reserved', reservationId: 'res_1' });
      },
      release: () => Promise.resolve('released'),
    };
    await scene(undefined, { budget }).compensate(args, context);
    expect(asked).toMatchObject([
      { runId: 'run-1', effectKey: 'rev_mut_1', capability: 'payments.reverse_refund', agentId: 'worker-1' },
    ]);
  });

  it('debits its own budget, and is refused beyond it', async () => {
    const { compensate } = scene(undefined, { budget: new MemoryBudget(499_999) });
    await expect(compensate(args, context)).rejects.toMatchObject({ name: 'ToolRejected', kind: 'BUDGET_ESCALATED' });
  });

  it('fits its contract or is not called', async () => {
    let calls = 0;
    const { compensate } = scene(() => {
      calls += 1;
      return Promise.resolve({});
    });
    await expect(compensate({ order: 4711 }, context)).rejects.toBeInstanceOf(ToolRejected);
    expect(calls).toBe(0);
  });

  it('says what it knows of an error: no effect, or nobody knows', async () => {
    const refused = scene(() => Promise.reject(new ToolRejected('already_reversed', 'it is reversed')));
    await expect(refused.compensate(args, context)).rejects.toBeInstanceOf(ToolRejected);
    const lost = scene(() => Promise.reject(new Error('socket hang up')));
    await expect(lost.compensate(args, context)).rejects.not.toBeInstanceOf(ToolRejected);
  });

  it('is made once per attempt', async () => {
    let calls = 0;
    const { compensate } = scene(
      () => {
        calls += 1;
        return Promise.reject(new Error('gone'));
      },
      { claims: new MemoryClaimStore() },
    );
    for (const attempt of [1, 1, 2, 2]) await expect(compensate(args, { ...context, attempt })).rejects.toThrow();
    expect(calls).toBe(2);
  });

  it('captures no prior value: nothing undoes a compensation, also where it is the capability it undoes', async () => {
    const { options, told } = refund({
      contract: { ...FOR_GOOD, overwrites: true, requires_prior_value_capture: true },
    });
    const compensate = guardCompensation(() => Promise.resolve({ status: 'open' }), {
      ...options,
      agentId: 'worker-1',
    });
    expect(await compensate(args, context)).toEqual({ status: 'open' });
    expect(told()).toEqual([]);
  });

  it('leaves observations alone', async () => {
    const { compensate, told } = scene(() => Promise.resolve({ status: 'settled' }));
    expect(await compensate({ anything: 1 }, { ...context, phase: 'verify' })).toEqual({ status: 'settled' });
    expect(told()).toEqual([]);
  });
});
