// Runs of several effects: what is claimed of a recovery is what was observed, and every record of it leads to what it reverses and back.
import { describe, expect, it } from '@jest/globals';
import { rollbackIdOf } from '@recourse/messages';
import type { LegRequested, StepOutcome } from '@recourse/messages';
import { harness, eachMember, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import { isAtRest } from '../rules/step/step.transitions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  answered,
  BALANCE_KEPT,
  BALANCE_ZERO,
  core,
  execution,
  markedInput,
  PAID_OUT,
  ref,
  requestIn,
  settled,
  STILL_PENDING,
  terms,
  views,
} from '../recoveries.testing.js';

const ANSWERS: readonly StepOutcome[] = ['verified', 'unverified', 'stale', 'failed', 'unknown', 'not_executed'];
const SEEN = [[], [BALANCE_ZERO], [BALANCE_KEPT], [STILL_PENDING, BALANCE_ZERO], [PAID_OUT]] as const;

/** Answers by step; null: nobody answers. What is left over is never asked for. */
const anyRun = fc.array(
  fc.array(fc.option(fc.record({ outcome: fc.constantFrom(...ANSWERS), seen: fc.nat(SEEN.length - 1) })), {
    minLength: 3,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 5 },
);
type Answers = typeof anyRun extends fc.Arbitrary<infer T> ? T : never;

/** Answers of one step that is verified at once, and of one that never is. */
const PROVED: Answers[number] = [{ outcome: 'verified', seen: 1 }, null, null];
const MISSED: Answers[number] = [{ outcome: 'verified', seen: 2 }, { outcome: 'failed', seen: 0 }, null];

const mutationIdAt = (at: number): string => `mut_${at}`;
const hashAt = (at: number): Buffer => Buffer.alloc(32, at + 1);
const refsAt = (at: number): readonly string[] => [`order/${at}#not_shipped`];

/** Effects of one run, all marked, answered as told until nothing is owed any more. */
function played(answers: Answers): CoreHarness {
  const run = harness(core(), { views: views() });
  const owed: LegRequested[] = [];
  const gather = (): void => {
    for (const { body } of run.outgoing()) owed.push(body as unknown as LegRequested);
  }; // requests are all it sends
  answers.forEach((_, at) => {
    const id = mutationIdAt(at);
    run.when(
      markedInput({
        mutation_id: id,
        rollback_id: rollbackIdOf('acme', id),
        recorded_hash: hashAt(at),
        terms: terms({ impact: 'write', recovery_approval_mode: 'auto', max_attempts: 3 }),
        ref: ref({
          mutation_id: id,
          original_call_id: `call-${at}`,
          assumption_refs: refsAt(at),
          reversal_expires_at: 100_000_000,
        }),
        execution: execution({ effect_key: `effect-${at}` }),
      }),
      10_000,
    );
    gather();
  });
  for (let now = 20_000; now < 600_000; now += 50_000) {
    for (const request of owed.splice(0)) {
      const at = Number(request.steps[0]?.call.reverses_mutation_ref.slice('mut_'.length));
      const answer = answers[at]?.[request.attempt - 1] ?? null;
      if (answer !== null) run.when(answered(request, answer.outcome, SEEN[answer.seen] ?? []), now);
      gather();
    }
    run.whenDue(now + 1);
    gather();
  }
  return run;
}

const stepsOf = (run: CoreHarness): readonly StepDoc[] => run.rows('step').map(({ doc }) => doc as StepDoc); // the harness holds what foldRecovery wrote

describe('a recovery of several effects', () => {
  it('claims of each what was observed, and of the whole no more than of the least (B2)', () => {
    fc.assert(
      fc.property(anyRun, (answers) => {
        const run = played(answers);
        const steps = stepsOf(run);
        const verified = new Set(
          eachMember(run.records())
            .filter(({ type, body }) => type === 'LegSettled' && body['reason'] === 'SUCCESS_CONDITION_HELD')
            .map(({ body }) => body['step_id']),
        );
        expect(steps.every(({ phase }) => isAtRest(phase))).toBe(true);
        for (const { step_id, phase, owner, deadline_at } of steps) {
          expect(phase === 'compensated').toBe(verified.has(step_id));
          if (phase !== 'compensated') expect([owner, deadline_at]).toEqual(['role:administrator', expect.any(Number)]);
        }
        expect(run.rows('recovery')).toMatchObject([
          { doc: { phase: 'closed', outcome: verified.size === steps.length ? 'compensated' : 'manual' } },
        ]);
      }),
      { numRuns: 50, examples: [[[PROVED, PROVED]], [[PROVED, MISSED]]] },
    );
  });

  it('records with every outcome what it reverses and on what it rested, whatever the outcome (A70, A71)', () => {
    fc.assert(
      fc.property(anyRun, (answers) => {
        const run = played(answers);
        const steps = stepsOf(run);
        for (const { body } of eachMember(run.records()).filter(({ type }) => type === 'LegSettled')) {
          // From the outcome to the mutation, by the hash of the record that bound it; and from the mutation back.
          const at = answers.findIndex((_, index) => hashAt(index).equals(body['reverses_record_hash'] as Buffer)); // a field of the schema
          expect(body).toMatchObject({
            reverses_mutation_ref: mutationIdAt(at),
            reverses_call_id: `call-${at}`,
            assumption_refs: refsAt(at),
            outcome: expect.any(String),
          });
          expect(
            steps.filter(({ mutation_id }) => mutation_id === mutationIdAt(at)).map(({ step_id }) => step_id),
          ).toEqual([body['step_id']]);
        }
      }),
      { numRuns: 40, examples: [[[PROVED, MISSED]]] },
    );
  });

  it('shows of each step the record that decided last about it, and the one before it in the chain (A69)', () => {
    const run = played([[PROVED[0] ?? null, null, null], MISSED]);
    const chain = run.records();
    const isAbout = (record: (typeof chain)[number], stepId: string): boolean =>
      record.type !== 'FactsAsked' &&
      record.type !== 'FactsObserved' &&
      eachMember([record]).some(({ body }) => body['step_id'] === stepId);
    for (const { step_id, decision_record: shown } of stepsOf(run)) {
      const at = chain.findLastIndex((record) => isAbout(record, step_id));
      const last = chain[at];
      const place = last === undefined ? -1 : eachMember([last]).findIndex(({ body }) => body['step_id'] === step_id);
      expect(shown).toEqual({
        seq: last?.seq,
        record_hash: last?.hash,
        prev_record_hash: chain[at - 1]?.hash,
        member: last?.type.startsWith('Leg') === true ? place : null,
      });
    }
  });
});

describe.each(WAYS)('a success condition of old that holds whatever is observed, $way', ({ isRebuilt }) => {
  const start = (success_condition: string): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(
      markedInput({
        terms: terms({ impact: 'write', recovery_approval_mode: 'auto', success_condition, ...SAME_LOOK }),
      }),
      10_000,
    );
  /** Before and after the call the same capability looks. */
  const SAME_LOOK = { stale_capability: 'payments.read_balance', stale_condition: 'observed.refunded == 4900' };
  const FRESH = { ...BALANCE_KEPT, phase: 'stale_check' as const };

  it.each(['true', 'bound.args.refund_id == "re_1"', 'observed.refunded == 4900'])(
    'is met by nothing, whatever a worker says: %s',
    (condition) => {
      const run = start(condition);
      run
        .when(answered(requestIn(run.outgoing()), 'verified', [FRESH, BALANCE_KEPT]), 11_000)
        .then(settled({ outcome: 'uncertain', reason: 'SUCCESS_NOT_OBSERVED' }));
    },
  );
});
