// Steps whose arguments were erased: a person's, who learns why, and nobody else's recovery waits for them.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { rollbackIdOf } from '@recourse/messages';
import type { ContractTerms, Payload } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { stepIdOf } from '../rules/step/opening.decisions.js';
import {
  answered,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  CONFIG,
  core,
  execution,
  fallenInput,
  gone,
  LEASE,
  legOf,
  MARGIN,
  marked,
  observed,
  ref,
  requestIn,
  settled,
  STILL_PENDING,
  TENANT,
  terms,
  views,
  withoutKey,
} from '../recoveries.testing.js';

const AT = 10_000;
const ANSWER_BY = AT + LEASE + CALL_TIMEOUT + MARGIN;
const RETRY_AT = ANSWER_BY + CONFIG.backoff.baseMs;
const idOf = (place: number): string => `mut_${String(place)}`;
const stepOf = (place: number): string => stepIdOf(rollbackIdOf(TENANT, idOf(place)), idOf(place));
const argsOf = (place: number) => plainPayload({ refund_id: `re_${String(place)}` });

/** The effect at a place of the run, of a subject of its own. */
const effect = (place: number, args: Payload = argsOf(place), more: Partial<ContractTerms> = {}) =>
  marked({
    mutation_id: idOf(place),
    rollback_id: rollbackIdOf(TENANT, idOf(place)),
    recorded_seq: place,
    terms: terms({
      impact: 'write',
      recovery_approval_mode: 'auto',
      success_condition: 'observed.refunded == 0',
      ...more,
    }),
    execution: execution({ effect_key: `effect-${String(place)}`, call_id: `call-${String(place)}` }),
    ref: ref({ mutation_id: idOf(place), idempotency_key: `key-${String(place)}`, reversal_args: args }),
  });

describe.each(WAYS)('a step whose arguments were erased, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const forPerson = (place: number, reason: string) =>
    fact('StepEscalated', { step_id: stepOf(place), reason, owner: 'role:administrator' });
  const phaseOf = (run: CoreHarness, place: number): unknown =>
    run.rows('step').find(({ key }) => key === stepOf(place))?.doc['phase'];
  /** Three effects in one leg, and the same log without the key of one of them. */
  const sent = (erased: number) => {
    const run = start().when(fallenInput(effect(1), effect(2), effect(3)), AT);
    run.then(fact('RecoveryPlanned'), legOf(stepOf(3), stepOf(2), stepOf(1)));
    return {
      request: requestIn(run.outgoing()),
      run: start().given(...withoutKey(argsOf(erased), run.records())),
    };
  };

  it("is a person's at once, and nothing is called", () => {
    const run = start().when(fallenInput(effect(1, gone(argsOf(1)))), AT);
    run.then(fact('RecoveryPlanned'), forPerson(1, 'PAYLOADS_ERASED'), CLOSED_MANUAL);
    expect(run.outgoing()).toEqual([]);
  });

  it('joins no leg: the others of its run go without it', () => {
    const run = start().when(fallenInput(effect(1), effect(2, gone(argsOf(2))), effect(3)), AT);
    run.then(fact('RecoveryPlanned'), forPerson(2, 'PAYLOADS_ERASED'), legOf(stepOf(3), stepOf(1)));
  });

  it('whose request may have gone out is of unknown outcome, and the others go again without it', () => {
    const { run } = sent(2);
    run.when(run.timer('step', stepOf(3)), ANSWER_BY);
    run.then(
      fact('LegSettled', { members: [3, 2, 1].map((place) => ({ step_id: stepOf(place), reason: 'NO_ANSWER' })) }),
    );
    run.when(run.timer('step', stepOf(2)), RETRY_AT).then(forPerson(2, 'OUTCOME_UNKNOWN'));
    run.when(run.timer('step', stepOf(3)), RETRY_AT).then(legOf(stepOf(3)));
    const [again] = run.outgoing();
    expect(again?.body).toMatchObject({ attempt: 2, reconcile_first: true });
    expect(phaseOf(run, 2)).toBe('manual');
  });

  it('that its tool refused without effect is not called again, and nobody is told that it may have happened', () => {
    const { run, request } = sent(3);
    run.when(answered(request, 'failed', [STILL_PENDING]), AT + 100);
    run.when(run.timer('step', stepOf(3)), AT + 100 + CONFIG.backoff.baseMs);
    run.then(forPerson(3, 'PAYLOADS_ERASED'));
  });

  it('counts as undone where its worker says so and it was seen', () => {
    const { run, request } = sent(3);
    run
      .when(answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 100)
      .then(
        fact('LegSettled', { members: [3, 2, 1].map(() => ({ outcome: 'compensated' })) }),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
  });

  describe('that was looked at before it was called, by what they said,', () => {
    const terms = { stale_condition: 'observed.refund == bound.args.refund_id', success_condition: 'observed.gone' };
    const before = observed('stale_check', 'payments.read_refund', { refund: 're_2', gone: true });
    const after = observed('verify', 'payments.read_balance', { gone: true });
    const back = observed('reconcile', 'payments.find_cancellation', { gone: true });
    const answeredBy = (...seen: Parameters<typeof answered>[2]) => {
      const run = start().when(fallenInput(effect(1, argsOf(1), terms)), AT);
      const request = requestIn(run.outgoing());
      return (outcome: Parameters<typeof answered>[1]) =>
        start()
          .given(...withoutKey(argsOf(1), run.records()))
          .when(answered(request, outcome, seen), AT + 100);
    };

    it('is of unknown outcome: its worker is not believed over a look that nobody can judge any more', () => {
      answeredBy(before, after)('verified').then(settled({ outcome: 'uncertain', reason: 'VERDICTS_DISAGREE' }));
    });

    it('counts as undone where a later look explains the change by our own effect', () => {
      answeredBy(before, back, after)('verified').then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
    });

    it('failed, and was not made, where its tool refused it', () => {
      answeredBy(before)('failed').then(settled({ outcome: 'failed', reason: 'TOOL_FAILED' }));
    });
  });

  it.each([
    ['is of unknown outcome where what was seen says nothing without them', 'bound.args.refund_id', 'uncertain', []],
    ['counts as undone by the handle of its effect', 'bound.external_ref', 'compensated', [CLOSED_COMPENSATED]],
    ['is of unknown outcome where its proof is that they are not there', "'re_2' || !has(bound.args)", 'uncertain', []],
    [
      'is of unknown outcome where its proof is that one of them is not there',
      "'re_2' || !has(bound.args.refund_id)",
      'uncertain',
      [],
    ],
    [
      'counts as undone where its proof is the same whatever they were',
      "'re_1' || observed.refund == bound.args.refund_id",
      'compensated',
      [CLOSED_COMPENSATED],
    ],
  ])('%s', (_title, place, outcome, closed) => {
    const condition = { success_condition: `observed.refund == ${place}` };
    const run = start().when(fallenInput(effect(1, argsOf(1), condition)), AT);
    const request = requestIn(run.outgoing());
    const seen = observed('verify', 'payments.read_balance', { refund: 're_1' });
    start()
      .given(...withoutKey(argsOf(1), run.records()))
      .when(answered(request, 'verified', [STILL_PENDING, seen]), AT + 100)
      .then(settled({ outcome }), ...closed);
  });
});
