// Whatever is decided about a step, in whichever phase: the machine has a cell for each record of it, and no timer throws.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { LegReported } from '@recourse/messages';
import { harness } from '@recourse/testing';
import {
  agreed,
  BALANCE_ZERO,
  CONFIG,
  core,
  envelope,
  EVIDENCE,
  looked,
  marked,
  markedInput,
  MUTATION,
  observed,
  STILL_PENDING,
  TENANT,
  views,
} from '../recoveries.testing.js';
import { NO_RATES } from '../rules/admission/pace.decisions.js';
import type { Signed } from '../rules/step/observer.decisions.js';
import { report } from '../rules/step/report.decider.js';
import * as commands from '../rules/step/step-commands.decider.js';
import type { StepContext } from '../rules/step/step-draft.decisions.js';
import {
  advance,
  childrenSettled,
  closeWindows,
  due,
  handleJudged,
  reaffirm,
  resume,
} from '../rules/step/step.decider.js';
import { STEP_PHASES } from '../rules/step/step.messages.js';
import type { LookDoc, StepDoc, StepPhase } from '../rules/step/step.messages.js';
import { policyOf } from './context.js';

const NOW = 100_000;
const LOOK: Omit<LookDoc, 'call' | 'terms' | 'ref'> = {
  ...{
    leg_id: 'look-1',
    adapter: 'payments',
    purpose: 'reconcile',
    lease_id: 'lease',
    not_after: NOW + 5,
    answer_by: NOW,
  },
  ...{ evidence: plainPayload({}), by: 'olga', reason: 'r', command_id: 'c', not_by: null },
};

/** The attempts a step may have behind it, by its phase. */
const NONE = { attempt: 0, attempts_before: 0, legs: [] };
const COUNTED = { attempt: 1, attempts_before: 0 };
const UNCOUNTED = { attempt: 1, attempts_before: 1 };
const ATTEMPTS: { readonly [Phase in StepPhase]?: readonly Partial<StepDoc>[] } = {
  held: [NONE],
  not_needed: [NONE],
  approved: [NONE, UNCOUNTED],
  dispatched: [COUNTED],
  uncertain: [COUNTED, UNCOUNTED],
  retrying: [COUNTED],
  compensated: [COUNTED],
};
const REASONS: { readonly [Phase in StepPhase]?: readonly string[] } = {
  held: ['STEP_RESULT_PENDING', 'HANDLE_ASKED', 'FORWARD_UNCERTAIN'],
  waiting: ['ORDER', 'CHILDREN', 'RATE_LIMITED', 'BLOCKED_BY_STEP'],
  manual: ['STEP_RESULT_MISSING', 'HANDLE_ASKED', 'OUTCOME_UNKNOWN'],
};

/** Steps in a phase, as they may stand. */
function* standing(sent: StepDoc, phase: StepPhase): Generator<StepDoc> {
  const asked = { call: sent.call, terms: sent.terms } as Pick<LookDoc, 'call' | 'terms'>; // it was sent: it has both
  for (const attempts of ATTEMPTS[phase] ?? [NONE, COUNTED, UNCOUNTED])
    for (const reason of REASONS[phase] ?? [sent.reason])
      for (const required_approvals of [0, 1])
        for (const ends of [sent.ref.reversal_expires_at, NOW - 1])
          for (const deadline_at of [NOW, NOW + 50_000])
            yield {
              ...sent,
              ...attempts,
              ...{ phase, reason, required_approvals, deadline_at, due_at: NOW },
              ref: { ...sent.ref, reversal_expires_at: ends },
              approvals: required_approvals === 0 ? [] : sent.approvals,
              look: phase === 'looking' ? { ...LOOK, ...asked, ref: sent.ref } : null,
              facts_ask:
                phase === 'observing' || phase === 'awaiting_approval'
                  ? { ...LOOK, leg_id: 'facts-1', purpose: phase === 'observing' ? 'dispatch' : 'review', round: 1 }
                  : null,
            };
}

