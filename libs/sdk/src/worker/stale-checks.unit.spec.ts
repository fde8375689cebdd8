// The five ways to see that somebody else changed a resource since (C52), each with its fresh and its changed state.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import type { LegStep } from '@recourse/messages';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { runLeg } from './leg-runner.js';
import { legOf, legStep } from './legs.testing.js';
import { ToolConflict, ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';

interface Strategy {
  /** What the reversal was bound to when the effect was accepted. */
  readonly bound: { readonly [name: string]: Json };
  readonly condition: string;
  readonly fresh: Json;
  readonly changed: Json;
}

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'version or ETag': {
    bound: { expected_version: 7 },
    condition: 'observed.version == bound.args.expected_version',
    fresh: { version: 7 },
    changed: { version: 8 },
  },
  'time of the last change': {
    bound: { changed_at: '2026-01-01T00:00:00Z' },
    condition: 'observed.last_modified == bound.args.changed_at',
    fresh: { last_modified: '2026-01-01T00:00:00Z' },
    changed: { last_modified: '2026-01-02T00:00:00Z' },
  },
  'owner or status': {
    bound: { status: 'closed', owner: 'agent' },
    condition: 'observed.status == bound.args.status && observed.owner == bound.args.owner',
    fresh: { status: 'closed', owner: 'agent' },
    changed: { status: 'closed', owner: 'asha' },
  },
  'the very comment, branch, deployment or message': {
    bound: { comment_id: 'c9' },
    condition: 'observed.latest_id == bound.args.comment_id',
    fresh: { latest_id: 'c9' },
    changed: { latest_id: 'c10' },
  },
};

/** Undoes one effect under a stale-state check; the resource stands as `state` says. */
async function undone(
  { bound, condition }: Pick<Strategy, 'bound' | 'condition'>,
  state: Json,
  undo: Tool,
  more: Partial<LegStep> = {},
) {
  let acts = 0;
  const step = legStep({
    stale_capability: 'crm.read_item',
    stale_condition: condition,
    verify_capability: 'crm.read_item',
    success_condition: 'type(observed) == map',
    verify_max_attempts: 1,
    ...more,
  });
  const call = { ...step.call, capability: 'crm.undo_item', args: plainPayload(bound) };
  const report = await runLeg(legOf({ steps: [{ ...step, call }] }), {
    workerId: 'worker',
    clock: new ManualClock(1_000),
    claimStore: new MemoryClaimStore(),
    callTimeoutMs: 500,
    tools: {
      'crm.read_item': () => Promise.resolve(state),
      'crm.undo_item': (args, context) => {
        acts += 1;
        return undo(args, context);
      },
    },
  });
  const [told] = report.steps;
  return { outcome: told?.outcome, acts, saw: told?.observations.map(({ phase }) => phase) };
}
const acting: Tool = () => Promise.resolve({ ok: true });

describe.each(Object.entries(STRATEGIES))('a stale-state check by %s (C52)', (_, strategy) => {
  it('lets the compensation go on while nobody changed the resource', async () => {
    expect(await undone(strategy, strategy.fresh, acting)).toEqual({
      outcome: 'verified',
      acts: 1,
      saw: ['stale_check', 'execute', 'verify'],
    });
  });

  it('touches nothing once somebody did', async () => {
    expect(await undone(strategy, strategy.changed, acting)).toEqual({
      outcome: 'stale',
      acts: 0,
      saw: ['stale_check'],
    });
  });

  it('touches nothing when it cannot tell', async () => {
    expect(await undone(strategy, {}, acting)).toEqual({ outcome: 'stale', acts: 0, saw: ['stale_check'] });
  });
});

describe('a stale-state check by compare and swap (C52)', () => {
  const swap = { bound: { expected_version: 7 }, condition: 'observed.version == bound.args.expected_version' };

  /** The tool compares while it writes: between look and act the resource may move on. */
  const swapping =
    (now: number, lost: Error = new ToolConflict('changed since')): Tool =>
    (args) => {
      const { expected_version } = args as { readonly expected_version: number }; // bound above
      return expected_version === now ? Promise.resolve({ version: now + 1 }) : Promise.reject(lost);
    };

  it('writes where the version is the one that was bound', async () => {
    expect(await undone(swap, { version: 7 }, swapping(7))).toMatchObject({ outcome: 'verified', acts: 1 });
  });

  it.each<readonly [string, Error]>([
    ['a conflict', new ToolConflict('changed since')],
    ['a precondition', new ToolRejected('PRECONDITION_FAILED', '412')],
  ])('that loses to a change between look and act, told as %s, had no effect and is stale', async (_told, lost) => {
    expect(await undone(swap, { version: 7 }, swapping(8, lost))).toEqual({
      outcome: 'stale',
      acts: 1,
      saw: ['stale_check'],
    });
  });

  it('is refused where the tool refused for another reason', async () => {
    const refused = new ToolRejected('FORBIDDEN', 'no');
    expect(await undone(swap, { version: 7 }, swapping(8, refused))).toMatchObject({ outcome: 'failed' });
  });
});

describe('what a stale-state check compares (C52)', () => {
  /** What the acting tool was handed, where the contract compares by this. */
  const handed = async (stale_compares: string): Promise<Json | undefined> => {
    let expected: Json | undefined;
    const swap = { bound: { expected_version: 7 }, condition: 'observed.version == bound.args.expected_version' };
    await undone(
      swap,
      { version: 7, name: 'x' },
      (_args, context) => {
        expected = context.expected;
        return Promise.resolve({ ok: true });
      },
      { stale_compares },
    );
    return expected;
  };

  it.each(['version', 'etag', 'compare_and_swap'])(
    'by %s is compared again while it is written: the tool is handed what the look saw',
    async (compares) => {
      expect(await handed(compares)).toEqual({ version: 7, name: 'x' });
    },
  );

  it.each(['last_modified', 'owner', 'status', 'exact_id'])('by %s is judged by the look alone', async (compares) => {
    expect(await handed(compares)).toBeUndefined();
  });
});
