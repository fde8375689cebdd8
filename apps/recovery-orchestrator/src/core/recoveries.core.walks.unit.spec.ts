// Random walks: whatever comes in whatever order, the promises of a step hold.
import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import type { LegRequested, StepOutcome } from '@recourse/messages';
import type { CoreHarness } from '@recourse/testing';
import { harness, eachMember } from '@recourse/testing';
import fc from 'fast-check';
import { DECISION_REASONS } from '../rules/decision/recovery.decisions.js';
import { JUDGEMENT_REASONS } from '../rules/step/judgement.decisions.js';
import { isAtRest } from '../rules/step/step.transitions.js';
import { ESCALATION_REASONS } from '../rules/step/step.messages.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  core,
  denial,
  digest,
  MARGIN,
  markedInput,
  PAID_OUT,
  ref,
  STILL_PENDING,
  terms,
  windowClosed,
  views,
} from '../recoveries.testing.js';

const OUTCOMES: readonly StepOutcome[] = [
  'verified',
  'unverified',
  'stale',
  'failed',
  'refused_late',
  'unknown',
  'not_executed',
];
const OBSERVATIONS = [[], [BALANCE_ZERO], [BALANCE_KEPT], [STILL_PENDING, BALANCE_ZERO], [PAID_OUT]] as const;

const anyMove = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('approve' as const),
      by: fc.constantFrom('olga', 'otto', 'ines', 'agent:refund-agent'),
      isRight: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deny' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('window' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      leg: fc.nat(3),
      outcome: fc.constantFrom(...OUTCOMES),
      seen: fc.nat(OBSERVATIONS.length - 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(500, 5_000, 40_000, 300_000) }),
  },
);

const anyWalk = fc.record({
  moves: fc.array(anyMove, { maxLength: 25 }),
  mode: fc.constantFrom('auto' as const, 'human' as const, 'dual_control' as const),
  impact: fc.constantFrom('write', 'financial'),
  keyLifetimeMs: fc.constantFrom(null, 40_000, 600_000),
  windowEndsAt: fc.constantFrom(15_000, 60_000, 400_000, 1_000_000),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
});

type Walk = typeof anyWalk extends fc.Arbitrary<infer T> ? T : never;
type Move = Walk['moves'][number];

function played(walk: Walk, isRebuilt: boolean): CoreHarness {
  const contract = terms({
    recovery_approval_mode: walk.mode,
    impact: walk.impact,
    key_lifetime_ms: walk.keyLifetimeMs,
    max_attempts: walk.maxAttempts,
  });
  const pointer = ref({ reversal_expires_at: walk.windowEndsAt });
  const run = harness(core(), { isRebuilt, views: views() }).when(
    markedInput({ terms: contract, ref: pointer }),
    10_000,
  );
  let now = 10_000;
  const sent: LegRequested[] = [];
  const gather = (): void => {
    for (const message of run.outgoing()) sent.push(message.body as unknown as LegRequested);
  }; // requests are all it sends
  gather();
  for (const move of walk.moves) {
    if (move.kind === 'wait') {
      now += move.ms;
      run.whenDue(now);
      gather();
      continue;
    }
    const input = inputOf(move, sent, digest({ terms: contract, ref: pointer }));
    if (input !== null) run.when(input, now);
    gather();
  }
  return run;
}

function inputOf(
  move: Exclude<Move, { kind: 'wait' }>,
  sent: readonly LegRequested[],
  right: Buffer,
): RecordInput | null {
  switch (move.kind) {
    case 'approve':
      return approval({ by: move.by, digest: move.isRight ? right : Buffer.alloc(32) });
    case 'deny':
      return denial({ digest: right });
    case 'mark':
      return markedInput();
    case 'window':
      return windowClosed();
    case 'answer': {
      const request = sent[move.leg];
      return request === undefined ? null : answered(request, move.outcome, OBSERVATIONS[move.seen] ?? []);
    }
  }
}

function stepOf(run: CoreHarness): StepDoc {
  // The harness holds what foldRecovery wrote.
  return run.rows('step')[0]?.doc as StepDoc;
}

