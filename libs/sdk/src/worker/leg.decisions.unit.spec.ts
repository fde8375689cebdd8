import { describe, expect, it } from '@jest/globals';
import type { LegRequested, LegStep, StepOutcome, StepReport } from '@recourse/messages';
import { advance, beginStep, claimIdOf, decideStep, flawOf, nextStep, NOT_BEGUN } from './leg.decisions.js';
import type { StepEvent, StepProgress } from './leg.messages.js';
import { legOf, legStep, NOT_AFTER } from './legs.testing.js';

interface Scene {
  readonly leg?: Partial<LegRequested>;
  readonly step?: Partial<LegStep>;
  readonly now?: number;
}

function next({ leg = {}, step = {}, now = 0 }: Scene, ...events: readonly StepEvent[]) {
  const request = legOf(leg);
  const progress = events.reduce<StepProgress>(
    (before, event) => Object.freeze(advance(request, Object.freeze(before), event)),
    NOT_BEGUN,
  );
  return decideStep({ leg: request, step: legStep(step), progress, now });
}
const end = (outcome: string, errorKind: string | null) => ({ do: 'end', end: { outcome, errorKind } });

const fresh: StepEvent = { type: 'Observed', phase: 'stale_check', holds: true };
const executed: StepEvent = { type: 'Executed' };
const unseen: StepEvent = { type: 'Observed', phase: 'verify', holds: false };
const blind: StepEvent = { type: 'ObservationFailed', phase: 'verify', failure: 'TOOL_TIMEOUT' };
const paused: StepEvent = { type: 'Paused' };
const granted: StepEvent = { type: 'ClaimAnswered', answer: 'granted' };
const taken: StepEvent = { type: 'ClaimAnswered', answer: 'taken' };
const changed: StepEvent = { type: 'Observed', phase: 'stale_check', holds: false };
const keyless = { key_lifetime_ms: null };

describe('a step of a compensation', () => {
  it('goes from claim to stale-state check to execution to verification', () => {
    expect(next({})).toEqual({ do: 'claim' });
    expect(next({}, granted)).toMatchObject({ do: 'observe', phase: 'stale_check' });
    expect(next({}, granted, fresh)).toEqual({ do: 'execute' });
    expect(next({}, fresh, executed)).toMatchObject({ do: 'observe', phase: 'verify' });
    expect(next({}, fresh, executed, { type: 'Observed', phase: 'verify', holds: true })).toEqual(
      end('verified', null),
    );
  });

  it('verifies so often and no oftener, with pauses between', () => {
    expect(next({}, fresh, executed, unseen)).toEqual({ do: 'pause', ms: 100 });
    expect(next({}, fresh, executed, unseen, paused)).toMatchObject({ do: 'observe', phase: 'verify' });
    expect(next({}, fresh, executed, unseen, paused, unseen)).toEqual(end('unverified', 'NOT_OBSERVED'));
  });

  it('is unknown, not unverified, when nothing could be observed', () => {
    expect(next({}, fresh, executed, blind, paused, blind)).toEqual(end('unknown', 'TOOL_ERROR'));
    expect(next({}, fresh, executed, unseen, paused, blind)).toEqual(end('unverified', 'NOT_OBSERVED'));
  });

  it('stops at a resource that somebody else changed', () => {
    expect(next({}, granted, changed)).toEqual(end('stale', 'STALE'));
    expect(next({}, granted, { type: 'Observed', phase: 'stale_check', holds: null })).toEqual(
      end('stale', 'CONDITION_FAILED'),
    );
    expect(next({}, { type: 'ObservationFailed', phase: 'stale_check', failure: 'TOOL_ERROR' })).toEqual(
      end('not_executed', 'TOOL_ERROR'),
    );
  });

  it.each([
    ['TOOL_TIMEOUT', 'unknown'],
    ['TOOL_ERROR', 'unknown'],
    ['TOOL_REJECTED', 'failed'],
    ['TOOL_MISSING', 'not_executed'],
  ] as const)('after %s of the acting call is %s', (failure, outcome) => {
    expect(next({}, fresh, { type: 'ExecutionFailed', failure })).toEqual(end(outcome, failure));
  });

  it('never counts as verified without an observer', () => {
    expect(next({ step: { verify_capability: null } }, fresh, executed)).toEqual(end('unverified', 'NO_VERIFICATION'));
    expect(next({ step: { success_condition: null } }, fresh, executed)).toEqual(end('unverified', 'NO_VERIFICATION'));
  });
});

