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

  it.each([
    ['is of unknown outcome where what was seen says nothing without them', 'bound.args.refund_id', 'uncertain', []],
    ['counts as undone by the handle of its effect', 'bound.external_ref', 'compensated', [CLOSED_COMPENSATED]],
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
