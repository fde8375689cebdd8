import { shareOf } from '@recourse/kernel';
import { describe, expect, it } from '@jest/globals';
import type { DeclaredSource } from './context.decisions.js';
import type { Evidence } from '@recourse/messages';
import fc from 'fast-check';
import {
  admission,
  isVouchedFor,
  recent,
  rootEventOf,
  scopeIdOf,
  scopesOf,
  sharedLimits,
  weightOf,
} from './admission.decisions.js';
import type { Asked, Seen } from './admission.decisions.js';
import {
  CONFIRMED_ADDS,
  NO_LIMITS,
  REJECTED_TAKES,
  THRESHOLD_MIN,
  WEIGHT_INITIAL,
  WEIGHT_MAX,
} from './admission.messages.js';
import type { AdmissionLimits, StormDoc } from './admission.messages.js';
import { movedWeight } from './judging.decisions.js';

const NOW = 100_000;
const LEDGER = 'service:mutation-ledger';
const EVIDENCE: Evidence = {
  kind: 'observation',
  event_id: 'ev-1',
  ref: 'order/1#paid',
  source: 'warehouse',
  statement: null,
  stated_at: 5,
  partition: 0,
  position: 3,
  root: null,
};
const ASKED: Asked = { tenant: 'acme', evidence: EVIDENCE, isCommand: false, isAgain: false, isOwn: false };
const LIMITS: AdmissionLimits = {
  trustThresholdPermille: 600,
  storm: { limit: 2, windowMs: 1_000 },
  closureMax: 3,
  trend: null,
};
/** A source with a trust, and terms that nothing here exceeds; null for a stranger. */
function declaredAs(trust: number | null): DeclaredSource {
  return {
    isForeign: false,
    entry:
      trust === null
        ? null
        : {
            owner: 'ops',
            doc: 'd',
            sensitivity: 'regulatory',
            access: 'stream',
            ttl_ms: Number.MAX_SAFE_INTEGER,
            trust_permille: trust,
          },
  };
}
const TRUSTED = { source: undefined, declared: declaredAs(900) } as const;

function storm(...events: readonly (readonly [id: string, at: number])[]): StormDoc {
  return {
    storm_id: 's',
    scope: 'source',
    tenant: 'acme',
    name: 'warehouse',
    events: events.map(([event_id, at]) => ({ event_id, at })),
    updated_at: 0,
  };
}
function seen(more: Partial<Seen> = {}, counted?: StormDoc, isOpen = false): Seen {
  const [scope] = scopesOf('acme', EVIDENCE);
  if (scope === undefined) throw new Error('evidence of a wire falls under a breaker');
  const breaker = {
    breaker_id: scopeIdOf(scope),
    ...scope,
    run_id: 'r',
    phase: isOpen ? 'open' : 'closed',
    count: 3,
    limit: 2,
    window_ms: 1,
    owner: 'o',
    deadline_at: 1,
    closed: null,
    opened_at: 0,
    updated_at: 0,
  } as const;
  return {
    ...TRUSTED,
    scopes: [{ scope, storm: counted, breaker: isOpen ? breaker : undefined }],
    closure: undefined,
    ...more,
  };
}
const closure = (hits: number, isConfirmed = false) => ({
  closure: { closure_id: 'c', tenant: 'acme', event_id: 'ev-1', hits, is_confirmed: isConfirmed, updated_at: 0 },
});

