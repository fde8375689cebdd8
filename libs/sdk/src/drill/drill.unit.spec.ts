// Drift of schema, permission and behaviour, each brought about at one path of a provider that is otherwise as its contract says.
import { describe, expect, it } from '@jest/globals';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock, systemClock } from '@recourse/kernel';
import { MEMORY_CONTRACTS, MemoryTools } from '../worker/tool.memory.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';
import { runDrill } from './drill.js';
import type { Canary, DrillReport } from './drill.messages.js';

const MAKE = 'memory.make_thing';
const UNDO = 'memory.undo_thing';
const LOOK = 'memory.get_thing';

interface Drift {
  /** Replaces a tool, given the one that is as it should be. */
  readonly tools?: Readonly<Record<string, (real: Tool) => Tool>>;
  readonly canary?: (real: Canary) => Partial<Canary>;
  /** Nobody counts what took effect. */
  readonly isUncounted?: boolean;
  readonly contracts?: readonly Contract[];
  /** Tools beside those of the provider. */
  readonly more?: Readonly<Record<string, Tool>>;
}

async function drill({
  tools = {},
  canary = () => ({}),
  contracts = MEMORY_CONTRACTS,
  more = {},
  isUncounted = false,
}: Drift = {}): Promise<{
  readonly report: DrillReport;
  readonly provider: MemoryTools;
}> {
  const provider = new MemoryTools();
  const real: Canary = {
    forward: provider.forward,
    args: () => ({ name: 'canary' }),
    ...(isUncounted ? {} : { effectsUnder: (key) => provider.effectsUnder(key) }),
  };
  const drifted = Object.fromEntries(
    Object.entries(provider.tools).map(([capability, tool]) => [capability, tools[capability]?.(tool) ?? tool]),
  );
  const kit = { adapter: 'memory', tools: { ...drifted, ...more }, canaries: { [MAKE]: { ...real, ...canary(real) } } };
  return { provider, report: await runDrill({ kit, contracts, clock: systemClock, tenant: 'acme', drillId: 'one' }) };
}

/** What is not clean: the path, the drift, and where it is not a drift, that. */
const unclean = ({ findings }: DrillReport) =>
  findings.filter(({ verdict }) => verdict !== 'clean').map(({ path, drift, verdict }) => [path, drift ?? verdict]);
const changed = (value: Json, more: { readonly [name: string]: Json }): Json => ({
  ...(value as { readonly [name: string]: Json }),
  ...more,
});

describe('a drill of an adapter that is as its contracts say', () => {
  it('goes every path with one canary, takes it back, and finds nothing', async () => {
    const { report, provider } = await drill();
    expect(report).toMatchObject({ adapter: 'memory', drill_id: 'one', verdict: 'clean' });
    expect(report.findings.map(({ path, called }) => [path, called])).toEqual([
      ['find_nothing', LOOK],
      ['forward', MAKE],
      ['find_forward', LOOK],
      ['bind', null],
      ['stale_check', LOOK],
      ['look_before', LOOK],
      ['undo', UNDO],
      ['verify', LOOK],
      ['repeat', UNDO],
      ['look_back', LOOK],
    ]);
    expect(provider.effects.map(({ kind }) => kind)).toEqual(['made', 'undone']);
  });

  it("calls the tools as a worker does: the same arguments and key, in a run of the drill's own", async () => {
    const calls: unknown[] = [];
    await drill({
      tools: {
        [UNDO]: (real) => (args, context) => {
          calls.push([args, context.runId, context.phase, context.idempotencyKey.startsWith('rev_')]);
          return real(args, context);
        },
      },
    });
    expect(calls).toEqual([
      [{ id: 'thing-1' }, 'drill-one', 'execute', true],
      [{ id: 'thing-1' }, 'drill-one', 'execute', true],
    ]);
  });
});

