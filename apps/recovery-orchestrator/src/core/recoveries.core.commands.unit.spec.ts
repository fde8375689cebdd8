// What people may have done about a step beside agreeing to it (C64): try again, look again, give up, make an incident; each one record.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { LegRequested, Observation, StepOutcome } from '@recourse/messages';
import { fact, harness, wire, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  core,
  envelope,
  EVIDENCE,
  execution,
  LEASE,
  MARGIN,
  markedInput,
  recordedAgain,
  ref,
  requestIn,
  REVIEW,
  RUN,
  STEP,
  STILL_PENDING,
  terms,
  views,
  WINDOW_END,
  windowClosed,
  leg,
  settled,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
  calls,
  agreed,
} from '../recoveries.testing.js';

const AT = 10_000;
const AUTO = { impact: 'write', recovery_approval_mode: 'auto', max_attempts: 1 } as const;
type Verb = 'RetryStep' | 'CheckStep' | 'AbandonStep' | 'EscalateStep';

function command(
  verb: Verb,
  more: Readonly<Record<string, unknown>> = {},
  by = 'olga',
  roles: readonly string[] = ['approver'],
) {
  const about = {
    RetryStep: {},
    AbandonStep: {},
    CheckStep: { purpose: 'repair', evidence: plainPayload({ ticket: 'T-1' }) },
    EscalateStep: { severity: 'sev2', runbook: 'https://runbooks.example/refunds' },
  }[verb];
  return wire(
    'recourse.recovery-commands',
    verb,
    { envelope: envelope(by, roles), run_id: RUN, step_id: STEP, reason: 'looked at it', ...about, ...more },
    { key: RUN },
  );
}

