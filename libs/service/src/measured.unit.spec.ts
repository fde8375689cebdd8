import { describe, expect, it } from '@jest/globals';
import { MemoryDatabase } from '@recourse/event-log';
import type { ProjectedHead } from '@recourse/event-log';
import { MemoryBroker } from '@recourse/kafka';
import { Metrics } from '@recourse/telemetry';
import { measuredKafka, measuredStores } from './measured.js';

const LOG = 'recourse.things';
const HASH = Buffer.alloc(32, 1);
const headAt = (seq: number): ProjectedHead => ({
  seq,
  hash: HASH,
  offset: seq,
  decidedAt: 0,
  cursors: [],
  reactedSeq: 0,
  reactedOffset: 0,
});

describe('a measured store', () => {
  it('times what it projects, and counts what was fenced', async () => {
    const metrics = new Metrics();
    const database = new MemoryDatabase({ kinds: [], now: () => 7 });
    const store = measuredStores(database, metrics).partition(LOG, 3);
    expect(await store.project(null, headAt(1), [])).toBe('projected');
    expect(await store.project(null, headAt(1), [])).toBe('fenced');
    const text = await metrics.text();
    expect(text).toContain(`recourse_project_seconds_count{log="${LOG}"} 1`);
    expect(text).toContain(`recourse_projections_fenced_total{log="${LOG}",partition="3"} 1`);
  });

  it('is the store it measures in all else', async () => {
    const database = new MemoryDatabase({ kinds: [], now: () => 7 });
    const store = measuredStores(database, new Metrics()).partition(LOG, 0);
    await store.project(null, headAt(2), []);
    expect([(await store.head())?.seq, (await store.load([])).now, await store.stateHash()]).toEqual([
      2,
      7,
      await database.partition(LOG, 0).stateHash(),
    ]);
  });
});

describe('a measured Kafka', () => {
  it('times the appends that landed', async () => {
    const metrics = new Metrics();
    const broker = new MemoryBroker();
    broker.ensureTopics([{ name: LOG, partitions: 1 }]);
    const kafka = measuredKafka(broker.forActor('spec'), metrics);
    const producer = await kafka.logProducer();
    expect(await producer.send(LOG, 0, [{ key: Buffer.from('k'), value: Buffer.from('v') }])).toEqual({
      kind: 'landed',
      baseOffset: 0,
    });
    await producer.close();
    expect(await metrics.text()).toContain(`recourse_append_seconds_count{log="${LOG}"} 1`);
    expect((await (await kafka.rawReader()).range(LOG, 0)).high).toBe(1);
  });
});
