import { describe, expect, it } from '@jest/globals';
import type { LegRequested } from '@recourse/messages';
import { Metrics } from '@recourse/telemetry';
import type { CoreHarness } from '@recourse/testing';
import { harness, WAYS, eachMember } from '@recourse/testing';
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
  markedInput,
  PAID_OUT,
  recordedAgain,
  requestIn,
  resolution,
  REVIEW,
  STALE_CHECK,
  STILL_PENDING,
  terms,
  views,
} from '../recoveries.testing.js';
import { FAILURE_REASONS, recoveryMeasures } from './measures.js';

const TOOL = 'payments.issue_refund';
const AUTO = terms({ ...STALE_CHECK, recovery_approval_mode: 'auto', impact: 'write' });

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
      `recovery_seconds_sum{tool="${TOOL}"} 12.5`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_automatic_total{tool="${TOOL}"} 1`,
    ]);
  });

  it('count a compensation that a person approved as manual, and tell how long the person took (C67, C71)', async () => {
    const run = waiting().when(approval(), 40_000);
    run.when(answered(requestIn(run.outgoing()), 'verified', [BALANCE_ZERO]), 41_000);
    expect(await scraped(run)).toEqual([
      `recovery_seconds_sum{tool="${TOOL}"} 33`,
      `recovery_seconds_count{tool="${TOOL}"} 1`,
      `recoveries_manual_total{tool="${TOOL}"} 1`,
      'approval_seconds_sum{question="recovery",outcome="approved"} 30',
      'approval_seconds_count{question="recovery",outcome="approved"} 1',
    ]);
  });

  it('tell of two people each by itself (C71)', async () => {
    const two = terms({ recovery_approval_mode: 'dual_control' });
    const action = digest({ terms: two });
    const run = start()
      .when(markedInput({ terms: two }), 10_000)
      .when(approval({ digest: action }), 15_000)
      .when(approval({ by: 'otto', digest: action }), 35_000);
    expect(await scraped(run)).toEqual([
      'approval_seconds_sum{question="recovery",outcome="approved"} 25',
      'approval_seconds_count{question="recovery",outcome="approved"} 2',
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
