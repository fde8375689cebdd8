import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import { Metrics } from '@recourse/telemetry';
import type { CoreHarness } from '@recourse/testing';
import { harness, WAYS, eachMember, wire } from '@recourse/testing';
import { countMeasures } from '../reads/measures.metrics.js';
import {
  answered,
  approval,
  BALANCE_KEPT,
  BALANCE_ZERO,
  CALL_TIMEOUT,
  CONFIG,
  core,
  denial,
  digest,
  LEASE,
  MARGIN,
  envelope,
  marked,
  markedInput,
  observed,
  PAID_OUT,
  recordedAgain,
  ref,
  requestIn,
  resolution,
  REVIEW,
  RUN,
  STEP,
  STILL_PENDING,
  terms,
  views,
  agreed,
} from '../recoveries.testing.js';
import { FAILURE_REASONS, recoveryMeasures } from './measures.js';

const TOOL = 'payments.issue_refund';
const AS_SEEN = observed('verify', 'payments.read_refund', { status: 'pending' });
const SEEN_PAID_OUT = observed('verify', 'payments.read_refund', { status: 'paid_out' });
const NEVER_ENDS = ref({ reversal_expires_at: 100_000_000 });
const AUTO = terms({ recovery_approval_mode: 'auto', impact: 'write' });

function triedAgain() {
  const body = { envelope: envelope('olga', ['approver']), run_id: RUN, step_id: STEP, reason: 'the provider is back' };
  return wire('recourse.recovery-commands', 'RetryStep', body, { key: RUN });
}

/** Values of the series a run adds to, as the text that is scraped; sums and counts, without buckets. */
async function scraped(run: CoreHarness): Promise<readonly string[]> {
  const metrics = new Metrics();
  for (const record of run.records()) countMeasures(recoveryMeasures(record, run.changedBy(record)), metrics);
  const told = /^recourse_(recovery|recoveries|compensation|stale|approval)_/;
  return (await metrics.text())
    .split('\n')
    .filter((line) => told.test(line) && !line.includes('_bucket') && !/ 0$/.test(line))
    .map((line) => line.replace('recourse_', ''));
}

