// What a worker says of a call that certainly had no effect: it lost its conditional write, or was refused outright.
import { describe, expect, it } from '@jest/globals';
import type { LegRequested, Observation, StepOutcome } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  CLOSED_MANUAL,
  core,
  leg,
  markedInput,
  requestIn,
  settled,
  STILL_PENDING,
  terms,
  views,
} from '../recoveries.testing.js';

/** A report of one step, with what stood in its way. */
function refused(
  request: LegRequested,
  outcome: StepOutcome,
  error_kind: string,
  observations: readonly Observation[] = [],
) {
  const [step] = request.steps;
  const told = { step_id: step?.step_id ?? '', outcome, observations, error_kind, detail: null };
  return answered(request, outcome, observations, {
    steps: [{ ...told, external_transaction_ref: null, calls_done: 0 }],
  });
}

describe.each(WAYS)('a tool that knows that it had no effect, $way', ({ isRebuilt }) => {
  const start = (more: Parameters<typeof terms>[0] = {}): CoreHarness =>
    harness(core(), { isRebuilt, views: views() }).when(
      markedInput({ terms: terms({ impact: 'write', recovery_approval_mode: 'auto', ...more }) }),
      10_000,
    );
  const KEYLESS = { key_lifetime_ms: null } as const;

  it('lost its conditional write: a person has it at once, and nothing is tried again (P7)', () => {
    const run = start();
    const request = requestIn(run.outgoing());
    run
      .when(refused(request, 'stale', 'TOOL_CONFLICT', [STILL_PENDING]), 11_000)
      .then(
        settled({ outcome: 'stale', reason: 'WRITE_CONFLICT' }),
        fact('StepEscalated', { reason: 'RESOURCE_CHANGED', owner: 'role:administrator' }),
        CLOSED_MANUAL,
      );
    run.whenDue(900_000);
    expect(run.records().filter(({ type }) => type === 'LegDispatched')).toHaveLength(1);
  });

  it('is tried again as often as its contract says, also where it takes no key', () => {
    const run = start(KEYLESS);
    run
      .when(refused(requestIn(run.outgoing()), 'failed', 'TOOL_REJECTED'), 11_000)
      .then(settled({ outcome: 'failed' }));
    run.whenDue(12_000).then(leg({ attempt: 2, reconcile_first: false }));
    run
      .when(refused(requestIn(run.outgoing()), 'failed', 'TOOL_REJECTED'), 13_000)
      .then(settled({ outcome: 'failed' }), fact('StepEscalated', { reason: 'COMPENSATION_FAILED' }), CLOSED_MANUAL);
  });

  it.each(['unknown', 'not_executed', 'unverified'] as const)(
    'is not called again without a key where that is not known: %s',
    (outcome) => {
      const run = start(KEYLESS);
      run.when(answered(requestIn(run.outgoing()), outcome, []), 11_000);
      run.whenDue(900_000);
      expect(run.rows('step')[0]?.doc).toMatchObject({ phase: 'manual', reason: 'KEY_LIFETIME_OVER', attempt: 1 });
    },
  );
});
