// Where another worker observes for an adapter, nothing counts as undone by the word of the one that acted.
import { describe, expect, it } from '@jest/globals';
import type { Speaker } from '@recourse/kernel';
import type { LegRequested } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { fact, harness, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { AUTO, fallen, idOf, phasesOf, placesOf, reported, stepOf, told, verdicts } from '../legs.testing.js';
import {
  answered,
  BALANCE_KEPT,
  BALANCE_ZERO,
  core,
  envelope,
  observed,
  requestIn,
  REVIEW,
  RUN,
  views,
} from '../recoveries.testing.js';

const AT = 10_000;
const worker = (more: Partial<Speaker> = {}): Speaker => ({
  keyId: 'payments-1',
  roles: ['worker'],
  names: ['payments'],
  tenants: ['*'],
  ...more,
});
const OBSERVED = worker({ observers: [{ names: ['payments'], tenants: ['*'] }] });
const OBSERVER: Speaker = { keyId: 'payments-eye', roles: ['observer'], names: ['payments'], tenants: ['*'] };
const CANCELLED = observed('execute', 'payments.cancel_refund', { cancelled: 're_1' });

describe.each(WAYS)('a report of an undo, $way', ({ isRebuilt }) => {
  const dispatched = (...places: readonly number[]): { readonly run: CoreHarness; readonly request: LegRequested } => {
    const run = harness(core(), { isRebuilt, views: views() }).when(fallen(places, { terms: AUTO }), AT);
    return { run, request: requestIn(run.outgoing()) };
  };
  /** A leg of one step, reported as verified by a worker that another observes. */
  function undone(): { readonly run: CoreHarness; readonly look: LegRequested } {
    const { run, request } = dispatched(1);
    run.when({ ...reported(request, [told(1, 'verified')]), speaker: OBSERVED }, AT + 1);
    return { run, look: requestIn(run.outgoing()) };
  }

  /** Nobody answers what is asked of the other, in any round. */
  const silenced = (run: CoreHarness): CoreHarness =>
    [1, 2, 3].reduce((asked, round) => asked.whenDue(AT + round * 1_000_000), run);

  it('has a silent other asked anew, a few times, and counts once that one has seen it', () => {
    const { run, look } = undone();
    run.whenDue(AT + 1_000_000).then(
      fact('LookDispatched', {
        purpose: 'observe',
        not_by: 'payments-1',
        acted: [BALANCE_ZERO],
        deadline_at: run.rows('step')[0]?.dueAt,
      }),
    );
    const again = requestIn(run.outgoing());
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
    expect(again).toMatchObject({ kind: 'observe', for_observer: true, steps: [{ step_id: stepOf(1) }] });
    expect(again.leg_id).not.toBe(look.leg_id);
    run
      .when({ ...reported(look, [told(1, 'verified')]), speaker: OBSERVER }, AT + 1_000_001)
      .then(fact('ReportRefused', { leg_id: look.leg_id, code: 'LEASE_UNKNOWN' }));
    run.when({ ...reported(again, [told(1, 'verified')]), speaker: OBSERVER }, AT + 1_000_002);
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'compensated' });
    expect(new Set([1, 2, 3].map((round) => roundOf(round))).size).toBe(3);
  });

  it('is told a second time while the other looks, and changes nothing; a copy that says otherwise is refused', () => {
    const { run, request } = dispatched(1);
    const copy = { ...reported(request, [told(1, 'verified')]), speaker: OBSERVED };
    run.when(copy, AT + 1).then(fact('LookDispatched'));
    run.when(copy, AT + 2).then();
    run
      .when({ ...reported(request, [told(1, 'failed')]), speaker: OBSERVED }, AT + 3)
      .then(fact('ReportRefused', { leg_id: request.leg_id, code: 'ATTEMPT_STALE' }));
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
  });

  describe('of which the other saw nothing', () => {
    const nothing = (asked: LegRequested) => ({ ...reported(asked, [told(1, 'unknown')]), speaker: OBSERVER });

    it('stays out until its deadline: a copy of its answer may show it', () => {
      const { run, look } = undone();
      run.when(nothing(look), AT + 2).then(fact('ReportRefused', { leg_id: look.leg_id, code: 'NOTHING_SEEN' }));
      expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
      run.when({ ...reported(look, [told(1, 'verified')]), speaker: OBSERVER }, AT + 3);
      expect(phasesOf(run)).toEqual({ [idOf(1)]: 'compensated' });
    });

    it('is asked for anew as where it is silent, and is a person’s with its words after the third time', () => {
      const { run, look } = undone();
      let asked = look;
      for (const round of [1, 2]) {
        run.when(nothing(asked), AT + round * 1_000_000 - 1).then(fact('ReportRefused', { code: 'NOTHING_SEEN' }));
        run.whenDue(AT + round * 1_000_000).then(fact('LookDispatched', { purpose: 'observe', not_by: 'payments-1' }));
        asked = requestIn(run.outgoing());
      }
      const last = { ...told(1, 'unknown'), error_kind: 'TOOL_FAILED', detail: 'down for a while' };
      run.when({ ...reported(asked, [last]), speaker: OBSERVER }, AT + 2_000_001).then(
        fact('LookAnswered', { verdict: 'unknown', error_kind: 'TOOL_FAILED' }),
        fact('LegSettled', {
          members: [{ outcome: 'uncertain', reason: 'NOT_CONFIRMED', observed_by: 'payments-eye' }],
        }),
        fact('StepEscalated', { reason: 'OUTCOME_UNKNOWN' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
    });
  });

  /** Id of what is asked in a round in which nobody answers. */
  function roundOf(round: number): string {
    const { run } = undone();
    for (let before = 1; before < round; before += 1) run.whenDue(AT + before * 1_000_000);
    return requestIn(run.outgoing()).leg_id;
  }

  it('counts at once where no other worker observes, and says that the one that acted observed', () => {
    for (const speaker of [
      worker(),
      worker({ observers: [{ names: ['mail'], tenants: ['*'] }] }),
      worker({ observers: [{ names: ['payments'], tenants: ['elsewhere'] }] }),
    ]) {
      const { run, request } = dispatched(1);
      run.when({ ...reported(request, [told(1, 'verified')]), speaker }, AT + 1).then(
        fact('LegSettled', {
          members: [{ outcome: 'compensated', acted_by: 'payments-1', observed_by: 'payments-1' }],
        }),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
      expect(phasesOf(run)).toEqual({ [idOf(1)]: 'compensated' });
    }
  });

  it('has another worker look first where one observes for the adapter and the tenant', () => {
    const { run, look } = undone();
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
    expect(look).toMatchObject({ kind: 'observe', for_observer: true, steps: [{ step_id: stepOf(1) }] });
    run.when({ ...reported(look, [told(1, 'verified')]), speaker: OBSERVER }, AT + 2);
    run.then(
      fact('LookAnswered', { verdict: 'met' }),
      fact('LegSettled', {
        members: [{ outcome: 'compensated', acted_by: 'payments-1', observed_by: 'payments-eye' }],
      }),
      fact('RecoveryClosed', { outcome: 'compensated' }),
    );
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'compensated' });
  });

  it.each<[string, Speaker]>([
    ['the worker that acted', OBSERVED],
    ['a worker that observes for nobody', worker({ keyId: 'payments-2' })],
    ['the key that acted, whatever else it may', { ...OBSERVED, roles: ['worker', 'observer'] }],
    ['the observer of another adapter', { ...OBSERVER, names: ['mail'] }],
  ])('is not confirmed by %s', (_who, speaker) => {
    const { run, look } = undone();
    run
      .when({ ...reported(look, [told(1, 'verified')]), speaker }, AT + 2)
      .then(fact('ReportRefused', { leg_id: look.leg_id, code: 'WORKER_MISMATCH' }));
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
  });

  it('is a person’s where the other sees otherwise, or nothing in time', () => {
    const { run, look } = undone();
    run.when({ ...reported(look, [told(1, 'unverified')]), speaker: OBSERVER }, AT + 2);
    expect(phasesOf(run)).toEqual({ [idOf(1)]: 'manual' });
    const silent = undone();
    silenced(silent.run);
    expect(phasesOf(silent.run)).toEqual({ [idOf(1)]: 'manual' });
  });

  it('is given to people on record where the other does not confirm it, and says why', () => {
    const { run, look } = undone();
    run.when({ ...reported(look, [told(1, 'unverified')]), speaker: OBSERVER }, AT + 2).then(
      fact('LookAnswered', { verdict: 'not_met' }),
      verdicts([1, 'unverified']),
      fact('StepEscalated', {
        reason: 'VERIFICATION_FAILED',
        outcome_kind: 'escalated',
        deadline_at: AT + 2 + REVIEW,
      }),
      fact('RecoveryClosed', { outcome: 'manual' }),
    );
    expect(run.rows('step')[0]?.doc).toMatchObject({
      reason: 'VERIFICATION_FAILED',
      owner: 'role:administrator',
      deadline_at: AT + 2 + REVIEW,
      look: null,
    });
    const silent = undone();
    silenced(silent.run).then(
      fact('LookAnswered', { verdict: 'unknown' }),
      verdicts([1, 'uncertain']),
      fact('StepEscalated', { reason: 'OUTCOME_UNKNOWN' }),
      fact('RecoveryClosed', { outcome: 'manual' }),
    );
  });

  describe('whose worker says what it did', () => {
    /** As `undone`, with what the tool answered. */
    function acted(): { readonly run: CoreHarness; readonly request: LegRequested; readonly look: LegRequested } {
      const { run, request } = dispatched(1);
      run.when({ ...answered(request, 'verified', [CANCELLED, BALANCE_ZERO]), speaker: OBSERVED }, AT + 1);
      return { run, request, look: requestIn(run.outgoing()) };
    }
    const phasesSeen = (run: CoreHarness): readonly unknown[] =>
      (
        run.rows('step')[0]?.doc as { readonly last: { readonly observations: readonly { phase: string }[] } }
      ).last.observations // as rows hold it
        .map(({ phase }) => phase);

    it('counts with what both saw, as an answer to the leg that was sent', () => {
      const { run, request, look } = acted();
      run.when({ ...answered(look, 'verified', [BALANCE_ZERO]), speaker: OBSERVER }, AT + 2).then(
        fact('LookAnswered', { verdict: 'met', observations: [BALANCE_ZERO] }),
        fact('LegSettled', {
          leg_id: request.leg_id,
          attempt: 1,
          members: [
            { outcome: 'compensated', reported: 'verified', observations: [CANCELLED, BALANCE_ZERO, BALANCE_ZERO] },
          ],
        }),
        fact('RecoveryClosed', { outcome: 'compensated' }),
      );
      expect(phasesSeen(run)).toEqual(['execute', 'verify', 'verify']);
      expect(run.rows('step')[0]?.doc).toMatchObject({ legs: [{ answered: 'verified' }] });
    });

    it('stays on record where the other does not see it: what was called, what it answered, and that it does not show', () => {
      const { run, request, look } = acted();
      run.when({ ...answered(look, 'unverified', [BALANCE_KEPT]), speaker: OBSERVER }, AT + 2).then(
        fact('LookAnswered', { verdict: 'not_met' }),
        fact('LegSettled', {
          leg_id: request.leg_id,
          attempt: 1,
          members: [
            {
              reported: 'verified',
              outcome: 'unverified',
              reason: 'SUCCESS_CONDITION_FALSE',
              observations: [CANCELLED, BALANCE_ZERO, BALANCE_KEPT],
              call: { capability: 'payments.cancel_refund' },
              calls_done: 0,
              retry_at: null,
              acted_by: 'payments-1',
              observed_by: 'payments-eye',
            },
          ],
        }),
        fact('StepEscalated', { reason: 'VERIFICATION_FAILED' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
      expect(phasesSeen(run)).toEqual(['execute', 'verify', 'verify']);
      expect(run.rows('step')[0]?.doc).toMatchObject({
        phase: 'manual',
        due_at: null,
        legs: [{ answered: 'verified' }],
      });
    });

    it('stays on record where the other says nothing in time', () => {
      const { run, request } = acted();
      silenced(run).then(
        fact('LookAnswered', { verdict: 'unknown' }),
        fact('LegSettled', {
          leg_id: request.leg_id,
          members: [
            {
              reported: 'verified',
              outcome: 'uncertain',
              reason: 'NOT_CONFIRMED',
              observations: [CANCELLED, BALANCE_ZERO],
              acted_by: 'payments-1',
              observed_by: null,
            },
          ],
        }),
        fact('StepEscalated', { reason: 'OUTCOME_UNKNOWN' }),
        fact('RecoveryClosed', { outcome: 'manual' }),
      );
      expect(phasesSeen(run)).toEqual(['execute', 'verify']);
    });
  });

  describe('that the other did not see, and a person has a worker look again', () => {
    const check = (purpose: string) =>
      wire(
        'recourse.recovery-commands',
        'CheckStep',
        {
          envelope: envelope('olga', ['approver']),
          run_id: RUN,
          step_id: stepOf(1),
          reason: 'the worker says it is done',
          purpose,
          evidence: plainPayload({ ticket: 'T-1' }),
        },
        { key: RUN },
      );
    /** The worker says once more that it is so. */
    function saidAgain(
      purpose: string,
      speaker = OBSERVED,
    ): { readonly run: CoreHarness; readonly look: LegRequested } {
      const { run, look } = undone();
      run.when({ ...reported(look, [told(1, 'unverified')]), speaker: OBSERVER }, AT + 2);
      run.when(check(purpose), AT + 600_000).then(fact('LookDispatched', { purpose, not_by: null }));
      run.when({ ...reported(requestIn(run.outgoing()), [told(1, 'verified')]), speaker }, AT + 600_001);
      return { run, look: requestIn(run.outgoing()) };
    }

    it.each(['reconcile', 'repair'])('has the other look before it counts, to %s', (purpose) => {
      const { run, look } = saidAgain(purpose);
      run.then(fact('LookAnswered', { verdict: 'met' }), fact('LookDispatched', { purpose, not_by: 'payments-1' }));
      expect(phasesOf(run)).toEqual({ [idOf(1)]: 'looking' });
      expect(look).toMatchObject({ kind: 'observe', for_observer: true });
      run
        .when({ ...reported(look, [told(1, 'verified')]), speaker: OBSERVED }, AT + 600_002)
        .then(fact('ReportRefused', { code: 'WORKER_MISMATCH' }));
      run
        .when({ ...reported(look, [told(1, 'unverified')]), speaker: OBSERVER }, AT + 600_003)
        .then(fact('LookAnswered', { verdict: 'not_met' }), fact('RecoveryClosed'));
      expect(phasesOf(run)).toEqual({ [idOf(1)]: 'manual' });
    });

    it('counts where the other sees it now, and says who saw it: who undid it nobody knows', () => {
      const { run, look } = saidAgain('reconcile');
      run
        .when({ ...reported(look, [told(1, 'verified')]), speaker: OBSERVER }, AT + 600_002)
        .then(
          fact('LookAnswered'),
          fact('LegSettled', { members: [{ outcome: 'compensated', acted_by: null, observed_by: 'payments-eye' }] }),
          fact('RecoveryClosed', { outcome: 'compensated' }),
        );
      const repaired = saidAgain('repair');
      repaired.run.when({ ...reported(repaired.look, [told(1, 'verified')]), speaker: OBSERVER }, AT + 600_002);
      repaired.run.then(
        fact('LookAnswered'),
        fact('StepResolved', { by: 'olga', verified: true }),
        fact('RecoveryClosed'),
      );
    });
  });

  it('does not come from an observer where a worker was asked to act', () => {
    const { run, request } = dispatched(1);
    run
      .when({ ...reported(request, [told(1, 'verified')]), speaker: OBSERVER }, AT + 1)
      .then(fact('ReportRefused', { code: 'WORKER_MISMATCH' }));
  });

  it('settles what failed at once, and has looked at what was undone', () => {
    const { run, request } = dispatched(2, 1);
    expect(placesOf(request)).toEqual([2, 1]);
    run.when({ ...reported(request, [told(2, 'verified'), told(1, 'failed')]), speaker: OBSERVED }, AT + 1);
    run.then(verdicts([1, 'failed']), fact('LookDispatched', { purpose: 'observe', step_id: stepOf(2) }));
  });
});
