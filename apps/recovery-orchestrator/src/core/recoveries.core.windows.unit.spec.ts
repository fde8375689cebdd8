// A window that an event closed while a person has the step, or between its attempts: nothing is sent any more (B5).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { fact, harness, wire, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  approval,
  BALANCE_ZERO,
  calls,
  core,
  envelope,
  leg,
  LOOKED_AGAIN,
  markedInput,
  observed,
  requestIn,
  REVIEW,
  RUN,
  settled,
  STEP,
  STILL_PENDING,
  terms,
  views,
  windowClosed,
  WINDOW_END,
} from '../recoveries.testing.js';

const AT = 10_000;
const CLOSED_AT = AT + 500;
const AUTO = { impact: 'write', recovery_approval_mode: 'auto' } as const;
const NOTED = fact('MutationAdvanced', { decision: 'manual_review', reason: 'REVERSAL_EXPIRED' });
const GIVEN = fact('StepEscalated', { reason: 'REVERSAL_EXPIRED' });

function asked(verb: 'RetryStep' | 'CheckStep', more: Readonly<Record<string, unknown>> = {}) {
  const body = { envelope: envelope('omar', ['approver']), run_id: RUN, step_id: STEP, reason: 'once more', ...more };
  return wire('recourse.recovery-commands', verb, body, { key: RUN });
}

describe.each(WAYS)('a window that an event closed, $way', ({ isRebuilt }) => {
  const begun = (more: Parameters<typeof markedInput>[0] = { terms: terms(AUTO) }): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(markedInput(more), AT);
  const stepOf = (run: CoreHarness): Readonly<Record<string, unknown>> => run.rows('step')[0]?.doc ?? {};

  it('while a person has the step is over for every retry, and leaves them the rest', () => {
    const run = begun({}).whenDue(AT + REVIEW);
    const before = stepOf(run);
    expect(before).toMatchObject({ phase: 'manual', reason: 'APPROVAL_TIMEOUT' });
    const at = AT + REVIEW + 100;
    run.when(windowClosed(), at).then(NOTED);
    expect(stepOf(run)).toMatchObject({
      phase: 'manual',
      reason: 'APPROVAL_TIMEOUT',
      owner: before['owner'],
      deadline_at: before['deadline_at'],
      ref: { reversal_expires_at: at },
    });
    expect(run.rows('recovery')[0]?.doc).toMatchObject({ phase: 'closed' });
    run
      .when(asked('RetryStep'), at + 1)
      .then()
      .thenAnswer({ httpStatus: 409, code: 'WINDOW_CLOSED' });
    run.when(windowClosed(), at + 2).thenNothing();
  });

  it('while somebody looks for a person is over for every retry', () => {
    const run = begun({})
      .whenDue(AT + REVIEW)
      .when(asked('CheckStep', { purpose: 'repair', evidence: plainPayload({ ticket: 'T-1' }) }), AT + REVIEW + 1);
    expect(stepOf(run)).toMatchObject({ phase: 'looking' });
    run.when(windowClosed(), AT + REVIEW + 2).then(NOTED);
    expect(stepOf(run)).toMatchObject({ phase: 'looking', ref: { reversal_expires_at: AT + REVIEW + 2 } });
  });

  it('while the resource is looked at again before the call gives it to a person, and nothing is sent', () => {
    const run = begun({})
      .when(approval(), AT + 100)
      .then(fact('StepApproved'), LOOKED_AGAIN);
    const request = requestIn(run.outgoing());
    expect(stepOf(run)).toMatchObject({ phase: 'observing' });
    run.when(windowClosed(), CLOSED_AT).then(GIVEN, fact('RecoveryClosed', { outcome: 'manual' }));
    const seen = observed('verify', 'payments.read_refund', { status: 'pending' });
    run.when(answered(request, 'verified', [seen]), AT + 600).then(fact('ReportRefused', { code: 'ALREADY_ANSWERED' }));
    expect([stepOf(run)['phase'], calls(run)]).toEqual(['manual', []]);
  });

  it('while an attempt is out leaves it its lease, and no other is made', () => {
    const run = begun();
    const request = requestIn(run.outgoing());
    const { due_at, legs, deadline_at } = stepOf(run);
    const recovery = run.rows('recovery')[0]?.doc;
    run.when(windowClosed(), CLOSED_AT).then(NOTED);
    expect(stepOf(run)).toMatchObject({ phase: 'dispatched', due_at, legs, deadline_at });
    expect(run.rows('recovery')[0]?.doc).toEqual(recovery);
    run.when(answered(request, 'failed', []), AT + 600).then(settled({ outcome: 'failed' }));
    run.whenDue(AT + 60_000).then(GIVEN, fact('RecoveryClosed', { outcome: 'manual' }));
    expect(calls(run)).toEqual([]);
  });

  it('is no reason to disbelieve an attempt that was out and is proved', () => {
    const run = begun();
    const request = requestIn(run.outgoing());
    run
      .when(windowClosed(), CLOSED_AT)
      .when(answered(request, 'verified', [STILL_PENDING, BALANCE_ZERO]), AT + 600)
      .then(settled({ outcome: 'compensated' }), fact('RecoveryClosed', { outcome: 'compensated' }));
  });

  it.each([
    ['failed', 'retrying'],
    ['unknown', 'uncertain'],
  ] as const)('between attempts, after one that %s, sends none any more', (reported, phase) => {
    const run = begun();
    run.when(answered(requestIn(run.outgoing()), reported, []), AT + 100);
    expect(stepOf(run)).toMatchObject({ phase });
    run.when(windowClosed(), AT + 200).then(NOTED);
    expect(stepOf(run)).toMatchObject({ phase, ref: { reversal_expires_at: AT + 200 } });
    run.whenDue(AT + 60_000).then(GIVEN, fact('RecoveryClosed', { outcome: 'manual' }));
    expect(calls(run)).toEqual([]);
  });

  it('is not told of again once the clock closed it', () => {
    begun({})
      .whenDue(AT + REVIEW)
      .when(windowClosed(), WINDOW_END)
      .thenNothing();
  });

  it('between attempts is the only reason that none is sent: one is, where it is open', () => {
    const run = begun();
    run.when(answered(requestIn(run.outgoing()), 'failed', []), AT + 100);
    run.whenDue(AT + 60_000).then(leg({ attempt: 2 }));
  });
});