describe('the lease', () => {
  it('holds up to not_after, and no longer', () => {
    expect(next({ now: NOT_AFTER })).toEqual({ do: 'claim' });
    expect(next({ now: NOT_AFTER }, granted)).toMatchObject({ do: 'observe' });
    expect(next({ now: NOT_AFTER + 1 })).toEqual(end('refused_late', 'LEASE_OVER'));
  });

  it('is asked again before the acting call and before each verification', () => {
    expect(next({ now: NOT_AFTER + 1 }, fresh)).toEqual(end('refused_late', 'LEASE_OVER'));
    expect(next({ now: NOT_AFTER + 1 }, fresh, executed)).toEqual(end('unknown', 'LEASE_OVER'));
    expect(next({ now: NOT_AFTER + 1 }, fresh, executed, unseen, paused)).toEqual(end('unknown', 'LEASE_OVER'));
  });

  it('does not undo a verdict that was reached in time', () => {
    expect(next({ now: NOT_AFTER + 1 }, fresh, executed, { type: 'Observed', phase: 'verify', holds: true })).toEqual(
      end('verified', null),
    );
  });
});

describe('reconciliation', () => {
  const leg = { reconcile_first: true, attempt: 2 };
  const seen = (holds: boolean | null): StepEvent => ({ type: 'Observed', phase: 'reconcile', holds });

  it('comes before everything but the claim', () => {
    expect(next({ leg }, granted)).toMatchObject({ do: 'observe', phase: 'reconcile' });
  });
  it('skips execution when the effect is there, and still verifies', () => {
    expect(next({ leg }, seen(true))).toMatchObject({ do: 'observe', phase: 'verify' });
  });
  it('goes on to execute when it is not', () => {
    expect(next({ leg }, granted, seen(false), fresh)).toEqual({ do: 'execute' });
  });
  it('that cannot tell leaves the outcome unknown', () => {
    expect(next({ leg }, seen(null))).toEqual(end('unknown', 'CONDITION_FAILED'));
    expect(next({ leg }, { type: 'ObservationFailed', phase: 'reconcile', failure: 'TOOL_TIMEOUT' })).toEqual(
      end('unknown', 'TOOL_TIMEOUT'),
    );
    expect(next({ leg, step: { reconcile_capability: null, verify_capability: null } }, granted)).toEqual(
      end('unknown', 'RECONCILE_IMPOSSIBLE'),
    );
  });
});

describe('a request that comes a second time', () => {
  const failed: StepEvent = { type: 'ClaimAnswered', answer: 'failed' };
  const found = (holds: boolean | null): StepEvent => ({ type: 'Observed', phase: 'reconcile', holds });

  it.each([
    ['is known by its claim', taken],
    ['may be one when the claim store does not answer', failed],
  ])('%s: what is there is looked for, and nothing is called: the first may be calling', (_case, claim) => {
    expect(next({}, claim)).toMatchObject({
      do: 'observe',
      phase: 'reconcile',
      capability: 'payments.get_refund',
      condition: 'observed.status == "reversed"',
    });
    expect(next({}, claim, found(true))).toMatchObject({ do: 'observe', phase: 'verify' });
    expect(next({}, claim, found(false))).toMatchObject({ do: 'end', end: { outcome: 'unknown' } });
  });
  it('stays unknown where the look cannot tell', () => {
    expect(next({}, taken, found(null))).toEqual(end('unknown', 'CONDITION_FAILED'));
    expect(next({}, taken, { type: 'ObservationFailed', phase: 'reconcile', failure: 'TOOL_TIMEOUT' })).toEqual(
      end('unknown', 'TOOL_TIMEOUT'),
    );
    expect(next({ step: { success_condition: null } }, taken)).toEqual(end('unknown', 'RECONCILE_IMPOSSIBLE'));
  });
  it('is asked of the claim store at a later attempt too, before the look', () => {
    const leg = { attempt: 2, reconcile_first: true };
    expect(next({ leg })).toEqual({ do: 'claim' });
    expect(next({ leg }, taken, found(false))).toEqual(end('unknown', 'CLAIM_TAKEN'));
  });
  it('blames nobody for a change that the first may have made', () => {
    expect(next({}, taken, found(false), changed)).toEqual(end('unknown', 'CLAIM_TAKEN'));
    expect(next({ step: keyless }, changed, taken)).toEqual(end('unknown', 'CLAIM_TAKEN'));
  });
  it('looks back once more where a later attempt finds a change: a copy of the one before may have made it', () => {
    const later = { leg: { attempt: 2, reconcile_first: true } };
    expect(next(later, granted, found(false), changed)).toMatchObject({ do: 'observe', phase: 'reconcile' });
    expect(next(later, granted, found(false), changed, found(true))).toMatchObject({ do: 'observe', phase: 'verify' });
    expect(next(later, granted, found(false), changed, found(false))).toEqual(end('stale', 'STALE'));
    expect(next(later, granted, found(false), changed, found(null))).toEqual(end('unknown', 'CONDITION_FAILED'));
  });
  it('is not looked for where an attempt looks back anyway', () => {
    expect(next({ leg: { attempt: 2, reconcile_first: true } }, granted, found(false))).toMatchObject({
      phase: 'stale_check',
    });
  });
});