describe('a trigger', () => {
  it.each<[string, Partial<Asked>, Seen, string]>([
    ['of a source that is trusted is admitted', {}, seen(), 'admit'],
    ['of a stranger is held', {}, seen({ declared: declaredAs(null) }), 'SOURCE_UNTRUSTED'],
    ['of a source just below the threshold is held', {}, seen({ declared: declaredAs(599) }), 'SOURCE_UNTRUSTED'],
    ['of a source at the threshold is admitted', {}, seen({ declared: declaredAs(600) }), 'admit'],
    [
      "that claims on a wire to be a person is held as any stranger's",
      { evidence: { ...EVIDENCE, kind: 'human', source: 'ines' } },
      seen({ declared: declaredAs(null) }),
      'SOURCE_UNTRUSTED',
    ],
    ['that would be one too many is held', {}, seen({}, storm(['a', NOW - 10], ['b', NOW - 5])), 'BREAKER_OPEN'],
    ['that fills the limit is admitted', {}, seen({}, storm(['a', NOW - 10])), 'admit'],
    ['after older ones no longer count is admitted', {}, seen({}, storm(['a', NOW - 1_000], ['b', NOW - 5])), 'admit'],
    ['under an open breaker is held', {}, seen({}, undefined, true), 'BREAKER_OPEN'],
    [
      'of an event that passed goes on under an open breaker',
      {},
      seen({}, storm([rootEventOf(EVIDENCE), NOW - 10], ['b', NOW]), true),
      'admit',
    ],
    [
      'that bears the id of one that passed is no part of it',
      {},
      seen({}, storm([rootEventOf({ ...EVIDENCE, ref: 'order/2#paid' }), NOW - 10], ['b', NOW]), true),
      'BREAKER_OPEN',
    ],
    [
      'of a program about its own effect is asked no weight',
      { isOwn: true },
      seen({ declared: declaredAs(null) }),
      'admit',
    ],
    [
      'of a program about its own effect falls under breakers',
      { isOwn: true },
      seen({}, undefined, true),
      'BREAKER_OPEN',
    ],
    [
      'that was held before is not counted again',
      { isAgain: true },
      seen({}, storm(['a', NOW - 10], ['b', NOW - 5])),
      'admit',
    ],
    [
      'that was held before stays held under another breaker',
      { isAgain: true },
      seen({}, undefined, true),
      'BREAKER_OPEN',
    ],
    ['of an event that fills its closure is admitted', {}, seen(closure(2)), 'admit'],
    ['of an event that took down as many as it may is held', {}, seen(closure(3)), 'CLOSURE_LIMIT'],
    ['of an event that a person let through is admitted', {}, seen(closure(3, true)), 'admit'],
    ['that names one commit is no hit of an event', { isCommand: true }, seen(closure(3)), 'admit'],
  ])('%s', (_, asked, world, expected) => {
    const verdict = admission({ ...ASKED, ...asked }, world, LIMITS, NOW);
    expect(verdict.kind === 'admit' ? 'admit' : verdict.reason).toBe(expected);
  });

  it('opens the breaker it is one too many for, and says by how much', () => {
    expect(admission(ASKED, seen({}, storm(['a', NOW - 10], ['b', NOW - 5])), LIMITS, NOW)).toMatchObject({
      kind: 'hold',
      opens: { scope: { scope: 'source', name: 'warehouse' }, count: 3, limit: 2, windowMs: 1_000 },
    });
    expect(admission(ASKED, seen({}, undefined, true), LIMITS, NOW)).toMatchObject({ kind: 'hold', opens: null });
  });

  it.each<[string, Partial<Evidence>, boolean]>([
    ['a person by a command', { kind: 'human', source: 'ines', partition: -1 }, true],
    ['an agent by a command', { kind: 'critic', source: 'agent:critic', partition: -1 }, false],
    ['a service that calls itself a person', { kind: 'human', source: 'service:nightly', partition: -1 }, false],
    [
      'lineage: it is admitted with its root',
      { kind: 'lineage', source: 'service:mutation-ledger', partition: 2, position: 7 },
      true,
    ],
    ['a run that failed, by the ledger', { kind: 'tool_return', source: 'agent:a1', partition: -1 }, true],
    ['a successor bundle, by the ledger', { kind: 'policy_reevaluation', source: LEDGER, partition: -1 }, true],
    ['a successor bundle, on a wire', { kind: 'policy_reevaluation', source: LEDGER, partition: 0 }, false],
    ['a successor bundle, by somebody else', { kind: 'policy_reevaluation', source: 'eve', partition: -1 }, false],
    ['a person on a wire', { kind: 'human', source: 'ines', partition: 2 }, false],
    ['a tool on a wire', { kind: 'tool_return', source: 'agent:a1', partition: 2 }, false],
  ])('of %s is vouched for, or is not, and then no limit holds it', (_, evidence, expected) => {
    expect(isVouchedFor({ ...EVIDENCE, ...evidence })).toBe(expected);
    const verdict = admission(
      { ...ASKED, evidence: { ...EVIDENCE, ...evidence } },
      seen({ declared: declaredAs(null), ...closure(99) }, undefined, true),
      LIMITS,
      NOW,
    );
    expect(verdict.kind).toBe(expected ? 'admit' : 'hold');
  });

  it('is admitted and counted nowhere where no limit is set', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.boolean(), fc.nat(50), (weight, isOpen, hits) => {
        expect(
          admission(
            ASKED,
            seen({ declared: declaredAs(weight), ...closure(hits) }, storm(['a', NOW]), isOpen),
            NO_LIMITS,
            NOW,
          ),
        ).toEqual({ kind: 'admit', isCounted: false, isHit: false });
      }),
    );
  });

  it('is either admitted, or held for a reason with a cause, whatever the world', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.array(fc.nat(2_000), { maxLength: 5 }),
        fc.boolean(),
        fc.nat(6),
        fc.boolean(),
        fc.boolean(),
        (weight, ages, isOpen, hits, isCommand, isAgain) => {
          const world = seen(
            { declared: declaredAs(weight), ...closure(hits) },
            storm(...ages.map((age, at) => [`e${String(at)}`, NOW - age] as const)),
            isOpen,
          );
          const verdict = admission({ ...ASKED, isCommand, isAgain }, world, LIMITS, NOW);
          if (verdict.kind === 'admit') expect(weight >= 600 && !isOpen && (isCommand || hits < 3)).toBe(true);
          else expect(verdict.cause.length > 4 && verdict.detail !== '').toBe(true);
        },
      ),
    );
  });
});