describe.each(WAYS)('a step that a person has, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const report = (request: LegRequested, outcome: StepOutcome, observations: readonly Observation[]) =>
    answered(request, outcome, observations);
  /** Its only attempt did not show in the world. */
  function unverified(more: Parameters<typeof terms>[0] = AUTO, pointer: Parameters<typeof ref>[0] = {}): CoreHarness {
    const run = start().when(markedInput({ terms: terms(more), ref: ref(pointer) }), AT);
    return run
      .when(report(requestIn(run.outgoing()), 'unverified', [STILL_PENDING, BALANCE_KEPT]), AT + 100)
      .then(settled({ outcome: 'unverified' }), fact('StepEscalated'), fact('RecoveryClosed'));
  }
  const doc = (run: CoreHarness) => run.rows('step')[0]?.doc;

  describe('is tried again', () => {
    it('at once where nobody has to agree, as the next attempt under the same key, and reconciles first', () => {
      const run = unverified()
        .when(command('RetryStep'), AT + 200)
        .then(
          fact('StepReopened', { by: 'olga', required_approvals: 0 }),
          leg({ attempt: 2, reconcile_first: true, call: { idempotency_key: 'rev_mut_1' } }),
        );
      run.thenAnswer({ status: 'accepted', body: { phase: 'dispatched' } });
      expect(run.rows('recovery')[0]?.doc).toMatchObject({ phase: 'open' });
      run
        .when(report(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 300)
        .then(settled({ outcome: 'compensated', attempt: 2 }), fact('RecoveryClosed', { outcome: 'compensated' }));
    });

    it("with as many attempts as its contract gives, and then is a person's again", () => {
      const run = unverified().when(command('RetryStep'), AT + 200);
      run
        .when(report(requestIn(run.outgoing()), 'unverified', [STILL_PENDING, BALANCE_KEPT]), AT + 300)
        .then(
          settled({ attempt: 2 }),
          fact('StepEscalated', { reason: 'VERIFICATION_FAILED' }),
          fact('RecoveryClosed', { outcome: 'manual' }),
        );
    });

    it('only after people agreed, where its declared risk keeps it from going by itself (C37)', () => {
      const run = start()
        .when(markedInput({ terms: terms({ ...AUTO, risk_level: 'high' }) }), AT)
        .then(
          planned({ decision: 'manual_review', reason: 'RISK_ABOVE_LIMIT', required_approvals: 1 }),
          fact('StepEscalated', { reason: 'RISK_ABOVE_LIMIT' }),
          fact('RecoveryClosed'),
        );
      run
        .when(command('RetryStep', {}, 'omar'), AT + 200)
        .then(fact('StepReopened', { required_approvals: 1, owner: 'role:approver' }), SHOWN);
      expect(calls(run)).toEqual([]);
      run
        .when(approval({ by: 'petra', digest: doc(run)?.['action_digest'] as Buffer }), AT + 300)
        .then(fact('StepApproved'), LOOKED_AGAIN);
      looked(run, AT + 310).then(SEEN, leg({ attempt: 1 }));
    });

    it('only after people agreed anew: their approval was used', () => {
      const run = agreed(start().when(markedInput({ terms: terms({ max_attempts: 1 }) }), AT), AT + 1);
      run.when(report(requestIn(run.outgoing()), 'unverified', [STILL_PENDING, BALANCE_KEPT]), AT + 100);
      run
        .when(command('RetryStep', {}, 'omar'), AT + 200)
        .then(fact('StepReopened', { required_approvals: 1, owner: 'role:approver' }), SHOWN);
      expect(calls(run)).toEqual([]);
      expect(doc(run)).toMatchObject({ phase: 'awaiting_approval', approvals: [], deadline_at: AT + 200 + REVIEW });
      run.when(approval({ by: 'petra' }), AT + 300).then(fact('StepApproved'), LOOKED_AGAIN);
      looked(run, AT + 310).then(SEEN, leg({ attempt: 2 }));
    });

    it('never out of its window, nor where a repeated call could act twice', () => {
      unverified()
        .when(command('RetryStep'), WINDOW_END - MARGIN - CALL_TIMEOUT)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
      unverified({ ...AUTO, key_lifetime_ms: null })
        .when(command('RetryStep'), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    });

    it('never once the tool has forgotten the key: nobody is asked for what could not go', () => {
      const lifetime = 60_000;
      const lastly = AT + lifetime - MARGIN - CALL_TIMEOUT;
      const forgotten = unverified({ ...AUTO, key_lifetime_ms: lifetime });
      forgotten.when(command('RetryStep'), lastly).then().thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      expect(forgotten.decision().answer?.body).toMatchObject({
        message: expect.stringContaining('forgotten the key'),
      });
      unverified({ ...AUTO, key_lifetime_ms: lifetime })
        .when(command('RetryStep'), lastly - 1)
        .then(fact('StepReopened'), leg({ attempt: 2 }));
    });

    it.each([
      ['while it waited for a person', {}, true],
      ['before it fell', { recoverability: 'reversal_expired' as const }, false],
    ])('never once an event closed its window %s, whatever its clock says (B5)', (_when, more, closesLater) => {
      const run = start().when(markedInput({ terms: terms(), ...more }), AT);
      if (closesLater) run.when(windowClosed(), AT + 100);
      expect(doc(run)).toMatchObject({ phase: 'manual', reason: 'REVERSAL_EXPIRED' });
      run
        .when(command('RetryStep', {}, 'omar'), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
    });

    it('never while nobody knows whether the action happened, and once somebody does (C44)', () => {
      const unknown = { terms: terms(AUTO), execution_state: 'uncertain', recoverability: 'pending_commit' } as const;
      const run = start()
        .when(markedInput(unknown), AT)
        .whenDue(AT + REVIEW)
        .then(fact('StepEscalated', { reason: 'FORWARD_UNRESOLVED' }), fact('RecoveryClosed'));
      for (const asked of [command('RetryStep'), command('CheckStep', { purpose: 'reconcile' })])
        run
          .when(asked, AT + REVIEW + 1)
          .then()
          .thenAnswer({ httpStatus: 409, code: 'FORWARD_UNCERTAIN' });
      expect(calls(run)).toEqual([]);
      run
        .when(recordedAgain({ terms: terms(AUTO) }), AT + REVIEW + 2)
        .then(fact('MutationAdvanced', { execution_state: 'succeeded' }));
      run.when(command('RetryStep', {}, 'omar'), AT + REVIEW + 3).then(fact('StepReopened'), leg({ attempt: 1 }));
    });

    it('never while a copy of an earlier attempt may still act (L11)', () => {
      const run = start().when(markedInput({ terms: terms(AUTO) }), AT);
      run.when(report(requestIn(run.outgoing()), 'unknown', []), AT + 100).then(settled({ outcome: 'uncertain' }));
      run
        .when(command('RetryStep'), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      run
        .when(command('AbandonStep'), AT + 201)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      expect(doc(run)).toMatchObject({ phase: 'uncertain' });
    });

    it("only when there is a compensation, and only from a person's hands", () => {
      start()
        .when(markedInput({ ref: ref({ reversal_class: 'irreversible' }) }), AT)
        .when(command('RetryStep'), AT + 1)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      start()
        .when(markedInput(), AT)
        .when(command('RetryStep'), AT + 1)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      unverified()
        .when(command('RetryStep', {}, 'agent:fixer'), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 403, code: 'APPROVER_NOT_A_PERSON' });
      unverified()
        .when(command('RetryStep', {}, 'mallory', ['reader']), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    });
  });

  it.each([
    ['resource', { ref: ref({ subject_ref: null, external_transaction_ref: null }) }],
    ['objective', { execution: execution({ objective: null }) }],
    ['objective', { execution: execution({ objective: ' \n' }) }],
    ['facts.then', { ref: ref({ assumption_refs: [] }) }],
    ['facts.now', { evidence: { ...EVIDENCE, ref: null, statement: null } }],
  ])('is agreed to by nobody while facts are missing that a decision needs: %s (C55, C63)', (missing, more) => {
    const run = start().when(markedInput(more), AT);
    run
      .when(approval({ digest: doc(run)?.['action_digest'] as Buffer }), AT + 1)
      .then()
      .thenAnswer({
        httpStatus: 409,
        code: 'ITEM_NOT_READY',
        body: { missing: [missing] },
      });
    expect(calls(run)).toEqual([]);
    expect(doc(run)).toMatchObject({ phase: 'awaiting_approval', approvals: [] });
  });

  describe('is looked at', () => {
    const looked = (purpose: string): CoreHarness =>
      unverified()
        .when(command('CheckStep', { purpose }), AT + 200)
        .then(fact('LookDispatched', { purpose, by: 'olga', answer_by: AT + 200 + LEASE + MARGIN + CALL_TIMEOUT }));

    it('by a worker that is asked to observe, and to call nothing', () => {
      const request = requestIn(looked('repair').outgoing());
      expect(request).toMatchObject({
        kind: 'observe',
        attempt: 1,
        steps: [{ step_id: STEP, verify_capability: 'payments.read_balance' }],
      });
    });

    it('and is repaired, verified, when the success condition holds (C64)', () => {
      const run = looked('repair');
      run.when(report(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), AT + 300).then(
        fact('LookAnswered', { verdict: 'met' }),
        fact('StepResolved', {
          resolution: 'repaired',
          verified: true,
          by: 'olga',
          evidence: plainPayload({ ticket: 'T-1' }),
        }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
      expect(doc(run)).toMatchObject({ phase: 'resolved', resolved: { verified: true } });
    });

    it('and is compensated when an earlier attempt turns out to have taken effect', () => {
      const run = looked('reconcile');
      run
        .when(report(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), AT + 300)
        .then(
          fact('LookAnswered'),
          settled({ outcome: 'compensated', attempt: 1, outcome_kind: 'reversed' }),
          fact('RecoveryClosed', { outcome: 'compensated' }),
        );
    });

    it.each([
      ['not_met', 'unverified', [BALANCE_KEPT]],
      ['unknown', 'verified', [BALANCE_KEPT]],
      ['unknown', 'unknown', []],
    ] as const)("and stays a person's when it shows %s (the worker says %s)", (verdict, outcome, observations) => {
      const run = looked('repair');
      run
        .when(report(requestIn(run.outgoing()), outcome, observations), AT + 300)
        .then(
          fact('LookAnswered', { verdict, deadline_at: AT + 300 + REVIEW, owner: 'role:administrator' }),
          fact('RecoveryClosed', { outcome: 'manual' }),
        );
      expect(doc(run)).toMatchObject({ phase: 'manual', look: null });
    });

    it('to its deadline: nobody answered, nothing was seen', () => {
      looked('repair')
        .whenDue(AT + 200 + LEASE + MARGIN + CALL_TIMEOUT)
        .then(fact('LookAnswered', { verdict: 'unknown', reason: 'NO_ANSWER' }), fact('RecoveryClosed'));
    });

    it('under its lease alone', () => {
      const run = looked('repair');
      run
        .when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO], { lease_id: 'forged' }), AT + 300)
        .then(fact('ReportRefused', { code: 'LEASE_UNKNOWN' }));
    });

    it('only where something can observe it, and to reconcile only what was tried', () => {
      start()
        .when(markedInput({ terms: null }), AT)
        .when(command('CheckStep'), AT + 1)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      start()
        .when(markedInput(), AT)
        .whenDue(AT + REVIEW)
        .when(command('CheckStep', { purpose: 'reconcile' }), AT + REVIEW + 1)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      unverified()
        .when(command('CheckStep', { purpose: 'unrecognized' }), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    });
  });

  describe('is given up', () => {
    it('while it waits: nothing is called any more', () => {
      const run = start()
        .when(markedInput(), AT)
        .when(command('AbandonStep'), AT + 1)
        .then(
          fact('StepEscalated', { reason: 'ABANDONED' }),
          fact('StepResolved', { resolution: 'accepted', by: 'olga' }),
          fact('RecoveryClosed', { outcome: 'manual' }),
        );
      run
        .when(approval(), AT + 2)
        .then()
        .thenAnswer({ code: 'STEP_WRONG_PHASE' });
      expect(calls(run)).toEqual([]);
    });

    it("when it is a person's already", () => {
      const run = unverified()
        .when(command('AbandonStep'), AT + LEASE * 2)
        .then(fact('StepResolved', { resolution: 'accepted' }));
      expect(doc(run)).toMatchObject({ phase: 'resolved' });
    });

    it.each(['ines', 'Ines ', 'agent:billing'])('never by %s, who did it or for whom it was done (P5)', (by) => {
      const run = start()
        .when(markedInput(), AT)
        .when(command('AbandonStep', {}, by), AT + 1);
      run.then().thenAnswer({ httpStatus: 403 });
      expect(doc(run)).toMatchObject({ phase: 'awaiting_approval' });
    });

    it('never while a worker has it, and with a reason', () => {
      start()
        .when(markedInput({ terms: terms(AUTO) }), AT)
        .when(command('AbandonStep'), AT + 1)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
      start()
        .when(markedInput(), AT)
        .when(command('AbandonStep', { reason: ' ' }), AT + 1)
        .then()
        .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    });
  });

  describe('is made an incident of', () => {
    const incident = (): CoreHarness => unverified().when(command('EscalateStep', {}, 'rita', ['reporter']), AT + 200);
    const closing = (id: unknown, tenant = 'acme') =>
      wire(
        'recourse.recovery-commands',
        'CloseIncident',
        {
          envelope: envelope('olga', ['approver'], { tenant }),
          run_id: RUN,
          incident_id: id,
          summary: plainPayload({ cause: 'the tool lied' }),
          reason: 'over',
        },
        { key: RUN },
      );

    it('with severity, runbook, owner and deadline, and ends once', () => {
      const run = incident().then(
        fact('IncidentOpened', {
          severity: 'sev2',
          runbook: 'https://runbooks.example/refunds',
          by: 'rita',
          brief: { objective: 'settle ticket 99' },
          owner: 'role:administrator',
          deadline_at: AT + 200 + REVIEW,
        }),
      );
      const id = run.rows('incident')[0]?.key;
      run.thenAnswer({ status: 'accepted', body: { incident_id: id } });
      run
        .when(closing(id, 'evil'), AT + 250)
        .then()
        .thenAnswer({ httpStatus: 404, code: 'INCIDENT_UNKNOWN' });
      run
        .when(closing(id), AT + 300)
        .then(fact('IncidentClosed', { incident_id: id, by: 'olga' }))
        .when(closing(id), AT + 301)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'INCIDENT_CLOSED' });
      expect(run.rows('incident')[0]?.doc).toMatchObject({
        phase: 'closed',
        deadline_at: null,
        closed: { by: 'olga' },
      });
      expect(doc(run)).toMatchObject({ phase: 'manual' });
    });

    it('in a word that is a severity, and not of what is over', () => {
      unverified()
        .when(command('EscalateStep', { severity: 'unrecognized' }), AT + 200)
        .then()
        .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
      const run = unverified().when(command('AbandonStep'), AT + LEASE * 2);
      run
        .when(command('EscalateStep'), AT + LEASE * 3)
        .then()
        .thenAnswer({ httpStatus: 409, code: 'STEP_WRONG_PHASE' });
    });
  });
});
