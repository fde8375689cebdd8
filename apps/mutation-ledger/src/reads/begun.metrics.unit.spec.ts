import { describe, expect, it } from '@jest/globals';
import { Metrics } from '@recourse/telemetry';
import { beginLedgerCounters } from './begun.metrics.js';

describe('a counter of the ledger whose labels are known', () => {
  it.each([
    'recourse_breakers_opened_total{scope="tenant"}',
    'recourse_breakers_opened_total{scope="source"}',
    'recourse_breakers_opened_total{scope="capability"}',
    'recourse_trends_raised_total{scope="tenant"}',
    'recourse_trends_raised_total{scope="agent"}',
    'recourse_deliveries_total{mode="sync",outcome="overdue"}',
    'recourse_deliveries_total{mode="async",outcome="overdue"}',
    'recourse_deliveries_total{mode="poll",outcome="overdue"}',
  ])('is told before its first event: %s', async (series) => {
    const metrics = new Metrics();
    beginLedgerCounters(metrics);
    expect((await metrics.text()).split('\n')).toContain(`${series} 0`);
  });
});