describe('the weight of a source', () => {
  it('begins where no setting lets it roll back by itself (E41)', () => {
    expect(WEIGHT_INITIAL).toBeLessThan(THRESHOLD_MIN);
    expect(weightOf({ source: undefined, declared: declaredAs(null) })).toBe(WEIGHT_INITIAL);
    expect(
      admission(ASKED, seen({ declared: declaredAs(null) }), { ...LIMITS, trustThresholdPermille: THRESHOLD_MIN }, NOW),
    ).toMatchObject({ reason: 'SOURCE_UNTRUSTED' });
  });

  it('is what people made of it, before what it was registered with', () => {
    expect(
      weightOf({
        source: { weight_permille: 100 },
        declared: declaredAs(900),
      }),
    ).toBe(100);
  });

  it('stays in its bounds and moves the way it is told, whatever people say', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('confirmed', 'rejected'), { maxLength: 60 }), (verdicts) => {
        let weight = WEIGHT_INITIAL;
        for (const verdict of verdicts) {
          const next = movedWeight(weight, verdict);
          expect(next >= 0 && next <= WEIGHT_MAX && (verdict === 'confirmed' ? next >= weight : next <= weight)).toBe(
            true,
          );
          weight = next;
        }
      }),
    );
    expect(REJECTED_TAKES).toBeGreaterThan(CONFIRMED_ADDS);
  });
});

describe('a limit over partitions', () => {
  it('is split into shares that together are no more than it, and let everything through one by one at the least', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 64 }), (limit, partitions) => {
        const share = shareOf(limit, partitions);
        expect(share >= 1 && share * partitions <= Math.max(limit, partitions)).toBe(true);
      }),
    );
    expect(sharedLimits(LIMITS, 2)).toEqual({
      trustThresholdPermille: 600,
      storm: { limit: 1, windowMs: 1_000 },
      closureMax: 1,
      trend: null,
    });
    expect(sharedLimits(NO_LIMITS, 6)).toEqual(NO_LIMITS);
  });

  it('counts what is newer than its window', () => {
    expect(recent(storm(['a', 0], ['b', 1], ['c', 1_000]), 1_000, 1_000).map(({ event_id }) => event_id)).toEqual([
      'b',
      'c',
    ]);
  });
});