const SEEN = [
  [],
  [STILL_PENDING, observed('execute', 'payments.cancel_refund', {}), BALANCE_ZERO],
  [observed('verify', 'payments.read_refund', { status: 'paid_out' })],
];

/** What workers may say of it. */
function* reports(step: StepDoc): Generator<LegReported> {
  const about = { tenant: TENANT, run_id: step.run_id, worker_id: 'w1', reported_at: NOW, complete: true };
  for (const { leg_id, lease_id } of [...step.legs, LOOK, { leg_id: 'facts-1', lease_id: 'lease' }]) {
    const leg = { ...about, leg_id, attempt: 1, lease_id };
    yield { ...leg, steps: [] };
    for (const outcome of ['verified', 'unverified', 'stale', 'failed', 'refused_late', 'unknown'] as const)
      for (const observations of SEEN)
        yield {
          ...leg,
          steps: [
            {
              step_id: step.step_id,
              outcome,
              observations,
              error_kind: null,
              detail: null,
              external_transaction_ref: null,
              calls_done: 0,
            },
          ],
        };
  }
}

const OBSERVED: Signed = {
  keyId: 'payments-1',
  roles: ['worker', 'observer'],
  names: ['payments'],
  observers: [{ names: ['payments'], tenants: ['*'] }],
};

/** Everything that may be decided about it. */
function decided(step: StepDoc, context: StepContext): readonly (() => unknown)[] {
  const { run_id, step_id, action_digest } = step;
  const asked = { envelope: envelope('otto', ['approver']), run_id, step_id, reason: 'because' };
  const digest = action_digest ?? Buffer.alloc(32);
  const evidence = plainPayload({});
  return [
    () => due(step, NOW, context),
    () => resume(step, context),
    () => reaffirm(step, { ...EVIDENCE, event_id: 'ev-2' }, context),
    () => closeWindows([MUTATION], TENANT, context),
    () => childrenSettled([MUTATION], TENANT, context),
    ...[true, false].map((isOwner) => () => handleJudged(step, isOwner, context)),
    ...[marked(), marked({ execution_state: 'failed' }), marked({ terms: null })].map(
      (told) => () => advance(step, { ...told, triggered_at: step.triggered_at }, context),
    ),
    ...[...reports(step)].flatMap((message) => [
      () => report(message, context),
      () => report(message, context, OBSERVED),
    ]),
    () => commands.approve(step, { ...asked, action_digest: digest }, context),
    () => commands.breakOpen(step, { ...asked, action_digest: digest, valid_ms: 60_000 }, context),
    () => commands.deny(step, { ...asked, action_digest: digest }, context),
    () => commands.resolve(step, { ...asked, resolution: 'accepted', evidence }, context),
    () => commands.retry(step, asked, context),
    () => commands.check(step, { ...asked, purpose: 'reconcile', evidence }, context),
    () => commands.giveUp(step, asked, context),
  ];
}

describe('what is decided about a step', () => {
  let sent: StepDoc;
  beforeAll(() => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    sent = agreed(looked(run, 10_500), 11_000).rows('step')[0]?.doc as StepDoc; // rows of this kind are steps
  });

  const contextOf = (step: StepDoc, isStopped: boolean): StepContext => ({
    now: NOW,
    steps: [step],
    policy: policyOf(CONFIG),
    killed: () => (isStopped ? { admitted: false, code: 'BREAKER_OPEN', reason: 'stopped' } : { admitted: true }),
    rates: NO_RATES,
    nextAt: () => 0,
    dependentsIn: () => [],
    contractOf: () => null,
    editorsOf: () => [],
  });

  it.each(STEP_PHASES)('while it is %s has a cell for each record', (phase) => {
    const wrong = new Set<string>();
    for (const step of standing(sent, phase))
      for (const isStopped of [true, false])
        for (const decide of decided(step, contextOf(step, isStopped))) {
          try {
            decide();
          } catch (error) {
            wrong.add(String(error));
          }
        }
    expect([...wrong]).toEqual([]);
  });
});