describe.each(WAYS)('series of recoveries, $way', ({ isRebuilt }) => {
  const start = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  const waiting = (): CoreHarness => start().when(markedInput(), 10_000);
  const sent = (contract = AUTO): { readonly run: CoreHarness; readonly request: LegRequested } => {
    const run = start().when(markedInput({ terms: contract }), 10_000);
    return { run, request: requestIn(run.outgoing()) };
  };

  it('tell the time from the failed validation to the verified compensation, and that nobody was needed (C66, C67)', async () => {
    const { run, request } = sent();
    run.when(answered(request, 'verified', [BALANCE_ZERO]), 20_500);
    expect(await scraped(run)).toEqual([
      `recovery_seconds_sum{tool="${TOOL}"} 15.5`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_automatic_total{tool="${TOOL}"} 1`,
    ]);
  });

  it('tell that nobody was needed where another worker saw it, and that a person was where that one did not (C67)', async () => {
    const tenants = ['*'];
    const names = ['payments'];
    const worker = { keyId: 'payments-1', roles: ['worker'], names, tenants, observers: [{ names, tenants }] } as const;
    const eye = { keyId: 'payments-eye', roles: ['observer'], names, tenants } as const;
    const looking = (): { readonly run: CoreHarness; readonly look: LegRequested } => {
      const { run, request } = sent();
      run.when({ ...answered(request, 'verified', [BALANCE_ZERO]), speaker: worker }, 20_000);
      return { run, look: requestIn(run.outgoing()) };
    };
    const seen = looking();
    seen.run.when({ ...answered(seen.look, 'verified', [BALANCE_ZERO]), speaker: eye }, 20_500);
    expect(await scraped(seen.run)).toEqual([
      `recovery_seconds_sum{tool="${TOOL}"} 15.5`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_automatic_total{tool="${TOOL}"} 1`,
    ]);
    const unseen = looking();
    unseen.run.when({ ...answered(unseen.look, 'unverified', [BALANCE_KEPT]), speaker: eye }, 20_500);
    expect(await scraped(unseen.run)).toEqual([
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      `compensation_failures_total{tool="${TOOL}",reason="SUCCESS_CONDITION_FALSE"} 1`,
    ]);
  });

  it('count a compensation that a person approved as manual, and tell how long the person took (C67, C71)', async () => {
    const run = agreed(waiting(), 40_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 41_000);
    expect(await scraped(run)).toEqual([
      `recovery_seconds_sum{tool="${TOOL}"} 36`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      'approval_seconds_sum{question="recovery",outcome="approved"} 30',
      'approval_seconds_count{question="recovery",outcome="approved"} 1',
    ]);
  });

  it('tell of two people each by itself, from the question both were asked (C71)', async () => {
    const two = terms({ recovery_approval_mode: 'dual_control' });
    const action = digest({ terms: two });
    const run = start()
      .when(markedInput({ terms: two }), 10_000)
      .when(approval({ digest: action }), 15_000)
      .when(approval({ by: 'otto', digest: action }), 35_000);
    expect(await scraped(run)).toEqual([
      'approval_seconds_sum{question="recovery",outcome="approved"} 30',
      'approval_seconds_count{question="recovery",outcome="approved"} 2',
    ]);
  });

  it('tell the time since the validation failed, however long its trigger was held before it was admitted (C66)', async () => {
    const admission = { ...marked().admission, triggered_at: 9_000_000 };
    const run = start().when(markedInput({ admission, terms: AUTO, ref: NEVER_ENDS }), 9_000_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 9_001_000);
    expect(await scraped(run)).toContain(`recovery_seconds_sum{tool="${TOOL}"} 8996`);
  });

  it('tell how long people took since they were asked, whatever was looked at meanwhile (C71)', async () => {
    const run = start().when(markedInput(), 10_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [AS_SEEN]), 35_000);
    run.when(approval(), 40_000);
    expect(await scraped(run)).toEqual([
      'approval_seconds_sum{question="recovery",outcome="approved"} 30',
      'approval_seconds_count{question="recovery",outcome="approved"} 1',
    ]);
  });

  it('count a resource that changed before anything was sent, and ask for the next answer from then on (C69, C71)', async () => {
    const run = start().when(markedInput(), 10_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [AS_SEEN]), 11_000);
    run.when(approval(), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [SEEN_PAID_OUT]), 21_000);
    const anew = run.rows('step')[0]?.doc['action_digest'] as Buffer; // of a step that people are asked about
    run.when(denial({ digest: anew }), 24_000);
    expect(await scraped(run)).toEqual([
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      `stale_state_conflicts_total{tool="${TOOL}"} 1`,
      'approval_seconds_sum{question="recovery",outcome="approved"} 10',
      'approval_seconds_count{question="recovery",outcome="approved"} 1',
      'approval_seconds_sum{question="recovery",outcome="denied"} 3',
      'approval_seconds_count{question="recovery",outcome="denied"} 1',
    ]);
  });

  it('count what a person had tried again as manual, once, and tell how long it took (C66, C67)', async () => {
    const { run, request } = sent({ ...AUTO, max_attempts: 1 });
    run.when(answered(request, 'failed', []), 11_000).when(triedAgain(), 12_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 15_000);
    expect(await scraped(run)).toEqual([
      `recovery_seconds_sum{tool="${TOOL}"} 10`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      `compensation_failures_total{tool="${TOOL}",reason="TOOL_FAILED"} 1`,
    ]);
  });

  it('count what a person denied once, and not again when it is closed by hand (C67, C71)', async () => {
    const run = waiting().when(denial(), 12_000).when(resolution('repaired'), 13_000);
    expect(await scraped(run)).toEqual([
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      'approval_seconds_sum{question="recovery",outcome="denied"} 2',
      'approval_seconds_count{question="recovery",outcome="denied"} 1',
    ]);
  });

  it('count what nobody answered as manual, once, however often its facts change afterwards (C67)', async () => {
    const run = waiting()
      .whenDue(10_000 + REVIEW)
      .when(recordedAgain(), 11_000 + REVIEW);
    expect(await scraped(run)).toEqual([`recoveries_manual_total{tool="${TOOL}"} 1`]);
  });

  it('count nothing for what needs no recovery', async () => {
    expect(await scraped(start().when(markedInput({ execution_state: 'failed' }), 10_000))).toEqual([]);
  });

  it('count attempts that failed by their reason (C68)', async () => {
    const { run, request } = sent();
    run.when(answered(request, 'failed', []), 11_000).whenDue(11_000 + CONFIG.backoff.baseMs);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_KEPT]), 14_000);
    expect(await scraped(run)).toEqual([
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      `compensation_failures_total{tool="${TOOL}",reason="TOOL_FAILED"} 1`,
      `compensation_failures_total{tool="${TOOL}",reason="SUCCESS_CONDITION_FALSE"} 1`,
    ]);
  });

  it('count silence as a failure of its own (C68)', async () => {
    const { run } = sent();
    run.whenDue(10_000 + LEASE + CALL_TIMEOUT + MARGIN);
    expect(await scraped(run)).toEqual([`compensation_failures_total{tool="${TOOL}",reason="NO_ANSWER"} 1`]);
  });

  it('count a resource that somebody else had changed (C69)', async () => {
    const { run, request } = sent();
    run.when(answered(request, 'stale', [PAID_OUT]), 11_000);
    expect(await scraped(run)).toEqual([
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      `compensation_failures_total{tool="${TOOL}",reason="STALE_CONDITION_FALSE"} 1`,
      `stale_state_conflicts_total{tool="${TOOL}"} 1`,
    ]);
  });

  it('count no conflict where the resource stood as it was (C69)', async () => {
    const { run, request } = sent();
    run.when(answered(request, 'stale', [STILL_PENDING]), 11_000);
    expect((await scraped(run)).filter((line) => line.startsWith('stale'))).toEqual([]);
  });

  it('without a contract are one series, whatever their producers call them', async () => {
    const run = start().when(markedInput({ terms: null }), 10_000);
    expect(await scraped(run)).toEqual(['recoveries_manual_total{tool="uncontracted"} 1']);
  });
});

describe('reasons of failure', () => {
  it('are a closed set: a word of another version is OTHER', () => {
    const { run, request } = ((): { run: CoreHarness; request: LegRequested } => {
      const started = harness(core(), { views: views() }).when(markedInput({ terms: AUTO }), 10_000);
      return { run: started, request: requestIn(started.outgoing()) };
    })();
    run.when(answered(request, 'failed', []), 11_000);
    const [outcome] = run.recorded();
    if (outcome === undefined) throw new Error('nothing was recorded');
    const measures = recoveryMeasures(
      {
        ...outcome,
        body: {
          ...outcome.body,
          members: eachMember([outcome]).map(({ body }) => ({ ...body, reason: 'step-4711 broke' })),
        },
      },
      run.changedBy(outcome),
    );
    expect(measures).toContainEqual({ series: 'compensationFailures', tool: TOOL, reason: 'OTHER' });
    expect(FAILURE_REASONS).not.toContain('SUCCESS_CONDITION_HELD');
  });
});