describe('any walk', () => {
  it('dispatches only inside window, key and approvals, all recorded before (P3, P4, P5, P6)', () => {
    fc.assert(
      fc.property(anyWalk, (walk) => {
        const run = played(walk, false);
        const records = eachMember(run.records());
        const legs = records.filter(({ type }) => type === 'LegDispatched');
        for (const leg of legs) {
          const {
            not_after: notAfter,
            attempt,
            first_dispatched_at: firstAt,
          } = leg.body as { not_after: number; attempt: number; first_dispatched_at: number };
          const approvers = new Set(
            records.filter(({ type, seq }) => type === 'StepApproved' && seq < leg.seq).map(({ body }) => body['by']),
          );
          expect(approvers.size).toBeGreaterThanOrEqual(
            walk.mode === 'dual_control' ? 2 : walk.mode === 'human' || walk.impact === 'financial' ? 1 : 0,
          );
          expect([...approvers].some((by) => by === 'ines' || by === 'agent:refund-agent')).toBe(false);
          expect(notAfter).toBeGreaterThan(leg.decidedAt);
          expect(notAfter + CALL_TIMEOUT + MARGIN).toBeLessThanOrEqual(walk.windowEndsAt);
          if (walk.keyLifetimeMs !== null)
            expect(notAfter + CALL_TIMEOUT + MARGIN).toBeLessThanOrEqual(firstAt + walk.keyLifetimeMs);
          // Without a key there is another attempt only after one that is known to have had no effect.
          if (walk.keyLifetimeMs === null && attempt > 1) {
            const last = records.findLast(({ type, seq }) => type === 'LegSettled' && seq < leg.seq);
            expect(last?.body).toMatchObject({ reported: 'failed', outcome: 'failed' });
          }
        }
        expect(legs.length).toBeLessThanOrEqual(walk.maxAttempts);
      }),
      { numRuns: 300 },
    );
  });

  it('compensates at most once, and only on an observation (P1)', () => {
    fc.assert(
      fc.property(anyWalk, (walk) => {
        const proofs = eachMember(played(walk, false).records()).filter(
          ({ type, body }) => type === 'LegSettled' && body['outcome'] === 'compensated',
        );
        expect(proofs.length).toBeLessThanOrEqual(1);
        for (const { body } of proofs)
          expect(body).toMatchObject({ reported: 'verified', reason: 'SUCCESS_CONDITION_HELD' });
      }),
      { numRuns: 300 },
    );
  });

  it('leaves a timer, an owner and a deadline on whatever is open (P12), and comes to rest in time', () => {
    fc.assert(
      fc.property(anyWalk, (walk) => {
        const run = played(walk, false);
        const step = stepOf(run);
        const [row] = run.rows('step');
        if (!isAtRest(step.phase)) {
          expect(row?.dueAt).not.toBeNull();
          expect(step.deadline_at).not.toBeNull();
          expect(step.owner).not.toBe('');
        }
        for (let at = 10_000_000; at <= 40_000_000; at += 1_000_000) run.whenDue(at);
        expect(isAtRest(stepOf(run).phase)).toBe(true);
        expect(run.rows('recovery')[0]?.doc).toMatchObject({
          phase: 'closed',
          outcome: stepOf(run).phase === 'compensated' ? 'compensated' : 'manual',
        });
      }),
      { numRuns: 200 },
    );
  });

  it('ends nothing without a code that says why (C48)', () => {
    const known: readonly string[] = [
      ...DECISION_REASONS,
      ...ESCALATION_REASONS,
      ...JUDGEMENT_REASONS,
      'NO_ANSWER',
      'NOT_REACHED',
      'DENIED',
    ];
    fc.assert(
      fc.property(anyWalk, (walk) => {
        const run = played(walk, false);
        for (let at = 10_000_000; at <= 40_000_000; at += 1_000_000) run.whenDue(at);
        const ended = eachMember(run.records()).filter(({ type }) =>
          ['RecoveryPlanned', 'LegSettled', 'StepEscalated'].includes(type),
        );
        for (const { body } of ended) expect(known).toContain(body['reason']);
        expect(known).toContain(stepOf(run).reason);
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same records and rows when state is rebuilt before every step (P10)', () => {
    fc.assert(
      fc.property(anyWalk, (walk) => {
        const straight = played(walk, false);
        const rebuilt = played(walk, true);
        expect(rebuilt.records()).toEqual(straight.records());
        expect(rebuilt.rows()).toEqual(straight.rows());
      }),
      { numRuns: 80 },
    );
  });
});
