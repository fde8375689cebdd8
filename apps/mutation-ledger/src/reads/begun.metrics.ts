// Counters of the ledger whose labels are known beforehand: they begin at 0, so that their first event is a rise.
import { LIMIT_SCOPE_VALUES, SUBSCRIPTION_MODE_VALUES, TREND_SCOPE_VALUES } from '@recourse/messages';
import type { Metrics } from '@recourse/telemetry';
import { DELIVERY_OUTCOMES } from '../rules/consumer/consumer.measures.js';

export function beginLedgerCounters(metrics: Pick<Metrics, 'count'>): void {
  for (const scope of LIMIT_SCOPE_VALUES) metrics.count('breakersOpened', { scope }, 0);
  for (const scope of TREND_SCOPE_VALUES) metrics.count('trendsRaised', { scope }, 0);
  for (const mode of SUBSCRIPTION_MODE_VALUES)
    for (const outcome of DELIVERY_OUTCOMES) metrics.count('deliveries', { mode, outcome }, 0);
}