describe('a tool that takes no key', () => {
  it('is claimed before it is called', () => {
    expect(next({ step: keyless }, fresh)).toEqual({ do: 'claim' });
    expect(next({ step: keyless }, fresh, { type: 'ClaimAnswered', answer: 'granted' })).toEqual({ do: 'execute' });
  });
  it('is found changed by somebody else only by who has the claim', () => {
    expect(next({ step: keyless }, changed)).toEqual({ do: 'claim' });
    expect(next({ step: keyless }, changed, granted)).toEqual(end('stale', 'STALE'));
  });
  it('is never called under a claim that was taken, or may have been', () => {
    expect(next({ step: keyless }, fresh, { type: 'ClaimAnswered', answer: 'taken' })).toEqual(
      end('unknown', 'CLAIM_TAKEN'),
    );
    expect(next({ step: keyless }, fresh, { type: 'ClaimAnswered', answer: 'failed' })).toEqual(
      end('not_executed', 'CLAIM_FAILED'),
    );
  });
  it('looks before a later attempt without a key acts, though the one before had no effect', () => {
    const again = { leg: { attempt: 2, reconcile_first: false }, step: keyless };
    expect(next(again)).toMatchObject({ do: 'observe', phase: 'reconcile' });
    const gone: StepEvent = { type: 'Observed', phase: 'reconcile', holds: false };
    expect(next(again, gone)).toMatchObject({ do: 'observe', phase: 'stale_check' });
  });

  it('is never called by a later attempt', () => {
    const later = { leg: { attempt: 2, reconcile_first: true }, step: keyless };
    expect(next(later, { type: 'Observed', phase: 'reconcile', holds: false })).toEqual(
      end('not_executed', 'RETRY_WITHOUT_KEY'),
    );
    expect(next(later, { type: 'Observed', phase: 'reconcile', holds: true })).toMatchObject({
      do: 'observe',
      phase: 'verify',
    });
  });
});

