// What a worker's tool does to what it was given, or later to what it answered, changes nothing of its step.
import { describe, expect, it } from '@jest/globals';
import { plainPayload, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import type { LegRequested, StepReport } from '@recourse/messages';
import type { ForwardTool } from '../guard/guard.messages.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import type { Tool } from '../tool/tool.js';
import { runLeg } from './leg-runner.js';
import { legOf, legStep } from './legs.testing.js';

const BOUND = { refund_id: 'rf_1' };

async function ends(
  leg: LegRequested,
  tools: Readonly<Record<string, Tool>>,
  forwardTools: Readonly<Record<string, ForwardTool>> = {},
): Promise<StepReport | undefined> {
  const parts = { clock: new ManualClock(1_000), claimStore: new MemoryClaimStore(), callTimeoutMs: 500 };
  return (await runLeg(leg, { workerId: 'w', tools, forwardTools, ...parts })).steps[0];
}

/** Takes what it was given for its own. */
function spoil(given: unknown): void {
  Object.assign(given as object, { refund_id: 'spoilt', status: 'spoilt' });
}

describe('a tool of a worker that changes its arguments in place', () => {
  it('is called with those that were bound, at each look and call, and judged by them', async () => {
    const seen: Json[] = [];
    let status = 'settled';
    const look: Tool = (args) => {
      seen.push({ ...(args as typeof BOUND) });
      const { refund_id } = args as typeof BOUND;
      spoil(args);
      return Promise.resolve({ refund_id, status });
    };
    const reverse: Tool = (args, { expected }) => {
      seen.push({ ...(args as typeof BOUND) }, { ...(expected as typeof BOUND) });
      spoil(args);
      spoil(expected);
      status = 'reversed';
      return Promise.resolve({});
    };
    const step = legStep({
      stale_compares: 'version',
      success_condition: 'observed.status == "reversed" && observed.refund_id == bound.args.refund_id',
    });
    const told = await ends(legOf({ steps: [step] }), {
      'payments.get_refund': look,
      'payments.reverse_refund': reverse,
    });
    expect(told).toMatchObject({ outcome: 'verified' });
    expect(seen).toEqual([BOUND, BOUND, { ...BOUND, status: 'settled' }, BOUND]);
    expect(told?.observations.map(({ observed }) => readPayload(observed))).toEqual([
      { ...BOUND, status: 'settled' },
      {},
      { ...BOUND, status: 'reversed' },
    ]);
  });
});

describe('a tool of a worker that goes on with what it answered', () => {
  /** Answers with what it keeps, and changes it as soon as it has answered. */
  const keeping = (row: object): Promise<Json> => {
    void Promise.resolve().then(async () => {
      await Promise.resolve();
      spoil(row);
    });
    return Promise.resolve(row as Json);
  };

  it('is judged by what it answered, and so is what is to be so when it writes', async () => {
    const expectations: unknown[] = [];
    let status = 'settled';
    const told = await ends(legOf({ steps: [legStep({ stale_compares: 'version' })] }), {
      'payments.get_refund': () => keeping({ ...BOUND, status }),
      'payments.reverse_refund': (_, { expected }) => {
        expectations.push(expected);
        status = 'reversed';
        return Promise.resolve({});
      },
    });
    expect(told).toMatchObject({ outcome: 'verified' });
    expect(expectations).toEqual([{ ...BOUND, status: 'settled' }]);
  });

  it('lets a held effect go, and is told with what it answered', async () => {
    const step = legStep({
      call: { ...legStep().call, capability: 'payments.issue_refund', args: plainPayload({ order: '4711' }) },
      success_condition: null,
    });
    const forward: ForwardTool = {
      execute: () => keeping({ ...BOUND }),
      externalTransactionRef: (result) => (result as typeof BOUND).refund_id,
    };
    const told = await ends(legOf({ kind: 'release', steps: [step] }), {}, { 'payments.issue_refund': forward });
    expect(told).toMatchObject({ outcome: 'verified', external_transaction_ref: 'rf_1' });
    expect(told?.observations.map(({ observed }) => readPayload(observed))).toEqual([BOUND]);
  });
});

describe('a tool of a worker that answers nothing', () => {
  const nothing: Tool = () => Promise.resolve(undefined) as unknown as Promise<Json>; // plain JavaScript may answer nothing

  it('has acted where it was to act, and its answer is null', async () => {
    let status = 'settled';
    const told = await ends(legOf({}), {
      'payments.get_refund': () => Promise.resolve({ ...BOUND, status }),
      'payments.reverse_refund': (...asked) => {
        status = 'reversed';
        return nothing(...asked);
      },
    });
    expect(told).toMatchObject({ outcome: 'verified', detail: null });
    expect(told?.observations.filter(({ phase }) => phase === 'execute')).toMatchObject([
      { observed: plainPayload(null) },
    ]);
  });

  it('has seen nothing where it was to look', async () => {
    let called = 0;
    const told = await ends(legOf({ steps: [legStep({ stale_compares: 'version' })] }), {
      'payments.get_refund': nothing,
      'payments.reverse_refund': () => Promise.resolve({ called: (called += 1) }),
    });
    expect(called).toBe(0);
    expect(told?.detail).toContain('its answer counts as none: it is undefined');
  });
});
