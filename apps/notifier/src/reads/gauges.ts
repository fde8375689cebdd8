// Gauges of the notifier, set when somebody asks for metrics. Of open alarms, too: what the auditor found in a log rings where other alerts
// do, whether or not a webhook is set up.
import type { Metrics } from '@recourse/telemetry';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { NotifierStore } from '../store/notifier-store.port.js';
import type { SignedPlace } from './newest-heads.js';

/** The auditor has one alarm of a kind for a partition: more than these are as bad. */
const ALARMS_MAX = 1_000;

type Told = Pick<Metrics, 'set' | 'clear'>;

export interface Measured {
  readonly endpoints: readonly Pick<Endpoint, 'name'>[];
  readonly store: Pick<NotifierStore, 'figures' | 'items'>;
  /** When each log was signed last; none where nobody can say. */
  readonly signed: () => Promise<readonly SignedPlace[]>;
}

/**
 * Sets the gauges of every endpoint of the file, of open alarms, and of the heads, none of which waits for another. A store that does
 * not answer leaves its own as they were.
 */
export async function measure(measured: Measured, metrics: Told): Promise<void> {
  const now = Date.now();
  await Promise.all([
    measureHeads(measured, metrics, now),
    measureEndpoints(measured, metrics, now),
    measureAlarms(measured.store, metrics),
  ]);
}

async function measureHeads({ signed }: Pick<Measured, 'signed'>, metrics: Told, now: number): Promise<void> {
  metrics.clear('signedHeadAge');
  for (const { log, partition, at } of await signed())
    metrics.set('signedHeadAge', { log, partition: String(partition) }, Math.max(0, now - at) / 1_000);
}

async function measureEndpoints(
  { endpoints, store }: Omit<Measured, 'signed'>,
  metrics: Told,
  now: number,
): Promise<void> {
  const figures = await store.figures(now).catch(() => null);
  if (figures === null) return;
  for (const { name: endpoint } of endpoints) {
    const { oldestDueAt, offSince = null, givenUp = 0 } = figures.find(({ name }) => name === endpoint) ?? {};
    metrics.set('webhookOldestSeconds', { endpoint }, Math.max(0, now - (oldestDueAt ?? now)) / 1_000);
    metrics.set('webhooksGivenUp', { endpoint }, givenUp);
    metrics.set('webhookEndpointOff', { endpoint }, offSince === null ? 0 : 1);
  }
}

/** Sets a gauge for each log and partition that has open alarms; while the store does not answer, an alarm that was open still is. */
export async function measureAlarms(store: Pick<NotifierStore, 'items'>, metrics: Told): Promise<void> {
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
