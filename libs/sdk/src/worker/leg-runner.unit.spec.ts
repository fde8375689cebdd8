// What a leg of many steps owes its effects, seen from the provider: the order, the stop, and each effect once whoever was killed where.
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import type { LegReported, LegRequested, LegStep } from '@recourse/messages';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import type { Claim, ClaimStore } from '../stores/claim-store.port.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import { runLeg } from './leg-runner.js';
import type { LegParts } from './leg-runner.js';
import { legOf, legStep, NOT_AFTER } from './legs.testing.js';

const ELEVEN = 11;
const FOREVER = new Promise<never>(() => undefined);

/** A provider of one resource per step, which deduplicates by key and writes down every call. */
class Provider {
  readonly calls: { readonly phase: string; readonly step: string; readonly key: string }[] = [];
  /** Keys in the order they took effect. */
  readonly effects: string[] = [];
  /** What comes before and after the effect of a call. */
  before: (step: string) => Promise<void> = () => Promise.resolve();
  after: (step: string) => Promise<void> = () => Promise.resolve();

  readonly tools: Readonly<Record<string, Tool>> = {
    'payments.reverse_refund': async (_, context) => {
      const step = this.note(context);
      await this.before(step);
      if (!this.effects.includes(context.idempotencyKey)) this.effects.push(context.idempotencyKey);
      await this.after(step);
      return { status: 'reversed' };
    },
    'payments.get_refund': (_, context): Promise<Json> => {
      this.note(context);
      return Promise.resolve({ status: this.effects.includes(context.idempotencyKey) ? 'reversed' : 'settled' });
    },
  };

  /** Steps that were called in a phase, in order. */
  in(phase: string): readonly string[] {
    return this.calls.filter((call) => call.phase === phase).map(({ step }) => step);
  }

  private note({ phase, idempotencyKey, callId: step }: ToolContext): string {
    this.calls.push({ phase, step, key: idempotencyKey });
    return step;
  }
}

const idOf = (index: number): string => `step_${String(index)}`;
const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => idOf(index + 1));
const keys = (count: number): readonly string[] => ids(count).map((id) => `rev_${id}`);

function legWith(count: number, step: Partial<LegStep> = {}, more: Partial<LegRequested> = {}): LegRequested {
  const steps = ids(count).map((step_id) =>
    legStep({
      step_id,
      call: { ...legStep().call, call_id: step_id, idempotency_key: `rev_${step_id}` },
      verify_max_attempts: 1,
      ...step,
    }),
  );
  return legOf({ steps, ...more });
}

class Stage {
  readonly clock = new ManualClock(1_000);
  readonly provider = new Provider();
  readonly claims: Claim[] = [];
  private readonly kept = new MemoryClaimStore();
  readonly claimStore: ClaimStore = {
    claim: (claim) => {
      this.claims.push(claim);
      return this.kept.claim(claim);
    },
  };

  /** A worker of its own over the stores of this stage takes a leg. */
  take(leg: LegRequested, more: Partial<LegParts> = {}): Promise<LegReported> {
    const { clock, claimStore } = this;
    return runLeg(leg, { workerId: 'w', tools: this.provider.tools, clock, claimStore, callTimeoutMs: 500, ...more });
  }

