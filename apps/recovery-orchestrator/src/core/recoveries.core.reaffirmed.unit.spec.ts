// What is said to hold again while an attempt is out: people agreed because it did not, and are asked again where that attempt counts for none (P4).
import { describe, expect, it } from '@jest/globals';
import { fact, harness, logged, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { reported, switchboard } from '../legs.testing.js';
import {
  answered,
  approval,
  BALANCE_KEPT,
  core,
  digest,
  EVIDENCE,
  leg,
  markedInput,
  MUTATION,
  requestIn,
  RUN,
  settled,
  TENANT,
  terms,
} from '../recoveries.testing.js';
import type { StepDoc } from '../rules/step/step.messages.js';

const OVER_ALL = { over: 'tenant' } as const;
const UNCHECKED = terms({ stale_capability: null, stale_condition: null });

function reaffirmed(eventId = 'ev-2') {
  const body = { mutation_id: MUTATION, tenant: TENANT, run_id: RUN };
  const evidence = { ...EVIDENCE, event_id: eventId, position: 4 };
  return logged('recourse.mutations', 'MutationReaffirmed', { ...body, evidence }, 5, { key: RUN });
}

describe.each(WAYS)('what is said to hold again while an attempt is out, $way', ({ isRebuilt }) => {
  const step = (run: CoreHarness): StepDoc => run.rows('step')[0]?.doc as StepDoc;
  const due = (run: CoreHarness): number => Number(step(run).due_at);
  const agreeing = (more: Parameters<typeof approval>[0] = {}) =>
    approval({ digest: digest({ terms: UNCHECKED }), ...more });

  /** Agreed to, and sent: nothing looks at the resource before. */
  function sent() {
    const { views: both, on, off } = switchboard();
    const run = harness(core(), { isRebuilt, views: both })
      .when(markedInput({ terms: UNCHECKED }), 10_000)
      .when(agreeing(), 11_000)
      .then(fact('StepApproved'), leg());
    return { run, on, off, request: requestIn(run.outgoing()) };
  }
  const NOTED = fact('FactChanged', { voided: [], attempt: 1, evidence: { event_id: 'ev-2' } });
  const ASKED_AGAIN = fact('FactChanged', { attempt: null, evidence: { event_id: 'ev-2' }, owner: 'role:approver' });

  it.each([
    ['before its worker held it back', true],
    ['after that', false],
  ])('voids what was agreed to before anything else is sent, told %s', (_, isBefore) => {
    const { run, on, off, request } = sent();
    on('stop', OVER_ALL);
    if (isBefore) run.when(reaffirmed(), 11_500).then(NOTED);
    run.when(reported(request, []), 12_000).then(settled({ reason: 'HELD_BACK' }));
    if (!isBefore) run.when(reaffirmed(), 12_500).then(NOTED);
    run.when(reaffirmed(), 12_600).thenNothing();
    run.when(off('stop', OVER_ALL), 13_000);
    expect(step(run)).toMatchObject({ phase: 'uncertain', reaffirmed: { event_id: 'ev-2' } });
    // A copy may act until the lease is over: nobody is asked before.
    run.whenDue(due(run)).then(ASKED_AGAIN);
    expect(step(run)).toMatchObject({ phase: 'awaiting_approval', approvals: [], changed: [EVIDENCE.ref] });
    const anew = step(run).action_digest ?? Buffer.alloc(0);
    run.when(agreeing(), due(run) - 10).thenAnswer({ status: 'rejected', code: 'DIGEST_MISMATCH' });
    run.when(agreeing({ digest: anew }), due(run) - 9).then(fact('StepApproved'), leg({ attempt: 2 }));
  });

  it('changes nothing where the attempt counts: the same action is tried again', () => {
    const { run, request } = sent();
    run.when(reaffirmed(), 11_500).then(NOTED);
    run.when(answered(request, 'failed', []), 12_000).then(settled({ outcome: 'failed' }));
    run.when(reaffirmed('ev-3'), 12_100).thenNothing();
    run.whenDue(due(run)).then(leg({ attempt: 2 }));
  });

  it('is agreed to with that on the screen once a person has it tried again', () => {
    const { run, request } = sent();
    run.when(reaffirmed(), 11_500).then(NOTED);
    run.when(answered(request, 'unverified', [BALANCE_KEPT]), 12_000);
    const again = requestIn(run.whenDue(due(run)).outgoing());
    run.when(answered(again, 'unverified', [BALANCE_KEPT]), due(run) - 1);
    expect(step(run)).toMatchObject({ phase: 'manual', reaffirmed: { event_id: 'ev-2' } });
  });
});
