// A call that whoever made it no longer wants: stopped before anything is told of it, and never after.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { guardExecute, guardMcp } from '../adapters/agent-tools.js';
import { MemoryProducer } from '../producer/producer.memory.js';
import { MemoryApprovals } from './approval.memory.js';
import type { Budget } from './budget.port.js';
import type { GuardMode } from './guard.messages.js';
import { refund, refundCall, refundContract } from './guard.testing.js';
import type { RefundScene } from './guard.testing.js';

const { args: GIVEN, ...PLACE } = refundCall;

/** A budget that aborts the call it reserves for, and counts what is reserved. */
function aborting(stop: AbortController) {
  const reserved: number[] = [];
  const budget: Budget = {
    reserve: () => {
      reserved.push(1);
      stop.abort();
      return Promise.resolve({ kind: 'reserved', reservationId: 'res_1' });
    },
    release: () => {
      reserved.pop();
      return Promise.resolve('released');
    },
  };
  return { budget, reserved };
}

describe('a call whose signal is aborted', () => {
  it.each(['off', 'observe', 'enforce'] as const)(
    'is not made, and nothing is told of it: %s',
    async (mode: GuardMode) => {
      const { run, calls, told, troubles } = refund({ options: { mode } });
      expect(await run({ signal: AbortSignal.abort(new Error('the user went away')) })).toMatchObject({
        kind: 'refused',
        code: 'CALLED_OFF',
        mutation_refs: [],
        problems: [{ message: 'the signal of the call was aborted before it was made: the user went away' }],
      });
      expect([calls(), told(), troubles]).toEqual([0, [], []]);
    },
  );

  it('while others are asked is not made, and gives back what was reserved', async () => {
    const stop = new AbortController();
    const { budget, reserved } = aborting(stop);
    const { run, calls, told } = refund({ options: { budget } });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([calls(), told(), reserved]).toEqual([0, [], []]);
  });

  it('while it waits for a person waits no longer, and says that it was called off', async () => {
    const stop = new AbortController();
    let asked = 0;
    const budget: Budget = {
      reserve: () => {
        asked += 1;
        stop.abort();
        return Promise.resolve({ kind: 'escalated', code: 'CEILING_REACHED' });
      },
      release: () => Promise.resolve('released'),
    };
    const { run, calls } = refund({ options: { budget, budgetPatience: { waitMs: 60_000 } } });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([asked, calls()]).toEqual([1, 0]);
  });

  it.each([
    ['that nobody answered', { kind: 'unavailable', cause: new Error('202') }],
    ['that a person is asked about', { kind: 'escalated', code: 'CEILING_REACHED' }],
  ] as const)('takes back a reservation %s', async (_, answer) => {
    const stop = new AbortController();
    const heard: string[] = [];
    const budget: Budget = {
      reserve: () => {
        stop.abort();
        return Promise.resolve(answer);
      },
      release: () => {
        heard.push('released');
        return Promise.resolve('released');
      },
    };
    const { run } = refund({ options: { budget } });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect(heard).toEqual(['released']);
  });

  it('while it waits for a person is answered at once, however long it would have waited', async () => {
    const stop = new AbortController();
    let asked = 0;
    const budget: Budget = {
      reserve: () => {
        asked += 1;
        return Promise.resolve({ kind: 'escalated', code: 'CEILING_EXCEEDED' });
      },
      release: () => Promise.resolve('released'),
    };
    const patience = { waitMs: 60_000, everyMs: 30_000 };
    const { run, calls } = refund({ options: { budget, budgetPatience: patience } });
    const answer = run({ signal: stop.signal });
    // Nothing here lets time pass: it sleeps.
    await nextTurn();
    stop.abort();
    expect(await answer).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([asked, calls()]).toEqual([1, 0]);
  });

  it('while people have not decided says so, and gives back what was reserved, once', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const budget: Budget = {
      reserve: () => Promise.resolve({ kind: 'reserved', reservationId: 'res_1' }),
      release: () => {
        heard.push('released');
        return Promise.resolve('released');
      },
    };
    const approvals = new MemoryApprovals();
    const ask = approvals.ask.bind(approvals);
    approvals.ask = (request) => {
      stop.abort();
      return ask(request);
    };
    const { run, calls } = refund({ contract: { forward_approval: 'human' }, options: { budget, approvals } });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([calls(), heard]).toEqual([0, ['released']]);
  });

  it('and made again at once leaves the second call what both had reserved', async () => {
    const stop = new AbortController();
    const answered = Promise.withResolvers<null>();
    const heard: string[] = [];
    const budget: Budget = {
      reserve: async () => {
        heard.push('asked');
        if (heard.length === 1) await answered.promise;
        return { kind: 'reserved', reservationId: 'res_1' };
      },
      release: () => {
        heard.push('released');
        return Promise.resolve('released');
      },
    };
    const calledOff = Promise.withResolvers<null>();
    const execute = async (): Promise<Json> => {
      answered.resolve(null);
      await calledOff.promise;
      return {};
    };
    const { run } = refund({ options: { budget }, tool: { execute } });
    const first = run({ signal: stop.signal }).finally(() => {
      calledOff.resolve(null);
    });
    // Until then nothing was reserved.
    for (let turn = 0; heard.length === 0 && turn < 50; turn += 1) await nextTurn();
    stop.abort();
    const second = run();
    expect(await first).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect(await second).toMatchObject({ kind: 'succeeded' });
    expect(heard).toEqual(['asked', 'asked']);
  });

  it('while its tool stages what it names no handle of is told of all the same, so that a cancel gives it back', async () => {
    const stop = new AbortController();
    const { run, told, troubles } = refund({
      contract: {
        commit_hold_ms: 60_000,
        cancel_capability: 'payments.cancel_refund',
        techniques: { reservation: true },
      },
      tool: {
        stage: () => {
          stop.abort();
          return Promise.reject(new Error('socket hang up'));
        },
      },
    });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'held' });
    expect([told(), troubles]).toEqual([['planned'], ['STAGE_UNCERTAIN']]);
  });

  const NEVER = (): Promise<never> => new Promise(() => undefined);
  it.each<readonly [string, RefundScene]>([
    ['its record is read', { options: { standing: { of: NEVER } } }],
    ['what it overwrites is read', { contract: { overwrites: true }, tool: { capturePriorValue: NEVER } }],
    [
      'it is rehearsed',
      { contract: { techniques: { dry_run_capability: 'payments.rehearse_refund' } }, tool: { rehearse: NEVER } },
    ],
    ['a guard that is off rehearses it', { options: { mode: 'off' }, tool: { rehearse: NEVER } }],
  ])('while it is looked at is answered at once: %s', async (_, of) => {
    const stop = new AbortController();
    const { run, calls, told } = refund(of);
    const answer = run({ signal: stop.signal, isRehearsal: of.options?.mode === 'off' });
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    stop.abort();
    // The next turns are all it has.
    const late = (async () => {
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      return 'no answer';
    })();
    expect(await Promise.race([answer, late])).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([calls(), told()]).toEqual([0, []]);
  });

  it('while it is looked at asks nobody any more', async () => {
    const stop = new AbortController();
    const asked: string[] = [];
    const { run } = refund({
      contract: { overwrites: true, techniques: { dry_run_capability: 'payments.rehearse_refund' } },
      options: {
        budget: {
          reserve: () => {
            asked.push('reserve');
            return Promise.resolve({ kind: 'reserved', reservationId: 'res_1' });
          },
          release: () => Promise.resolve('released'),
        },
      },
      tool: {
        capturePriorValue: () => {
          stop.abort();
          return Promise.resolve({ amount: 1 });
        },
        rehearse: () => {
          asked.push('rehearse');
          return Promise.resolve({});
        },
      },
    });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(asked).toEqual([]);
  });

  it('after its intent is told is made, and ends as it ends', async () => {
    const stop = new AbortController();
    const producer = new MemoryProducer();
    const planned = producer.toolPlanned.bind(producer);
    producer.toolPlanned = async (...told) => {
      const id = await planned(...told);
      stop.abort();
      return id;
    };
    const { run, calls } = refund({ options: { producer } });
    expect(await run({ signal: stop.signal })).toMatchObject({ kind: 'succeeded' });
    expect(calls()).toBe(1);
  });
});

