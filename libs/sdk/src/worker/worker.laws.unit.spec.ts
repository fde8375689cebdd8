// What a worker owes a compensation, seen from its provider: one lease, the order of its calls, its key, and one effect after a crash.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import type { LegRequested, LegStep, StepReport } from '@recourse/messages';
import fc from 'fast-check';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { advance, decideStep, NOT_BEGUN } from './leg.decisions.js';
import type { StepEvent, StepProgress } from './leg.messages.js';
import { runLeg } from './leg-runner.js';
import { legOf, legStep, NOT_AFTER } from './legs.testing.js';
import { CallsUnderWay } from './one-at-a-time.js';
import type { Tool, ToolContext } from '../tool/tool.js';

const REVERSE = 'payments.reverse_refund';
const LOOK = 'payments.get_refund';

/** A provider that deduplicates by key, and writes down every call it gets. */
class Provider {
  readonly effects = new Map<string, Json>();
  readonly calls: { readonly capability: string; readonly args: Json; readonly context: ToolContext }[] = [];
  /** What comes after the effect and before the answer; a kill of the worker hangs here. */
  beforeAnswer: Promise<void> = Promise.resolve();
  beforeEffect: () => Promise<unknown> = () => Promise.resolve();

  readonly tools: Readonly<Record<string, Tool>> = {
    [REVERSE]: async (args, context) => {
      this.calls.push({ capability: REVERSE, args, context });
      await this.beforeEffect();
      this.effects.set(context.idempotencyKey, args);
      await this.beforeAnswer;
      return { status: 'reversed' };
    },
    [LOOK]: (args, context) => {
      this.calls.push({ capability: LOOK, args, context });
      return Promise.resolve({ status: this.effects.size > 0 ? 'reversed' : 'settled' });
    },
  };

  get phases(): readonly string[] {
    return this.calls.map(({ context }) => context.phase);
  }
  get acts(): number {
    return this.calls.filter(({ capability }) => capability === REVERSE).length;
  }
}

class Stage {
  readonly clock = new ManualClock(1_000);
  readonly claimStore = new MemoryClaimStore();
  readonly provider = new Provider();
  private readonly underWay = new Map<string, CallsUnderWay>();

