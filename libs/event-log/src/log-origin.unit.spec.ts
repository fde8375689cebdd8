// A service that calls its logs by another name than they were begun with.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FetchedRecord, Kafka } from '@recourse/kafka';
import { checkOrigins } from './log-origin.js';
import { LOG, LOG_ID, LoopWorld } from './loop.testing.js';

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

/** Records of a partition as they lie there. */
async function lying(partition: number, { broker }: LoopWorld = world): Promise<readonly FetchedRecord[]> {
  const reader = await broker.forActor('reader').rawReader();
  const { high } = await reader.range(LOG, partition);
  const records: FetchedRecord[] = [];
  for (let at = 0; at < high;) {
    const batch = await reader.read(LOG, partition, at);
    records.push(...batch.records);
    at = batch.nextOffset;
  }
  return records;
}
const ends = async (): Promise<readonly number[]> =>
  Promise.all([0, 1].map(async (partition) => (await lying(partition)).length));

/** A cluster that holds a partition, and hands it out a record at a time. */
function holding(held: number, records: readonly FetchedRecord[]): Kafka {
  const reader = {
    range: (_: string, partition: number) => Promise.resolve({ low: 0, high: partition === held ? records.length : 0 }),
    read: (topic: string, partition: number, at: number) =>
      Promise.resolve({ topic, partition, fetchedOffset: at, nextOffset: at + 1, records: records.slice(at, at + 1) }),
    close: () => Promise.resolve(),
  };
  // Nothing else of a cluster is asked for.
  return { rawReader: () => Promise.resolve(reader) } as unknown as Kafka;
}

/** A log of a service that has ended. */
async function written(): Promise<void> {
  await world.start('a');
  await world.state([
    { ref: 'r1', id: '1' },
    { ref: 'r2', id: '2' },
  ]);
  await world.until('two', async () => (await world.statements()).length === 2);
  await world.stop();
}

describe('a log that was begun under another name', () => {
  it('is not begun a second time: the service does not start, and says what to correct', async () => {
    await written();
    const before = await ends();
    world.logId = 'other';
    await expect(world.start('b')).rejects.toMatchObject({
      code: 'LOG_ID_FOREIGN',
      message: expect.stringMatching(/"other".*RECOURSE_LOG_ID/u),
    });
    await world.state([{ ref: 'r1', id: '3' }]);
    expect(await ends()).toEqual(before);
  });

  it('is gone on with under its own', async () => {
    await written();
    await world.start('b');
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('three', async () => (await world.statements()).length === 3);
  });

  it('is ours although somebody wrote into it before its first record', async () => {
    await written();
    const partition = world.partitionOf('r1');
    const strange = await new LoopWorld().prepare();
    strange.logId = 'other';
    await strange.start('x');
    await strange.state([{ ref: 'r1', id: '1' }]);
    await strange.until('one', async () => (await lying(partition, strange)).length > 0);
    await strange.stop();
    const records = [...(await lying(partition, strange)), ...(await lying(partition))].map((record, offset) => ({
      ...record,
      offset,
    }));
    const of = (logId: string): Promise<void> =>
      checkOrigins(holding(partition, records), logId, [{ topic: LOG, partitionCount: 2 }]);
    await expect(of(LOG_ID)).resolves.toBeUndefined();
    await expect(of('third')).rejects.toMatchObject({ code: 'LOG_ID_FOREIGN' });
  });
});