describe('other kinds of leg', () => {
  it.each(['release', 'cancel'] as const)(
    '%s calls its tool once, without another look, and ends with its answer',
    (kind) => {
      expect(next({ leg: { kind } })).toEqual({ do: 'execute' });
      expect(next({ leg: { kind } }, { type: 'Executed' })).toEqual(end('verified', null));
      expect(next({ leg: { kind } }, { type: 'ExecutionFailed', failure: 'TOOL_REJECTED' })).toEqual(
        end('failed', 'TOOL_REJECTED'),
      );
      expect(next({ leg: { kind } }, { type: 'ExecutionFailed', failure: 'TOOL_TIMEOUT' })).toEqual(
        end('unknown', 'TOOL_TIMEOUT'),
      );
      expect(next({ leg: { kind }, now: NOT_AFTER + 1 })).toEqual(end('refused_late', 'LEASE_OVER'));
    },
  );
  it.each(['release', 'cancel'] as const)('%s of a tool that takes no key is claimed first', (kind) => {
    expect(next({ leg: { kind }, step: keyless })).toEqual({ do: 'claim' });
    expect(next({ leg: { kind }, step: keyless }, { type: 'ClaimAnswered', answer: 'taken' })).toEqual(
      end('unknown', 'CLAIM_TAKEN'),
    );
  });
  it('a reconciliation without a condition takes the word of the capability', () => {
    expect(next({ leg: { kind: 'reconcile' }, step: { success_condition: null } })).toEqual({
      do: 'observe',
      phase: 'reconcile',
      capability: 'payments.get_refund',
      condition: null,
    });
    expect(next({ leg: { kind: 'reconcile' }, step: { success_condition: null, reconcile_capability: null } })).toEqual(
      end('unknown', 'RECONCILE_IMPOSSIBLE'),
    );
  });
  it.each([
    ['reconcile', 'reconcile'],
    ['observe', 'verify'],
  ] as const)('%s looks once and says what it saw', (kind, phase) => {
    expect(next({ leg: { kind } })).toMatchObject({ do: 'observe', phase });
    expect(next({ leg: { kind } }, { type: 'Observed', phase, holds: true })).toEqual(end('verified', null));
    expect(next({ leg: { kind } }, { type: 'Observed', phase, holds: false })).toEqual(
      end('unverified', 'NOT_OBSERVED'),
    );
    expect(next({ leg: { kind } }, { type: 'Observed', phase, holds: null })).toEqual(
      end('unknown', 'CONDITION_FAILED'),
    );
  });
});

describe('the steps of a leg', () => {
  const leg = legOf({ steps: ['a', 'b', 'c'].map((step_id) => legStep({ step_id })) });
  const ended = (...outcomes: readonly StepOutcome[]): readonly StepReport[] =>
    outcomes.map((outcome, at) => ({
      step_id: leg.steps[at]?.step_id ?? '',
      outcome,
      observations: [],
      error_kind: null,
      detail: null,
      external_transaction_ref: null,
      calls_done: 0,
    }));

  it('are begun in their order, each after the one before is verified', () => {
    expect(nextStep(leg, [])?.step_id).toBe('a');
    expect(nextStep(leg, ended('verified'))?.step_id).toBe('b');
    expect(nextStep(leg, ended('verified', 'verified'))?.step_id).toBe('c');
    expect(nextStep(leg, ended('verified', 'verified', 'verified'))).toBeNull();
  });

  it.each(['unverified', 'stale', 'failed', 'refused_late', 'unknown', 'not_executed'] as const)(
    'are over after one that is %s',
    (outcome) => {
      expect(nextStep(leg, ended('verified', outcome))).toBeNull();
    },
  );

  it.each([
    ['granted', { do: 'observe', phase: 'stale_check' }],
    ['taken', { do: 'observe', phase: 'reconcile' }],
    ['failed', { do: 'observe', phase: 'reconcile' }],
    [null, { do: 'claim' }],
  ] as const)('whose tools take keys begin with what the claim of the leg says: %s', (claim, action) => {
    const step = legStep();
    expect(decideStep({ leg, step, progress: beginStep(step, claim), now: 0 })).toMatchObject(action);
  });

  it('whose tools take no key know nothing of the claim of the leg', () => {
    expect(beginStep(legStep(keyless), 'granted')).toEqual(NOT_BEGUN);
  });

  it('are claimed with their leg, but alone where the tool takes no key', () => {
    expect(claimIdOf(leg, legStep())).toBe('leg_1');
    expect(claimIdOf(leg, legStep(keyless))).toBe('step_1');
    expect(claimIdOf(legOf({ kind: 'cancel' }), legStep(keyless))).toBe('leg_1');
  });

  it('are 1 to 64, each once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => legStep({ step_id: String(at) }));
    expect(flawOf(legOf({ steps: many(1) }))).toBeNull();
    expect(flawOf(legOf({ steps: many(64) }))).toBeNull();
    expect(flawOf(legOf({ steps: [] }))).toBe('LEG_WITHOUT_STEPS');
    expect(flawOf(legOf({ steps: many(65) }))).toBe('LEG_TOO_LONG');
    expect(flawOf(legOf({ steps: [...many(2), legStep({ step_id: '0' })] }))).toBe('STEP_REPEATED');
  });
});
