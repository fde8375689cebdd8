// Gauges of the notifier, set when somebody asks for metrics. Of open alarms, too: what the auditor found in a log rings where other alerts
// do, whether or not a webhook is set up.
import type { Metrics } from '@recourse/telemetry';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { NotifierStore } from '../store/notifier-store.port.js';
import type { SignedPlace } from './newest-heads.js';

/** The auditor has one alarm of a kind for a partition: more than these are as bad. */
const ALARMS_MAX = 1_000;

export interface Measured {
  readonly endpoints: readonly Pick<Endpoint, 'name'>[];
  readonly store: Pick<NotifierStore, 'figures' | 'items'>;
  /** When each log was signed last; none where nobody can say. */
  readonly signed: () => Promise<readonly SignedPlace[]>;
}

/** Sets the gauges of every endpoint of the file, of open alarms, and of the heads. A store that does not answer leaves its own as they were. */
export async function measure(
  { endpoints, store, signed }: Measured,
  metrics: Pick<Metrics, 'set' | 'clear'>,
): Promise<void> {
  metrics.clear('signedHeadAge');
  const now = Date.now();
  const [figures, places] = await Promise.all([
    store.figures(now).catch(() => null),
    signed(),
    measureAlarms(store, metrics),
  ]);
  for (const { log, partition, at } of places)
    metrics.set('signedHeadAge', { log, partition: String(partition) }, Math.max(0, now - at) / 1_000);
  if (figures === null) return;
  for (const { name: endpoint } of endpoints) {
    const { oldestDueAt, offSince = null, givenUp = 0 } = figures.find(({ name }) => name === endpoint) ?? {};
    metrics.set('webhookOldestSeconds', { endpoint }, Math.max(0, now - (oldestDueAt ?? now)) / 1_000);
    metrics.set('webhooksGivenUp', { endpoint }, givenUp);
    metrics.set('webhookEndpointOff', { endpoint }, offSince === null ? 0 : 1);
  }
}

/** Sets a gauge for each log and partition that has open alarms; while the store does not answer, an alarm that was open still is. */
export async function measureAlarms(
  store: Pick<NotifierStore, 'items'>,
  metrics: Pick<Metrics, 'set' | 'clear'>,
): Promise<void> {
  const alarms = await store.items({ kind: 'alarm', countMax: ALARMS_MAX }).catch(() => null);
  if (alarms === null) return;
  metrics.clear('alarmsOpen');
  const counts = new Map<string, number>();
  for (const { log = '' } of alarms) counts.set(log, (counts.get(log) ?? 0) + 1);
  for (const [place, count] of counts) {
    const [log = '', partition = ''] = place.split('/');
    metrics.set('alarmsOpen', { log, partition }, count);
  }
}
