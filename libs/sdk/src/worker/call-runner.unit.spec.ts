// A reversal of several calls, seen from the provider: their order, the stop, and each call once whoever was killed where.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bindReversal, parseContract, plainPayload } from '@recourse/contract';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { LegReported, LegRequested, LegStep, StepReport } from '@recourse/messages';
import { readFileSync } from 'node:fs';
import { FileClaimStore } from '../stores/claim-store.file.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import type { ClaimStore } from '../stores/claim-store.port.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';
import { runLeg } from './leg-runner.js';
import type { LegParts } from './leg-runner.js';
import { legOf, legStep, NOT_AFTER } from './legs.testing.js';

const FOREVER = new Promise<never>(() => undefined);
const VOID = 'till.void_sale';
const RESET = 'till.reset_drawer';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'calls-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

/** A till that does nothing twice under one key, and writes down every call. */
class Till {
  sale = { status: 'rung', void_receipt: '' };
  drawer: { counted_to: string | null } = { counted_to: null };
  readonly calls: string[] = [];
  readonly keys: string[] = [];
  /** What comes before a call takes effect, and after. */
  before: (capability: string) => Promise<void> = () => Promise.resolve();
  after: (capability: string) => Promise<void> = () => Promise.resolve();

  readonly tools: Readonly<Record<string, Tool>> = {
    'till.void_sale': this.acting('till.void_sale', () => {
      this.sale = { status: 'voided', void_receipt: 'v-1' };
      return { sale: 's-1', drawer: 'd-1', ...this.sale };
    }),
    'till.reset_drawer': this.acting('till.reset_drawer', (args) => {
      this.drawer = { counted_to: (args as { readonly receipt: string }).receipt };
      return { drawer: 'd-1', ...this.drawer };
    }),
    'till.get_sale': this.looking('get_sale', () => ({ sale: 's-1', drawer: 'd-1', ...this.sale })),
    'till.get_drawer': this.looking('get_drawer', () => ({ drawer: 'd-1', ...this.drawer })),
  };

  /** Keys under which something took effect. */
  private readonly made = new Map<string, Json>();
  get effects(): readonly string[] {
    return [...this.made.keys()];
  }

  private acting(capability: string, make: (args: Json) => Json): Tool {
    return async (args, { idempotencyKey, phase }) => {
      this.calls.push(`${phase} ${capability}`);
      this.keys.push(idempotencyKey);
      await this.before(capability);
      const answer = this.made.get(idempotencyKey) ?? make(args);
      this.made.set(idempotencyKey, answer);
      await this.after(capability);
      return answer;
    };
  }

  private looking(name: string, look: () => Json): Tool {
    return (_, { phase }) => {
      this.calls.push(`${phase} ${name}`);
      return Promise.resolve(look());
    };
  }

  executions(capability: string): number {
    return this.calls.filter((call) => call === `execute ${capability}`).length;
  }
}

/** The step of a rung sale as the shipped contract binds it. */
function saleStep(more: Partial<LegStep> = {}): LegStep {
  const parsed = parseContract(readFileSync('examples/contracts/till.ring_sale.json', 'utf8'));
  if (!parsed.ok) throw new Error('the example is no contract');
  const { contract } = parsed;
  const facts = { args: { drawer: 'd-1', article: 'a' }, result: {}, priorValue: null, externalRef: 's-1' };
  const bound = bindReversal(contract, facts);
  if (bound.kind !== 'bound') throw new Error('the example does not bind');
  const call = { capability: VOID, adapter_id: 'till', args: plainPayload(bound.args), then: bound.then };
  return legStep({
    call: { ...legStep().call, ...call },
    reconcile_capability: contract.reconcile_capability ?? null,
    stale_capability: 'till.get_sale',
    stale_condition: contract.stale_check?.condition ?? null,
    verify_capability: 'till.get_sale',
    success_condition: contract.verification?.success_condition ?? null,
    external_transaction_ref: 's-1',
    ...more,
  });
}