describe('a drill tells its tools', () => {
  async function heard(compares: 'status' | 'version') {
    const calls: unknown[] = [];
    const noting =
      (real: Tool): Tool =>
      (args, context) => {
        calls.push([context.phase, context.about, 'expected' in context ? context.expected : 'nothing']);
        return real(args, context);
      };
    const contracts = MEMORY_CONTRACTS.map((one) =>
      one.stale_check === undefined ? one : { ...one, stale_check: { ...one.stale_check, compares } },
    );
    const { report } = await drill({ contracts, tools: { [UNDO]: noting, [LOOK]: noting } });
    return { report, calls };
  }

  it('what a worker does: whether it looks for the call itself or for what undoes it', async () => {
    const { report, calls } = await heard('status');
    expect(report.verdict).toBe('clean');
    expect(calls).toEqual([
      ['reconcile', 'forward', 'nothing'],
      ['reconcile', 'forward', 'nothing'],
      ['stale_check', 'compensation', 'nothing'],
      ['verify', 'compensation', 'nothing'],
      ['execute', 'compensation', 'nothing'],
      ['verify', 'compensation', 'nothing'],
      ['execute', 'compensation', 'nothing'],
      ['reconcile', 'compensation', 'nothing'],
    ]);
  });

  it('what it is to compare with while it writes, where the contract compares so', async () => {
    const { calls } = await heard('version');
    const seen = { id: 'thing-1', status: 'made' };
    expect(calls.filter((call) => Array.isArray(call) && call[0] === 'execute')).toEqual([
      ['execute', 'compensation', seen],
      ['execute', 'compensation', seen],
    ]);
  });
});

describe('a drill of a reversal of several calls', () => {
  const DROP = 'memory.drop_entry';
  const then = {
    capability: DROP,
    args: { id: { from: 'call', call: 1, path: '/id' } },
    verification: { verify_capability: LOOK, success_condition: 'observed.id == bound.args.id', max_attempts: 1 },
  } as const;
  const contracts = MEMORY_CONTRACTS.map((one) => (one.name === MAKE ? { ...one, reversal_then: [then] } : one));
  const called: unknown[] = [];
  const drop: Tool = (args, { idempotencyKey }) => {
    called.push([args, idempotencyKey]);
    return Promise.resolve(args);
  };
  /** The provider says of the second call how often it took effect. */
  const counted = (times: number) => ({
    canary: ({ effectsUnder }: Canary) => ({
      effectsUnder: (key: string) =>
        key.endsWith('_2') ? Promise.resolve(times) : (effectsUnder?.(key) ?? Promise.resolve(0)),
    }),
  });
  const told = ({ findings }: DrillReport) => findings.map(({ path, called: by }) => [path, by]).slice(-7);

  it('makes each of them, and repeats it, under a key of its own, with what the first was seen to give', async () => {
    called.length = 0;
    const { report } = await drill({ contracts, more: { [DROP]: drop }, ...counted(1) });
    expect([report.verdict, unclean(report)]).toEqual(['clean', []]);
    const one = [{ id: 'thing-1' }, expect.stringMatching(/^rev_.*_2$/u)];
    expect(called).toEqual([one, one]);
    expect(told(report)).toEqual([
      ['undo', UNDO],
      ['verify', LOOK],
      ['repeat', UNDO],
      ['undo', DROP],
      ['verify', LOOK],
      ['repeat', DROP],
      ['look_back', LOOK],
    ]);
  });

  it('shows where one key of a further call has two effects', async () => {
    const { report } = await drill({ contracts, more: { [DROP]: drop }, ...counted(2) });
    expect(unclean(report)).toEqual([['repeat', 'behaviour']]);
    expect(report.findings.filter(({ path }) => path === 'repeat').map(({ verdict }) => verdict)).toEqual([
      'clean',
      'drift',
    ]);
  });

  it('is not clean where the second cannot be made', async () => {
    const { report } = await drill({ contracts });
    expect([report.verdict, unclean(report)]).toEqual(['not_run', [['undo', 'not_run']]]);
  });
});

