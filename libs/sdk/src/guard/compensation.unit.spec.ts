import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { ContractDraft } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { MemoryEntries } from '../entries/entries.memory.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { ToolConflict, ToolRejected } from '../tool/tool.js';
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

function scene(
  tool: Tool = () => Promise.resolve({ status: 'reversed' }),
  more: Partial<GuardOptions> = {},
  contract: ContractDraft = {},
) {
  const { options, told, clock } = refund({
    contract: {
      ...FOR_GOOD,
      ...contract,
      name: 'payments.reverse_refund',
      commit_hold_ms: 5_000,
      cancel_capability: 'payments.cancel_refund',
    },
    options: more,
  });
  return { told, clock, compensate: guardCompensation(tool, { ...options, agentId: 'worker-1' }) };
}

describe('a guarded compensation', () => {
  it('is told by nobody but its worker: the ledger records it from the verdict, once', async () => {
    const { compensate, told } = scene();
    expect(await compensate(args, context)).toEqual({ status: 'reversed' });
    expect(told()).toEqual([]);
  });

  it('needs no dry run, which is for people before an effect of its own', async () => {
    const { compensate } = scene(undefined, {}, { techniques: { dry_run_capability: 'payments.preview_reversal' } });
    expect(await compensate(args, context)).toEqual({ status: 'reversed' });
  });

  it.each([
    ['is made under a kill switch over its agent', {}, true],
    ['is stopped by one that says so of recoveries', { halts_recovery: true }, false],
  ])('%s', async (_, more, isMade) => {
    const entries = new MemoryEntries();
    entries.register('kill_switch', 'acme', 'off', {
      owner: 'o',
      doc: 'd',
      severity: 'sev1',
      runbook: 'r',
      reason: 'stop',
      scope: { over: 'agent', agent: 'worker-1', ...more },
    });
    const made = scene(undefined, { entries }).compensate(args, context);
    await (isMade
      ? expect(made).resolves.toEqual({ status: 'reversed' })
      : expect(made).rejects.toMatchObject({ kind: 'KILL_SWITCH' }));
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

  it.each([
    ['refused a part of it', Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })],
    ['answered 403', Object.assign(new Error('forbidden'), { status: 403 })],
    ['answered 429', Object.assign(new Error('later'), { status: 429 })],
  ])(
    'is open where its tool does not say outright that nothing happened, and keeps its budget: it %s',
    async (_, thrown) => {
      const heard: string[] = [];
      const budget: Budget = {
        reserve: () => Promise.resolve({ kind: 'reserved', reservationId: 'res_1' }),
        release: () => {
          heard.push('released');
          return Promise.resolve('released');
        },
      };
      await expect(scene(() => Promise.reject(thrown), { budget }).compensate(args, context)).rejects.toBe(thrown);
      const answered = scene(() => Promise.resolve({ error_code: 'RATE_LIMITED', isError: true }), { budget });
      await expect(answered.compensate(args, context)).rejects.not.toBeInstanceOf(ToolRejected);
      expect(heard).toEqual([]);
    },
  );

  it('is refused in the words of its tool, which its worker reads: a code of its own, a conflict', async () => {
    for (const thrown of [new ToolRejected('already_reversed', 'it is reversed'), new ToolConflict('changed since')])
      await expect(scene(() => Promise.reject(thrown)).compensate(args, context)).rejects.toBe(thrown);
  });

  it('that streams is refused in the words of its tool as well', async () => {
    for (const thrown of [new ToolRejected('already_reversed', 'it is reversed'), new ToolConflict('changed since')]) {
      const breaking = async function* (): AsyncGenerator<Json> {
        yield { status: 'working' };
        await Promise.resolve();
        throw thrown;
      };
      // The tools of a kit may stream what they answer, and a worker takes them as they are.
      await expect(scene(breaking as unknown as Tool).compensate(args, context)).rejects.toBe(thrown);
    }
  });

  it('ends when its tool does, and no sooner: its worker, which waits as long as the contract says, knows what runs', async () => {
    const gate = Promise.withResolvers<Json>();
    const { compensate, clock } = scene(() => gate.promise, {}, { call_timeout_ms: 100 });
    const ended = compensate(args, context);
    // A promise that is kept late is one that nobody gave up.
    ended.catch(() => null);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    await clock.advance(1_000);
    gate.resolve({ status: 'reversed' });
    expect(await ended).toEqual({ status: 'reversed' });
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