const STORES = [
  { name: 'memory', make: () => Promise.resolve<ClaimStore>(new MemoryClaimStore()) },
  {
    name: 'file',
    make: async (): Promise<ClaimStore> => new FileClaimStore(join(await mkdtemp(join(root, 's-')), 'claims')),
  },
];

describe.each(STORES)('a sale undone by a void and a reset, with claims in $name', ({ make }) => {
  const stage = async () => {
    const claimStore = await make();
    const till = new Till();
    const clock = new ManualClock(1_000);
    const take = (more: Partial<LegRequested>, step: Partial<LegStep> = {}, parts: Partial<LegParts> = {}) =>
      runLeg(legOf({ ...more, steps: [saleStep(step)] }), {
        workerId: 'w',
        tools: till.tools,
        clock,
        claimStore,
        callTimeoutMs: 500,
        ...parts,
      });
    /** A worker that is killed at a call, before it takes effect or after. */
    const killedAt = async (capability: string, where: 'before' | 'after', step: Partial<LegStep> = {}) => {
      till[where] = (at) => (at === capability ? FOREVER : Promise.resolve());
      void take({}, step, { callTimeoutMs: Number.MAX_SAFE_INTEGER });
      await called(till, capability);
      till[where] = () => Promise.resolve();
    };
    return { till, clock, take, killedAt };
  };
  const KEYLESS = { key_lifetime_ms: null } as const;

  it('makes the second call once the first is verified, with what that verification saw, under a key of its own', async () => {
    const { till, take } = await stage();
    const told = of(await take({}));
    expect(told).toMatchObject({ step_id: 'step_1', outcome: 'verified', calls_done: 2, error_kind: null });
    expect(till.calls).toEqual([
      'stale_check get_sale',
      `execute ${VOID}`,
      'verify get_sale',
      `execute ${RESET}`,
      'verify get_drawer',
    ]);
    expect(till.keys).toEqual(['rev_key', 'rev_key_2']);
    expect(till.drawer).toEqual({ counted_to: 'v-1' });
    expect(told.observations.map(({ call, phase }) => `${String(call)} ${phase}`)).toEqual([
      '1 stale_check',
      '1 execute',
      '1 verify',
      '2 execute',
      '2 verify',
    ]);
  });

  it('makes no second call where the first is not verified', async () => {
    const { till, take } = await stage();
    till.before = () => Promise.reject(new ToolRejected('CLOSED', 'the till is closed'));
    expect(of(await take({}))).toMatchObject({ outcome: 'failed', calls_done: 0, error_kind: 'TOOL_REJECTED' });
    expect(till.executions(RESET)).toBe(0);
  });

  it.each([
    ['with a key', {}],
    ['without one', KEYLESS],
  ])('whose second call is refused goes on there, %s', async (_, keyed) => {
    const { till, take } = await stage();
    till.before = (at) =>
      at === RESET ? Promise.reject(new ToolRejected('BUSY', 'it is counted')) : Promise.resolve();
    expect(of(await take({}, keyed))).toMatchObject({ outcome: 'failed', calls_done: 1, error_kind: 'TOOL_REJECTED' });
    till.before = () => Promise.resolve();
    const again = { attempt: 2, reconcile_first: keyed !== KEYLESS };
    const told = of(await take(again, { ...keyed, calls_done: 1 }));
    expect(told).toMatchObject({ outcome: 'verified', calls_done: 2 });
    expect([till.executions(VOID), till.executions(RESET), till.effects]).toEqual([1, 2, ['rev_key', 'rev_key_2']]);
  });

  it('whose second call nobody answered is looked for before it is made again', async () => {
    const { till, take, clock } = await stage();
    till.after = (at) => (at === RESET ? FOREVER : Promise.resolve());
    const first = take({});
    await called(till, RESET);
    await clock.advance(500);
    expect(of(await first)).toMatchObject({ outcome: 'unknown', calls_done: 1, error_kind: 'TOOL_TIMEOUT' });
    expect(of(await take({ attempt: 2, reconcile_first: true }, { calls_done: 1 }))).toMatchObject({
      outcome: 'verified',
      calls_done: 2,
    });
    expect([till.executions(VOID), till.executions(RESET)]).toEqual([1, 1]);
  });

  it.each([
    [VOID, 'before', 2, 1],
    [VOID, 'after', 1, 1],
    [RESET, 'before', 1, 2],
    [RESET, 'after', 1, 1],
  ] as const)(
    'whose worker is killed at %s, %s its effect, is finished by the next attempt',
    async (at, where, voids, resets) => {
      const { till, take, killedAt } = await stage();
      await killedAt(at, where);
      // The same attempt, taken over by another worker: it looks, and calls nothing that the first may be at.
      expect(of(await take({}))).toMatchObject(
        at === RESET && where === 'after' ? { outcome: 'verified' } : { outcome: 'unknown', error_kind: 'CLAIM_TAKEN' },
      );
      expect(of(await take({ attempt: 2, reconcile_first: true }))).toMatchObject({
        outcome: 'verified',
        calls_done: 2,
      });
      expect([till.executions(VOID), till.executions(RESET)]).toEqual([voids, resets]);
      expect(till.effects).toEqual(['rev_key', 'rev_key_2']);
    },
  );

  it('without a key is never called twice, whoever was killed between the calls', async () => {
    const { till, take, killedAt } = await stage();
    await killedAt(RESET, 'before', KEYLESS);
    expect(of(await take({}, KEYLESS))).toMatchObject({ outcome: 'unknown', error_kind: 'CLAIM_TAKEN' });
    const told = of(await take({ attempt: 2, reconcile_first: true }, KEYLESS));
    expect(told).toMatchObject({ outcome: 'not_executed', error_kind: 'RETRY_WITHOUT_KEY', calls_done: 1 });
    expect([till.executions(VOID), till.executions(RESET)]).toEqual([1, 1]);
  });

  it('blames whoever changed what an earlier attempt had done, and does it not again', async () => {
    const { till, take } = await stage();
    const told = of(await take({ attempt: 2, reconcile_first: true }, { calls_done: 1 }));
    expect(told).toMatchObject({ outcome: 'stale', calls_done: 0, error_kind: 'STALE' });
    expect(till.calls).toEqual(['verify get_sale']);
  });

  it('is unknown where its lease ends between the calls: a copy may have gone on', async () => {
    const { till, take, clock } = await stage();
    till.after = () => {
      clock.set(NOT_AFTER);
      return Promise.resolve();
    };
    const looking = { ...till.tools, 'till.get_sale': late(till.tools['till.get_sale'], clock) };
    const told = of(await take({}, {}, { tools: looking }));
    expect(told).toMatchObject({ outcome: 'unknown', calls_done: 1, error_kind: 'LEASE_OVER' });
    expect(till.executions(RESET)).toBe(0);
  });

  it('stops before a call that a kill switch is thrown over', async () => {
    const { till, take } = await stage();
    const mayGoOn: LegParts['mayGoOn'] = (_, { call: { capability } }) => capability !== RESET;
    const told = of(await take({}, {}, { mayGoOn }));
    expect(told).toMatchObject({ outcome: 'unknown', calls_done: 1, error_kind: 'HELD_BACK' });
    expect(till.executions(RESET)).toBe(0);
  });

  it('is looked at call by call where a person asks how it stands', async () => {
    const { till, take } = await stage();
    await take({});
    till.calls.length = 0;
    expect(of(await take({ kind: 'observe' }))).toMatchObject({ outcome: 'verified', calls_done: 2 });
    expect(till.calls).toEqual(['verify get_sale', 'verify get_drawer']);
  });
});

/** A look after which the lease is over. */
function late(tool: Tool | undefined, clock: ManualClock): Tool {
  return async (args, context) => {
    const seen = (await tool?.(args, context)) ?? null;
    if (context.phase === 'verify') clock.set(NOT_AFTER + 1);
    return seen;
  };
}

/** Waits until a call has begun. */
async function called(till: Till, capability: string): Promise<void> {
  for (let turn = 0; turn < 500 && till.executions(capability) === 0; turn += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
}

function of({ steps }: LegReported): StepReport {
  const [only] = steps;
  if (only === undefined || steps.length > 1) throw new Error('one step is told of');
  return only;
}