  /** Lets what can happen without the clock happen. */
  async turns(): Promise<void> {
    for (let turn = 0; turn < 50; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }

  /** Each worker knows its own calls. */
  private callsOf(workerId: string): CallsUnderWay {
    const calls = this.underWay.get(workerId) ?? new CallsUnderWay();
    this.underWay.set(workerId, calls);
    return calls;
  }

  /** A worker takes a leg; every worker of this stage shares clock, claims and provider. */
  async take(
    workerId: string,
    leg: Partial<LegRequested> = {},
    step: Partial<LegStep> = {},
  ): Promise<StepReport | undefined> {
    const parts = {
      workerId,
      tools: this.provider.tools,
      clock: this.clock,
      claimStore: this.claimStore,
      callTimeoutMs: 500,
      underWay: this.callsOf(workerId),
    };
    return (await runLeg(legOf({ ...leg, steps: [legStep(step)] }), parts)).steps[0];
  }

  /** A worker that dies between its call and its report: the effect is there, nobody hears of it. */
  async killed(step: Partial<LegStep> = {}): Promise<void> {
    this.provider.beforeAnswer = new Promise(() => undefined);
    void this.take('dead', {}, step);
    for (let turn = 0; turn < 50 && this.provider.acts === 0; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    this.provider.beforeAnswer = Promise.resolve();
  }
}

const KEYLESS = { key_lifetime_ms: null } as const;

describe('a compensation whose worker is killed between call and report (B18)', () => {
  it('is found done by the next attempt, which looks before it acts: one effect, and verified', async () => {
    const stage = new Stage();
    await stage.killed();
    expect(await stage.take('next', { attempt: 2, reconcile_first: true, lease_id: 'lease_2' })).toMatchObject({
      outcome: 'verified',
    });
    expect([stage.provider.acts, stage.provider.effects.size]).toEqual([1, 1]);
  });

  it("is found done by who takes it again within its lease: its own effect is nobody's change", async () => {
    const stage = new Stage();
    await stage.killed();
    expect(await stage.take('next')).toMatchObject({
      outcome: 'verified',
      observations: [{ phase: 'reconcile' }, { phase: 'verify' }],
    });
    expect([stage.provider.acts, stage.provider.effects.size]).toEqual([1, 1]);
  });

  it('may be called again by the next attempt, under the same key, where it is proven not to be there: still one effect', async () => {
    const stage = new Stage();
    await stage.killed();
    stage.provider.effects.clear();
    expect(await stage.take('same attempt')).toMatchObject({ outcome: 'unknown', error_kind: 'CLAIM_TAKEN' });
    stage.provider.calls.splice(2);
    expect(await stage.take('next', { attempt: 2, reconcile_first: true })).toMatchObject({ outcome: 'verified' });
    expect([stage.provider.phases.slice(2), [...stage.provider.effects.keys()]]).toEqual([
      ['reconcile', 'stale_check', 'execute', 'verify'],
      ['rev_key'],
    ]);
  });

  it("and whose effect shows only in part is nobody's change either: it stays unknown, and the next attempt finds out", async () => {
    const stage = new Stage();
    await stage.killed();
    expect(await stage.take('next', {}, { success_condition: 'observed.status == "paid_back"' })).toMatchObject({
      outcome: 'unknown',
      error_kind: 'CLAIM_TAKEN',
    });
    expect(await stage.take('later', { attempt: 2, reconcile_first: true })).toMatchObject({ outcome: 'verified' });
    expect(stage.provider.acts).toBe(1);
  });

  it('is made by the next attempt where the kill came before the call', async () => {
    const stage = new Stage();
    expect(await stage.take('next', { attempt: 2, reconcile_first: true })).toMatchObject({ outcome: 'verified' });
    expect(stage.provider.acts).toBe(1);
  });

  it.each([
    ['with a look before', {}],
    ['without one', { stale_capability: null }],
  ])('is never called again where the tool takes no key, %s', async (_case, looks) => {
    const stage = new Stage();
    const step = { ...KEYLESS, ...looks };
    await stage.killed(step);
    expect(await stage.take('next', {}, step)).toMatchObject({ outcome: 'unknown', error_kind: 'CLAIM_TAKEN' });
    expect(stage.provider.acts).toBe(1);
  });
});

describe('a step that two workers come upon (C43)', () => {
  it('has one call under way where its tool takes no key: the first to claim it makes it', async () => {
    const stage = new Stage();
    const step = { ...KEYLESS, stale_capability: null };
    await stage.killed(step);
    const others = await Promise.all(['two', 'three', 'four'].map((worker) => stage.take(worker, {}, step)));
    expect([others.map((report) => report?.error_kind), stage.provider.acts]).toEqual([
      ['CLAIM_TAKEN', 'CLAIM_TAKEN', 'CLAIM_TAKEN'],
      1,
    ]);
  });

  it('has one effect, and no word of a change, however many take the attempt of a tool with a key', async () => {
    const stage = new Stage();
    await stage.killed();
    const others = await Promise.all(['two', 'three', 'four'].map((worker) => stage.take(worker)));
    expect([others.map((report) => report?.outcome), stage.provider.acts, stage.provider.effects.size]).toEqual([
      ['verified', 'verified', 'verified'],
      1,
      1,
    ]);
  });

  it.each([1, 2])(
    'has one call under way where its tool takes a key too, in attempt %s: nobody else calls while it lasts',
    async (attempt) => {
      const stage = new Stage();
      const leg = { attempt, reconcile_first: attempt > 1, lease_id: `lease_${String(attempt)}` };
      let underWay = 0;
      let most = 0;
      const ends = Promise.withResolvers<undefined>();
      stage.provider.beforeEffect = async () => {
        most = Math.max(most, (underWay += 1));
        await ends.promise;
        underWay -= 1;
      };
      const first = stage.take('one', leg);
      await stage.turns();
      const others = await Promise.all(['two', 'three'].map((worker) => stage.take(worker, leg)));
      ends.resolve(undefined);
      expect([others.map((report) => report?.error_kind), (await first)?.outcome, most]).toEqual([
        ['CLAIM_TAKEN', 'CLAIM_TAKEN'],
        'verified',
        1,
      ]);
    },
  );

  it('is not called again by the worker whose call timed out and has not come back', async () => {
    const stage = new Stage();
    const ends = Promise.withResolvers<undefined>();
    stage.provider.beforeEffect = () => ends.promise;
    const first = stage.take('one');
    await stage.turns();
    await stage.clock.advance(500);
    expect(await first).toMatchObject({ outcome: 'unknown', error_kind: 'TOOL_TIMEOUT' });
    const again = { attempt: 2, reconcile_first: true };
    expect(await stage.take('one', again)).toMatchObject({ outcome: 'unknown', error_kind: 'CALL_IN_FLIGHT' });
    expect(stage.provider.acts).toBe(1);
    ends.resolve(undefined);
    await stage.turns();
    expect(await stage.take('one', { ...again, attempt: 3 })).toMatchObject({ outcome: 'verified' });
    expect(stage.provider.acts).toBe(1);
  });

  it('is refused by who comes after the lease', async () => {
    const stage = new Stage();
    await stage.clock.advance(NOT_AFTER);
    expect(await stage.take('late')).toMatchObject({ outcome: 'refused_late', error_kind: 'LEASE_OVER' });
    expect(stage.provider.calls).toEqual([]);
  });
});

describe("the order of a worker's calls", () => {
  it('begins with the look back where the outcome of an earlier attempt is uncertain (C44)', async () => {
    const stage = new Stage();
    await stage.take('next', { attempt: 2, reconcile_first: true });
    expect(stage.provider.phases).toEqual(['reconcile', 'stale_check', 'execute', 'verify']);
  });

  it('ends with the look back where that cannot tell: nothing is changed (C44)', async () => {
    const stage = new Stage();
    expect(
      await stage.take(
        'next',
        { attempt: 2, reconcile_first: true },
        { success_condition: 'observed.no_such_field == 1' },
      ),
    ).toMatchObject({ outcome: 'unknown', error_kind: 'CONDITION_FAILED' });
    expect(stage.provider.phases).toEqual(['reconcile']);
  });

  const looks = fc.constantFrom(true, false, null);
  const anyEvent: fc.Arbitrary<StepEvent> = fc.oneof(
    fc.record({
      type: fc.constant('Observed' as const),
      phase: fc.constantFrom('reconcile' as const, 'stale_check' as const, 'verify' as const),
      holds: looks,
    }),
    fc.record({
      type: fc.constant('ObservationFailed' as const),
      phase: fc.constantFrom('reconcile' as const, 'stale_check' as const, 'verify' as const),
      failure: fc.constantFrom('TOOL_ERROR' as const, 'TOOL_TIMEOUT' as const),
    }),
    fc.record({
      type: fc.constant('ClaimAnswered' as const),
      answer: fc.constantFrom('granted' as const, 'taken' as const, 'failed' as const),
    }),
    fc.constant({ type: 'Executed' as const }),
    fc.constant({ type: 'Paused' as const }),
  );

  /** Whether this event answers what was asked last. */
  const answers = (event: StepEvent, action: ReturnType<typeof decideStep>): boolean => {
    switch (action.do) {
      case 'observe':
        return (event.type === 'Observed' || event.type === 'ObservationFailed') && event.phase === action.phase;
      case 'claim':
        return event.type === 'ClaimAnswered';
      case 'execute':
        return event.type === 'Executed';
      case 'pause':
        return event.type === 'Paused';
      case 'end':
        return false;
    }
  };

  it('has a look at the resource before every act, whatever is asked and answered (C51)', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        fc.boolean(),
        (events, attempt, isReconciled, isKeyed) => {
          const leg = legOf({ attempt, reconcile_first: isReconciled });
          const step = legStep(isKeyed ? {} : KEYLESS);
          let progress: StepProgress = NOT_BEGUN;
          let isFresh = false;
          for (const event of events) {
            const action = decideStep({ leg, step, progress, now: 0 });
            if (action.do === 'execute') expect(isFresh).toBe(true);
            if (!answers(event, action)) continue;
            if (event.type === 'Observed' && event.phase === 'stale_check') isFresh = event.holds === true;
            progress = advance(leg, progress, event);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('blames nobody, and calls nothing, where another delivery may have called and no look has told (B18)', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        fc.boolean(),
        (events, attempt, isReconciled, isKeyed) => {
          const leg = legOf({ attempt, reconcile_first: isReconciled });
          const step = legStep(isKeyed ? {} : KEYLESS);
          let progress: StepProgress = NOT_BEGUN;
          let isOpen = false;
          for (const event of events) {
            const action = decideStep({ leg, step, progress, now: 0 });
            if (isOpen) expect(action).not.toMatchObject({ do: 'execute' });
            if (progress.claim === 'taken') expect(action).not.toMatchObject({ end: { outcome: 'stale' } });
            if (!answers(event, action)) continue;
            if (event.type === 'ClaimAnswered') isOpen = event.answer !== 'granted';
            if (event.type === 'Observed' && event.phase === 'reconcile') isOpen = event.holds !== false;
            progress = advance(leg, progress, event);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('the call of a compensation', () => {
  it('carries the key of the compensation, attempt after attempt, and never that of the action (C47)', async () => {
    const stage = new Stage();
    await stage.take('one', { attempt: 1 });
    stage.provider.effects.clear();
    await stage.take('two', { attempt: 2, reconcile_first: true });
    const acts = stage.provider.calls.filter(({ context }) => context.phase === 'execute');
    expect(acts.map(({ context }) => [context.idempotencyKey, context.attempt])).toEqual([
      ['rev_key', 1],
      ['rev_key', 2],
    ]);
  });

  it('has the arguments that were bound to the effect, and nothing else (C46)', async () => {
    const stage = new Stage();
    const bound = { refund_id: 'rf_7', note: 'from the store' };
    await stage.take('one', {}, { call: { ...legStep().call, args: plainPayload(bound) } });
    expect(stage.provider.calls.map(({ args }) => args)).toEqual([bound, bound, bound]);
  });
});

describe('a resource that somebody changed since (C54)', () => {
  const CASES = [
    [
      'a person fixed the ticket',
      'observed.status == "open" && observed.assignee == bound.args.agent',
      { agent: 'agent' },
      { status: 'closed', assignee: 'asha' },
    ],
    [
      'the pipeline was rolled back',
      'observed.live_release == bound.args.release',
      { release: 'r-42' },
      { live_release: 'r-41' },
    ],
    [
      'a newer workflow changed the value',
      'observed.version == bound.args.expected_version',
      { expected_version: 7 },
      { version: 8, phone: '3' },
    ],
  ] as const;

  it.each(CASES)('%s: nothing is written, and what was seen is told', async (_case, condition, args, now) => {
    const stage = new Stage();
    const look: Tool = (_args, context) => {
      stage.provider.calls.push({ capability: LOOK, args: {}, context });
      return Promise.resolve(now);
    };
    const parts = {
      workerId: 'w',
      tools: { ...stage.provider.tools, [LOOK]: look },
      clock: stage.clock,
      claimStore: stage.claimStore,
      callTimeoutMs: 500,
    };
    const {
      steps: [report],
    } = await runLeg(
      legOf({
        steps: [legStep({ stale_condition: condition, call: { ...legStep().call, args: plainPayload(args) } })],
      }),
      parts,
    );
    expect(report).toMatchObject({
      outcome: 'stale',
      error_kind: 'STALE',
      observations: [{ phase: 'stale_check', observed: plainPayload(now) }],
    });
    expect([stage.provider.phases, stage.provider.effects.size]).toEqual([['stale_check'], 0]);
  });
});