describe('a kit that aborts', () => {
  const made = (): { readonly calls: () => number; readonly tool: () => { readonly id: string } } => {
    let calls = 0;
    return {
      calls: () => calls,
      tool: () => {
        calls += 1;
        return { id: 'rf_1' };
      },
    };
  };
  const options = {
    contract: refundContract,
    contractDigest: Buffer.alloc(32, 1),
    mode: 'enforce',
    clock: new ManualClock(1),
    place: () => PLACE,
    approvals: new MemoryApprovals(),
  } as const;

  it.each(['abortSignal', 'signal'])('has its call called off by what it gives beside the input: %s', async (name) => {
    const { calls, tool } = made();
    const execute = guardExecute((_: typeof GIVEN, _rest: object) => tool(), {
      ...options,
      producer: new MemoryProducer(),
    });
    expect(await execute(GIVEN, { toolCallId: 'a', [name]: AbortSignal.abort() })).toMatchObject({
      code: 'CALLED_OFF',
    });
    expect(calls()).toBe(0);
  });

  it('has its MCP call called off by the signal of the request', async () => {
    const { calls, tool } = made();
    const client = { listTools: () => Promise.resolve({ tools: [] }), callTool: () => Promise.resolve(tool()) };
    const guarded = guardMcp(client, { issue_refund: { ...options, producer: new MemoryProducer() } });
    const answer = await guarded.callTool('issue_refund', GIVEN, { signal: AbortSignal.abort() });
    expect([answer.isError, answer.structuredContent['code'], calls()]).toEqual([true, 'CALLED_OFF', 0]);
  });
});
