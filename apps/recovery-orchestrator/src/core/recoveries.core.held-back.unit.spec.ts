// A step that people agreed to, and that its worker held back since a switch stopped it: nobody was called, and it goes on.
import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import { fact, harness, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { reported, switchboard } from '../legs.testing.js';
import {
  agreed,
  answered,
  BALANCE_ZERO,
  CLOSED_COMPENSATED,
  core,
  leg,
  LOOKED_AGAIN,
  looked,
  markedInput,
  observed,
  requestIn,
  SEEN,
  settled,
  STILL_PENDING,
} from '../recoveries.testing.js';
import type { StepDoc } from '../rules/step/step.messages.js';

const OVER_ALL = { over: 'tenant' } as const;
const UNDONE = [STILL_PENDING, observed('execute', 'payments.cancel_refund', {}), BALANCE_ZERO];

describe.each(WAYS)('a step that was agreed to and held back by its worker, $way', ({ isRebuilt }) => {
  const step = (run: CoreHarness): StepDoc => run.rows('step')[0]?.doc as StepDoc;
  const due = (run: CoreHarness): number => Number(step(run).due_at);

  /** Agreed to and sent; its worker obeyed a switch that is lifted before the lease is over. */
  function heldBack(): { readonly run: CoreHarness; readonly request: LegRequested } {
    const { views: both, on, off } = switchboard();
    const run = harness(core(), { isRebuilt, views: both }).when(markedInput(), 10_000);
    looked(run, 10_500);
    const request = requestIn(agreed(run, 11_000).outgoing());
    on('stop', OVER_ALL);
    run.when(reported(request, []), 12_000).then(settled({ outcome: 'uncertain', reason: 'HELD_BACK' }));
    run.when(off('stop', OVER_ALL), 13_000);
    return { run, request };
  }

  it('is looked at again once its lease is over, and sent under the approvals it has', () => {
    const { run } = heldBack();
    run.whenDue(due(run)).then(LOOKED_AGAIN);
    expect(step(run)).toMatchObject({ phase: 'observing', attempt: 1, attempts_before: 1 });
    looked(run, due(run) - 1).then(SEEN, leg({ attempt: 2, reconcile_first: true }));
  });

  it('is asked about anew where the resource has changed meanwhile', () => {
    const { run } = heldBack();
    const request = requestIn(run.whenDue(due(run)).outgoing());
    const gone = observed('verify', 'payments.read_refund', { status: 'paid_out' });
    run.when(answered(request, 'verified', [gone]), due(run) - 1).then(SEEN, fact('FactChanged'));
    expect(step(run)).toMatchObject({ phase: 'awaiting_approval', approvals: [], changed: ['/status'] });
  });

  it.each([
    ['before it goes on', (run: CoreHarness) => run],
    ['while it is looked at again', (run: CoreHarness) => run.whenDue(due(run))],
    [
      'while people are asked about what changed',
      (run: CoreHarness) => {
        const request = requestIn(run.whenDue(due(run)).outgoing());
        const zero = observed('verify', 'payments.read_refund', { status: 'cancelled' });
        return run.when(answered(request, 'verified', [zero]), due(run) - 1);
      },
    ],
  ])('is compensated by late proof that another copy had done it, %s', (_, until) => {
    const { run, request } = heldBack();
    until(run)
      .when(answered(request, 'verified', UNDONE), due(run) - 1)
      .then(settled({ attempt: 1, outcome: 'compensated' }), CLOSED_COMPENSATED);
    expect(step(run)).toMatchObject({ phase: 'compensated', due_at: null });
  });
});
