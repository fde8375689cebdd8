// What a worker said of a step that failed reaches whoever has to mend it, sealed on its way.
import { describe, expect, it } from '@jest/globals';
import { plainPayload, readPayload } from '@recourse/contract';
import type { LegReported, LegVerdict } from '@recourse/messages';
import { harness, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  answered,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  core,
  envelope,
  LEASE,
  MARGIN,
  markedInput,
  requestIn,
  RUN,
  STEP,
  terms,
  views,
} from '../recoveries.testing.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { reviewItem } from './review-item.query.js';
import { reader } from './review-item.testing.js';

const AT = 10_000;
const ONE_ATTEMPT = terms({ impact: 'write', recovery_approval_mode: 'auto', max_attempts: 1 });
const WORDS = 'connect ECONNREFUSED 192.0.2.7:443 while cancelling re_1';

type Report = LegReported['steps'][number];

/** Its only attempt ended as the report says. */
function ended(told: Partial<Report>): CoreHarness {
  const run = harness(core(), { views: views() }).when(markedInput({ terms: ONE_ATTEMPT }), AT);
  const request = requestIn(run.outgoing());
  const said = {
    step_id: STEP,
    outcome: 'failed',
    observations: [],
    external_transaction_ref: null,
    calls_done: 0,
  } as const;
  const steps: readonly Report[] = [{ ...said, error_kind: 'TOOL_ERROR', detail: WORDS, ...told }];
  return run.when(answered(request, 'failed', [], { steps }), AT + 100);
}

function check(run: CoreHarness): CoreHarness {
  const asked = { envelope: envelope('olga', ['approver']), run_id: RUN, step_id: STEP, reason: 'looked at it' };
  return run.when(
    wire(
      'recourse.recovery-commands',
      'CheckStep',
      { ...asked, purpose: 'reconcile', evidence: plainPayload(null) },
      { key: RUN },
    ),
    AT + 200,
  );
}

function verdictIn(run: CoreHarness): LegVerdict {
  const settled = run.records().find(({ type }) => type === 'LegSettled');
  const [verdict] = (settled?.body['members'] ?? []) as readonly LegVerdict[]; // what the record's schema says
  if (verdict === undefined) throw new Error('nothing was judged');
  return verdict;
}

function reconciliationIn(run: CoreHarness, sealed: boolean) {
  const [row] = run.rows('step');
  const step = row?.doc as StepDoc; // the harness holds what foldRecovery wrote
  const { last } = step;
  const closed = (payload: object) => ({ ...payload, encoding: 'sealed', key_id: 'k', opens_with: ['payload_reader'] });
  const shut = last?.said === undefined ? last : { ...last, said: closed(last.said) };
  const doc = sealed ? ({ ...step, last: shut } as StepDoc) : step;
  const at = {
    reader: reader(),
    log: 'l',
    partition: 0,
    now: AT + 1_000,
    marginMs: MARGIN,
    ofOpen: () => null,
    traceUrl: null,
    agreedBy: [],
  };
  return reviewItem(doc, at).reconciliation;
}

describe("a worker's words of a step that failed", () => {
  it('stand beside the verdict, the kind in the clear and the sentence as a payload, which logs seal', () => {
    const { error_kind, said } = verdictIn(ended({}));
    expect([error_kind, said === null ? null : readPayload(said)]).toEqual(['TOOL_ERROR', WORDS]);
  });

  it('are shown to whoever looks at the item: why it failed, not only that it did (C59)', () => {
    expect(reconciliationIn(ended({}), false)).toMatchObject({
      outcome: 'failed',
      reason: 'TOOL_FAILED',
      error_kind: 'TOOL_ERROR',
      said: { json: WORDS },
      looked: null,
    });
  });

  it('stay closed to those who open no payloads, as what was observed does (C57)', () => {
    const shown = reconciliationIn(ended({}), true);
    expect(shown).toMatchObject({ error_kind: 'TOOL_ERROR', said: { opens_with: ['payload_reader'] } });
    expect(JSON.stringify(shown)).not.toContain('ECONNREFUSED');
  });

  it.each([
    ['nothing', { error_kind: null, detail: null }, { error_kind: null, said: null }],
    ['blanks', { detail: ' \n' }, { error_kind: 'TOOL_ERROR', said: null }],
    ['free text as a kind, which would stand in the clear', { error_kind: 'card 4111 1111' }, { error_kind: null }],
    ['more than a page', { detail: 'x'.repeat(5_000) }, { said: plainPayload('x'.repeat(1_000)) }],
    ['half a character', { detail: 'ab\ud800' }, { said: plainPayload('ab\ufffd') }],
  ])('that are %s are kept as far as they go', (_what, told, kept) => {
    expect(verdictIn(ended(told))).toMatchObject(kept);
  });

  it('are none where the effect was seen to be undone, whatever a worker says', () => {
    const run = ended({ outcome: 'verified', observations: [BALANCE_ZERO] });
    expect(verdictIn(run)).toMatchObject({ outcome: 'compensated', error_kind: null, said: null });
  });

  it('leave a row as records from before there were words fold to it, where there are none', () => {
    const [row] = ended({ error_kind: null, detail: null }).rows('step');
    const { last } = row?.doc as StepDoc; // the harness holds what foldRecovery wrote
    expect(Object.keys(last ?? {})).toEqual(['attempt', 'reported', 'outcome', 'reason', 'observations', 'at']);
  });

  it('are not lost to a later look that sees nothing, and that look says why', () => {
    const run = check(ended({}));
    const steps: readonly Report[] = [
      {
        step_id: STEP,
        outcome: 'unknown',
        observations: [],
        error_kind: 'TOOL_MISSING',
        detail: 'no tool payments.read_balance',
        external_transaction_ref: null,
        calls_done: 0,
      },
    ];
    run.when(answered(requestIn(run.outgoing()), 'unknown', [], { steps }), AT + 300);
    expect(reconciliationIn(run, false)).toMatchObject({
      outcome: 'failed',
      said: { json: WORDS },
      looked: {
        reason: 'SUCCESS_NOT_OBSERVED',
        error_kind: 'TOOL_MISSING',
        said: { json: 'no tool payments.read_balance' },
        at: AT + 300,
      },
    });
  });

  it('are not lost to a look that nobody answers', () => {
    const run = check(ended({})).whenDue(AT + 200 + LEASE + MARGIN + CALL_TIMEOUT);
    expect(reconciliationIn(run, false)).toMatchObject({
      reason: 'TOOL_FAILED',
      said: { json: WORDS },
      looked: { reason: 'NO_ANSWER', error_kind: null, said: null },
    });
  });

  it('make way for what a look saw', () => {
    const run = check(ended({}));
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), AT + 300);
    expect(reconciliationIn(run, false)).toMatchObject({ outcome: 'compensated', said: null, looked: null });
  });
});