describe('a drill of tools that', () => {
  /** Takes what it is given for its own. */
  const spoiling =
    (real: Tool): Tool =>
    async (args, context) => {
      const answer = await real({ ...(args as object) }, context);
      Object.assign(args as object, { id: 'spoilt', name: 'spoilt' });
      return answer;
    };

  it('change their arguments in place gives each call its own, and binds and judges by those it gave', async () => {
    const seen: Json[] = [];
    const noting =
      (real: Tool): Tool =>
      (args, context) => {
        seen.push({ ...(args as object) });
        return spoiling(real)(args, context);
      };
    const { report } = await drill({
      tools: { [UNDO]: noting, [LOOK]: noting },
      canary: ({ forward }) => ({
        forward: { ...forward, execute: (args, context) => spoiling(forward.execute)(args, context as never) },
      }),
    });
    expect([report.verdict, unclean(report)]).toEqual(['clean', []]);
    expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"name":"canary"}', '{"id":"thing-1"}']));
  });

  it('go on with what they answered is judged by what was answered', async () => {
    const { report } = await drill({
      tools: {
        [LOOK]: (real) => async (args, context) => {
          const kept = { ...((await real(args, context)) as object) };
          queueMicrotask(() => {
            queueMicrotask(() => Object.assign(kept, { id: 'spoilt', status: 'spoilt' }));
          });
          return kept;
        },
      },
    });
    expect([report.verdict, unclean(report)]).toEqual(['clean', []]);
  });

  it('throw before they promise anything end with a finding, as those do that break their promise', async () => {
    const { report } = await drill({
      tools: {
        [UNDO]: () => () => {
          throw new Error('at once');
        },
      },
    });
    expect([unclean(report)[0], report.findings.find(({ path }) => path === 'undo')?.detail]).toEqual([
      ['undo', 'not_run'],
      'UNKNOWN: at once',
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['a map', { id: new Map() }],
  ])('answer with %s, which is no JSON, end with a finding', async (_, answer) => {
    const { report } = await drill({
      tools: {
        // A tool may be written in JavaScript.
        [LOOK]: (real) => (args, context) =>
          context.phase === 'verify' ? Promise.resolve(answer as unknown as Json) : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([
      ['look_before', 'schema'],
      ['verify', 'schema'],
    ]);
    expect(report.findings.find(({ path }) => path === 'verify')?.detail).toContain('no JSON');
  });
});

describe('drift of schema', () => {
  it('shows where an answer has another shape', async () => {
    const { report } = await drill({
      tools: { [UNDO]: (real) => async (args, context) => changed(await real(args, context), { status: 7 }) },
    });
    expect([report.verdict, unclean(report)]).toEqual(['drift', [['undo', 'schema']]]);
    expect(report.findings.find(({ path }) => path === 'undo')?.detail).toContain('/status must be string');
  });

  it('shows where what is seen lacks what its contract declares', async () => {
    const { report } = await drill({
      tools: {
        [LOOK]: (real) => async (args, context) => {
          const seen = (await real(args, context)) as { readonly id?: Json; readonly happened?: Json };
          return context.phase === 'stale_check' ? { id: seen.id ?? null, state: 'made' } : seen;
        },
      },
    });
    expect(unclean(report)).toEqual([['stale_check', 'schema']]);
  });

  it('shows where what is seen has another shape, though every condition holds on it', async () => {
    const { report } = await drill({
      tools: {
        [LOOK]: (real) => async (args, context) =>
          context.phase === 'stale_check' ? changed(await real(args, context), { id: 7 }) : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([['stale_check', 'schema']]);
  });

  it('shows where a condition reads a field that is gone, though no schema says so', async () => {
    const loose = MEMORY_CONTRACTS.map((contract) =>
      contract.name === LOOK ? { ...contract, result_schema: { type: 'object' } } : contract,
    );
    const { report } = await drill({
      contracts: loose,
      tools: {
        [LOOK]: (real) => async (args, context) =>
          context.phase === 'verify' ? { id: 'thing-1' } : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([
      ['look_before', 'schema'],
      ['verify', 'schema'],
    ]);
  });

  it('shows where the answer lacks what the reversal is bound to, and goes no further', async () => {
    const { report, provider } = await drill({
      canary: ({ forward }) => ({ forward: { ...forward, externalTransactionRef: () => null } }),
    });
    expect(unclean(report)).toEqual([
      ['bind', 'schema'],
      ...['stale_check', 'look_before', 'undo', 'verify', 'repeat', 'look_back'].map((path) => [path, 'not_run']),
    ]);
    expect(provider.effects.map(({ kind }) => kind)).toEqual(['made']);
  });

  it('shows where arguments are refused that were taken once', async () => {
    const { report } = await drill({
      tools: { [UNDO]: () => () => Promise.reject(new ToolRejected('VALIDATION_ERROR', 'thing_id is needed')) },
    });
    expect(unclean(report)[0]).toEqual(['undo', 'schema']);
  });
});

describe('drift of permission', () => {
  it.each([
    ["a tool's own word", new ToolRejected('FORBIDDEN', 'not yours')],
    ["the provider's status", Object.assign(new Error('forbidden'), { status: 403 })],
    [
      'the status behind a refusal',
      new ToolRejected('PROVIDER_SAYS_NO', 'no', { cause: Object.assign(new Error('who are you'), { status: 401 }) }),
    ],
  ])('shows by %s, and what depends on it is not called clean', async (_by, error) => {
    const { report } = await drill({ tools: { [UNDO]: () => () => Promise.reject(error) } });
    expect([report.verdict, unclean(report)]).toEqual([
      'drift',
      [
        ['undo', 'permission'],
        ['verify', 'not_run'],
        ['repeat', 'not_run'],
        ['look_back', 'not_run'],
      ],
    ]);
  });

  it('shows where only looking was taken away', async () => {
    const { report } = await drill({
      tools: {
        [LOOK]: (real) => (args, context) =>
          context.phase === 'reconcile'
            ? Promise.reject(Object.assign(new Error('no'), { status: 403 }))
            : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([
      ['find_nothing', 'permission'],
      ['find_forward', 'permission'],
      ['look_back', 'permission'],
    ]);
  });
});

describe('drift of behaviour', () => {
  it('shows where a yes has no effect', async () => {
    const { report } = await drill({
      tools: { [UNDO]: () => () => Promise.resolve({ id: 'thing-1', status: 'undone' }) },
    });
    expect(unclean(report)).toEqual([
      ['verify', 'behaviour'],
      ['repeat', 'behaviour'],
      ['look_back', 'behaviour'],
    ]);
  });

  it('shows where one key has two effects', async () => {
    const { report } = await drill({
      canary: ({ effectsUnder }) => ({ effectsUnder: async (key) => 2 * ((await effectsUnder?.(key)) ?? 0) }),
    });
    expect(unclean(report)).toEqual([['repeat', 'behaviour']]);
  });

  it('shows where a repeat is refused that was promised to be harmless', async () => {
    let calls = 0;
    const { report } = await drill({
      tools: {
        [UNDO]: (real) => (args, context) =>
          (calls += 1) > 1 ? Promise.reject(new ToolRejected('ALREADY_DONE', 'no more')) : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([['repeat', 'behaviour']]);
  });

  it.each([404, 409])(
    'shows by a status that refuses, whatever it leaves open of an earlier call: %i',
    async (status) => {
      const { report } = await drill({
        tools: { [UNDO]: () => () => Promise.reject(Object.assign(new Error('no'), { status })) },
      });
      expect(unclean(report)[0]).toEqual(['undo', 'behaviour']);
    },
  );

  it('shows where the stale check calls a fresh canary changed', async () => {
    const { report } = await drill({
      contracts: MEMORY_CONTRACTS.map((contract) =>
        contract.stale_check === undefined
          ? contract
          : { ...contract, stale_check: { ...contract.stale_check, condition: 'observed.status == "settled"' } },
      ),
    });
    expect(unclean(report)).toEqual([['stale_check', 'behaviour']]);
  });

  it('shows where verification holds before anything was undone, and so proves nothing', async () => {
    const { report } = await drill({
      contracts: MEMORY_CONTRACTS.map((contract) =>
        contract.verification === undefined
          ? contract
          : { ...contract, verification: { ...contract.verification, success_condition: 'true' } },
      ),
    });
    expect(unclean(report)).toEqual([['look_before', 'behaviour']]);
  });

  it.each([
    ['happened is not found', { happened: false }, 'find_forward', 'behaviour'],
    [
      'never was is found',
      { happened: true, result: {}, external_transaction_ref: 'thing-1' },
      'find_nothing',
      'behaviour',
    ],
    ['is told in other words', { found: true }, 'find_nothing', 'schema'],
  ])('shows where a call that %s', async (_case, answer, path, drift) => {
    const { report } = await drill({
      tools: {
        [LOOK]: (real) => (args, context) =>
          context.phase === 'reconcile' && 'name' in (args as object) ? Promise.resolve(answer) : real(args, context),
      },
    });
    expect(unclean(report)).toContainEqual([path, drift]);
  });
});

describe('what a drill could not exercise', () => {
  it.each<[string, Canary['args']]>([
    [
      'throw',
      () => {
        throw new Error('no customer is left for a canary');
      },
    ],
    ['fail later', () => Promise.reject(new Error('no customer is left for a canary'))],
  ])('is told where the arguments of its canary %s, and the others are drilled all the same', async (_how, args) => {
    const { report, provider } = await drill({ canary: () => ({ args }) });
    expect(report).toMatchObject({ verdict: 'not_run' });
    expect(report.findings[0]).toMatchObject({
      path: 'forward',
      called: MAKE,
      verdict: 'not_run',
      detail: expect.stringContaining('no customer is left for a canary'),
    });
    expect(report.findings.every(({ verdict }) => verdict === 'not_run')).toBe(true);
    expect(provider.effects).toEqual([]);
  });

  it('is told, and is no drift: a provider that is down', async () => {
    const { report } = await drill({
      canary: ({ forward }) => ({
        forward: {
          ...forward,
          execute: () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
        },
      }),
    });
    expect([report.verdict, unclean(report)[0]]).toEqual(['not_run', ['forward', 'not_run']]);
  });

  it('is told: a tool that does not answer in the time the contract gives it', async () => {
    const clock = new ManualClock(0);
    const provider = new MemoryTools();
    const kit = {
      adapter: 'memory',
      tools: provider.tools,
      canaries: {
        [MAKE]: { forward: { execute: () => new Promise<Json>(() => undefined) }, args: () => ({ name: 'canary' }) },
      },
    };
    const running = runDrill({ kit, contracts: MEMORY_CONTRACTS, clock, tenant: 'acme', drillId: 'one' });
    for (let turn = 0; turn < 50; turn += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      await clock.advance(1_000);
    }
    expect((await running).findings.find(({ path }) => path === 'forward')).toMatchObject({
      verdict: 'not_run',
      detail: 'no answer within 10000 ms',
    });
  });

  it('is told: a capability without a canary, and a tool that is not there', async () => {
    const provider = new MemoryTools();
    const options = { contracts: MEMORY_CONTRACTS, clock: systemClock, tenant: 'acme', drillId: 'one' };
    const bare = await runDrill({ ...options, kit: { adapter: 'memory', tools: provider.tools, canaries: {} } });
    expect([bare.verdict, bare.findings]).toMatchObject([
      'not_run',
      [{ capability: MAKE, path: 'forward', verdict: 'not_run' }],
    ]);
    const toolless = await runDrill({
      ...options,
      kit: {
        adapter: 'memory',
        tools: {},
        canaries: { [MAKE]: { forward: provider.forward, args: () => ({ name: 'canary' }) } },
      },
    });
    expect([
      toolless.verdict,
      toolless.findings.every(({ verdict, path }) => verdict === 'not_run' || path === 'forward' || path === 'bind'),
    ]).toEqual(['not_run', true]);
  });

  it('is told: whether a repeat had a second effect, where nobody counts them', async () => {
    let calls = 0;
    const { report, provider } = await drill({
      isUncounted: true,
      tools: {
        [UNDO]: (real) => (args, context) => real(args, { ...context, idempotencyKey: `undo-${String((calls += 1))}` }),
      },
    });
    expect(provider.effects.map(({ kind }) => kind)).toEqual(['made', 'undone', 'undone']);
    expect([report.verdict, unclean(report)]).toEqual(['not_run', [['repeat', 'not_run']]]);
    expect(report.findings.find(({ path }) => path === 'repeat')?.detail).toBe(
      'its effects were not counted: the canary has no effectsUnder',
    );
  });

  it('is drift nevertheless: a repeat that is refused, though nobody counts', async () => {
    let calls = 0;
    const { report } = await drill({
      isUncounted: true,
      tools: {
        [UNDO]: (real) => (args, context) =>
          (calls += 1) > 1 ? Promise.reject(new ToolRejected('ALREADY_DONE', 'no more')) : real(args, context),
      },
    });
    expect(unclean(report)).toEqual([['repeat', 'behaviour']]);
  });

  it('is everything where no contract of the adapter is undone by machines', async () => {
    const provider = new MemoryTools();
    expect(
      await runDrill({
        kit: { adapter: 'other', tools: provider.tools, canaries: {} },
        contracts: MEMORY_CONTRACTS,
        clock: systemClock,
        tenant: 'acme',
        drillId: 'one',
      }),
    ).toMatchObject({ verdict: 'not_run', findings: [] });
  });
});