  /** A worker that is killed while it is at a step: before its effect, or between effect and answer. */
  async killedAt(leg: LegRequested, step: string, where: 'before' | 'after'): Promise<void> {
    this.provider[where] = (at) => (at === step ? FOREVER : Promise.resolve());
    void this.take(leg, { callTimeoutMs: Number.MAX_SAFE_INTEGER });
    for (let turn = 0; turn < 200 && !this.provider.in('execute').includes(step); turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    this.provider[where] = () => Promise.resolve();
  }
}

const told = ({ steps }: LegReported) => steps.map(({ step_id, outcome }) => [step_id, outcome]);
const all = (count: number, outcome: string) => ids(count).map((id) => [id, outcome]);

const KEYLESS = { key_lifetime_ms: null } as const;

const HOLLOW = [
  ['holds whatever is observed', 'true'],
  ['reads nothing of what is observed', 'bound.args.refund_id == "rf_1"'],
  ['is what the look before asked for', 'observed.status == "settled"'],
] as const;

describe('a leg under a contract of old', () => {
  it.each(HOLLOW)('is not taken for done, nor made again, by a condition that %s', async (_, success_condition) => {
    const stage = new Stage();
    const again = legWith(1, { success_condition }, { attempt: 2, reconcile_first: true });
    expect(told(await stage.take(again))).toEqual(all(1, 'unknown'));
    expect(stage.provider.effects).toEqual([]);
  });

  it.each(HOLLOW)('is made, and is not told as verified, by a condition that %s', async (_, success_condition) => {
    const stage = new Stage();
    expect(told(await stage.take(legWith(1, { success_condition })))).toEqual(all(1, 'unverified'));
    expect(stage.provider.effects).toEqual(keys(1));
  });
});

describe('a leg of eleven steps', () => {
  it('makes them in order, each after the one before was verified, and names them so', async () => {
    const stage = new Stage();
    const report = await stage.take(legWith(ELEVEN));
    expect([told(report), report.complete]).toEqual([all(ELEVEN, 'verified'), true]);
    expect(stage.provider.effects).toEqual(keys(ELEVEN));
    expect(stage.provider.calls.map(({ phase, step }) => `${phase} ${step}`)).toEqual(
      ids(ELEVEN).flatMap((id) => [`stale_check ${id}`, `execute ${id}`, `verify ${id}`]),
    );
  });

  it('stops at the fourth when it fails, and names four', async () => {
    const stage = new Stage();
    stage.provider.before = (step) =>
      step === idOf(4) ? Promise.reject(new ToolRejected('GONE', 'no such refund')) : Promise.resolve();
    expect(told(await stage.take(legWith(ELEVEN)))).toEqual([...all(3, 'verified'), [idOf(4), 'failed']]);
    expect([stage.provider.effects, stage.provider.in('stale_check')]).toEqual([keys(3), ids(4)]);
  });

  it('looks at the time before each call of each step: a late look is not made, and what was made stays unknown', async () => {
    const stage = new Stage();
    stage.provider.after = async (step) => {
      if (step === idOf(5)) stage.clock.set(NOT_AFTER);
      if (step === idOf(6)) stage.clock.set(NOT_AFTER + 1);
      return Promise.resolve();
    };
    const report = await stage.take(legWith(ELEVEN));
    expect(told(report)).toEqual([...all(5, 'verified'), [idOf(6), 'unknown']]);
    expect([stage.provider.in('execute'), stage.provider.in('verify')]).toEqual([ids(6), ids(5)]);
  });

  it('names the one that could not begin in time as refused, and no later one', async () => {
    const stage = new Stage();
    const report = await stage.take(legWith(ELEVEN), {
      onStep: (steps) => {
        if (steps.length === 5) stage.clock.set(NOT_AFTER + 1);
      },
    });
    expect(told(report)).toEqual([...all(5, 'verified'), [idOf(6), 'refused_late']]);
    expect(report.steps[5]?.error_kind).toBe('LEASE_OVER');
    expect(stage.provider.calls.map(({ step }) => step)).not.toContain(idOf(6));
  });
});

describe('a leg of sixty-four steps whose fortieth is not answered in time', () => {
  it('names thirty-nine as verified, that one as unknown, and no later one', async () => {
    const stage = new Stage();
    stage.provider.after = (step) => (step === idOf(40) ? FOREVER : Promise.resolve());
    const report = stage.take(legWith(64));
    for (let turn = 0; turn < 500 && !stage.provider.in('execute').includes(idOf(40)); turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await stage.clock.advance(500);
    expect(told(await report)).toEqual([...all(39, 'verified'), [idOf(40), 'unknown']]);
    expect((await report).steps[39]?.error_kind).toBe('TOOL_TIMEOUT');
    expect(stage.provider.effects).toEqual(keys(40));
  });

  it('waits for each call as long as its step says', async () => {
    const stage = new Stage();
    const leg = legWith(2, { call_timeout_ms: 100 });
    stage.provider.before = () => FOREVER;
    const report = stage.take(leg);
    for (let turn = 0; turn < 20; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await stage.clock.advance(100);
    expect(told(await report)).toEqual([[idOf(1), 'unknown']]);
  });
});

describe('the claim of a leg', () => {
  it('is one for all steps whose tools take keys, made before any of them', async () => {
    const stage = new Stage();
    let callsBefore = -1;
    const store: ClaimStore = {
      claim: (claim) => {
        callsBefore = stage.provider.calls.length;
        return stage.claimStore.claim(claim);
      },
    };
    await stage.take(legWith(ELEVEN), { claimStore: store });
    expect([stage.claims, callsBefore]).toEqual([[{ id: 'leg_1', attempt: 1, workerId: 'w' }], 0]);
  });

  it('is one for each step whose tool takes no key, last before its call', async () => {
    const stage = new Stage();
    await stage.take(legWith(3, KEYLESS));
    expect(stage.claims.map(({ id }) => id)).toEqual(ids(3));
  });

  it('that is taken makes a second copy look first at every step, and repeat nothing', async () => {
    const stage = new Stage();
    const leg = legWith(ELEVEN);
    await stage.take(leg);
    const { length } = stage.provider.calls;
    expect(told(await stage.take(leg))).toEqual(all(ELEVEN, 'verified'));
    expect(stage.provider.calls.slice(length).map(({ phase, step }) => `${phase} ${step}`)).toEqual(
      ids(ELEVEN).flatMap((id) => [`reconcile ${id}`, `verify ${id}`]),
    );
    expect(stage.provider.effects).toEqual(keys(ELEVEN));
  });

  it('that cannot be kept lets a worker look, and call nothing', async () => {
    const stage = new Stage();
    const claimStore: ClaimStore = { claim: () => Promise.reject(new Error('disk full')) };
    const report = await stage.take(legWith(3), { claimStore });
    expect([told(report), report.steps[0]?.error_kind]).toEqual([[[idOf(1), 'unknown']], 'CLAIM_FAILED']);
    expect([stage.provider.in('reconcile'), stage.provider.in('execute')]).toEqual([ids(1), []]);
  });

  it('that is taken never calls a tool without a key twice', async () => {
    const stage = new Stage();
    const leg = legWith(3, KEYLESS);
    await stage.killedAt(leg, idOf(2), 'after');
    expect(told(await stage.take(leg))).toEqual([[idOf(1), 'unknown']]);
    expect(stage.provider.in('execute')).toEqual(ids(2));
  });

  it('that is taken leaves a change that nobody explains unknown, at a later step too', async () => {
    const stage = new Stage();
    const leg = legWith(3, { success_condition: 'observed.status == "paid_back"', verify_capability: null });
    await stage.killedAt(legWith(1), idOf(1), 'after');
    const steps = leg.steps.map((step, at) => (at === 0 ? (legWith(1).steps[0] ?? step) : step));
    stage.provider.effects.push(`rev_${idOf(2)}`);
    const report = await stage.take({ ...leg, steps });
    expect(told(report)).toEqual([
      [idOf(1), 'verified'],
      [idOf(2), 'unknown'],
    ]);
    expect(report.steps[1]?.error_kind).toBe('CLAIM_TAKEN');
  });
});

describe('a leg of eleven whose worker is killed', () => {
  it.each(ids(ELEVEN).flatMap((id) => [[id, 'before'] as const, [id, 'after'] as const]))(
    'at %s, %s its effect, has each effect once, and none lost',
    async (step, where) => {
      const stage = new Stage();
      const leg = legWith(ELEVEN);
      await stage.killedAt(leg, step, where);
      const calls = stage.provider.in('execute').length;
      // Within the attempt nobody calls again: the one that was killed may be calling. The next attempt makes the rest.
      expect(told(await stage.take(leg)).at(-1)).toEqual([
        expect.any(String),
        calls === ELEVEN && where === 'after' ? 'verified' : 'unknown',
      ]);
      expect(stage.provider.in('execute')).toHaveLength(calls);
      expect(told(await stage.take({ ...leg, attempt: 2, reconcile_first: true }))).toEqual(all(ELEVEN, 'verified'));
      expect(stage.provider.effects).toEqual(keys(ELEVEN));
      const made = where === 'after' ? ids(ELEVEN) : [...ids(ELEVEN), step];
      expect([...stage.provider.in('execute')].sort()).toEqual([...made].sort());
    },
  );

  it.each(ids(ELEVEN))('at %s, whose tool takes no key, has no effect twice', async (step) => {
    const stage = new Stage();
    const leg = legWith(ELEVEN, KEYLESS);
    await stage.killedAt(leg, step, 'after');
    await stage.take(leg);
    const calls = stage.provider.in('execute');
    expect([...new Set(calls)]).toEqual(calls);
  });
});
