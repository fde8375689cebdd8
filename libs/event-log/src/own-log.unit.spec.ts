// What evolve is told of a record's place in the chain is what anybody computes from the bytes in the topic (A69).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka, RawReader } from '@recourse/kafka';
import { countingCore, LOG, LoopWorld } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import type { AcceptedRecord, ServiceCore } from './service-core.js';

interface Place {
  readonly seq: number;
  readonly hash: Buffer;
  readonly prevHash: Buffer;
}

/** Keeps of every statement where it stands in the chain. */
const placing: ServiceCore = countingCore({
  evolve: (_state, { type, body, seq, hash, prevHash }) =>
    type === 'AssumptionStated'
      ? [
          {
            op: 'put',
            row: {
              kind: 'count',
              group: String(body['ref']),
              key: String(body['event_id']),
              dueAt: null,
              doc: { seq, hash, prevHash },
            },
          },
        ]
      : [],
});

describe('the place of a record in its chain', () => {
  let world: LoopWorld;
  beforeEach(async () => {
    world = await new LoopWorld(placing).prepare();
  });
  afterEach(async () => {
    await world.stop();
  });

  const kept = async (partition: number): Promise<readonly Place[]> => {
    const rows = await world.database.partition(LOG, partition).all('count');
    return rows.map(({ doc }) => doc as unknown as Place).sort((one, other) => one.seq - other.seq); // rows of this kind are written above
  };
  /** What the acceptance rule computes from the bytes: the hash of each statement and of the record before it. */
  const computed = async (partition: number): Promise<readonly Place[]> => {
    const chain: readonly AcceptedRecord[] = await world.accepted(partition);
    return chain.flatMap(({ type, seq, hash }, at) =>
      type === 'AssumptionStated' ? [{ seq, hash, prevHash: chain[at - 1]?.hash ?? Buffer.alloc(0) }] : [],
    );
  };

  it('is taken only by what follows the head: a record that does not is void to its owner', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    const partition = world.partitionOf('r1');
    await world.until('projected', async () => (await kept(partition)).length === 1);
    const [stated] = (await world.accepted(partition)).filter(({ type }) => type === 'AssumptionStated');
    // A zombie's record: it claims a later place, after a record that nobody wrote.
    const body = { ...stated?.body, event_id: 'forged', seq: 9, prev_hash: Buffer.alloc(32, 7), decided_at: 1 };
    const forged = { key: Buffer.from('r1'), value: world.codecs.encode(LOG, 'AssumptionStated', body) };
    await (await world.broker.forActor('zombie').logProducer()).send(LOG, partition, [forged]);
    world.kill('a');
    await world.start('b');
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('projected', async () => (await kept(partition)).length === 2);
    expect(await kept(partition)).toEqual(await computed(partition));
  });

  it('is the same for who appended it, for who reads it again, and for an auditor', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r1', id: '2' },
      { ref: 'r1', id: '3' },
    ]);
    const partition = world.partitionOf('r1');
    await world.until('projected', async () => (await kept(partition)).length === 3);
    expect(await kept(partition)).toEqual(await computed(partition));
    world.kill('a');
    world.database.wipe();
    await world.start('b');
    await world.until('rebuilt', async () => (await kept(partition)).length === 3);
    expect(await kept(partition)).toEqual(await computed(partition));
  });
});

describe('a log whose broker says where it ends, and hands out nothing', () => {
  it('is not read to its end: what reads it fails, and asks again', async () => {
    const world = await new LoopWorld(placing).prepare();
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    const partition = world.partitionOf('r1');
    await world.until('recorded', async () => (await world.accepted(partition)).length > 0);
    const kafka = world.broker.forActor('spec');
    const silent: Kafka = {
      ...kafka,
      rawReader: async (of) => {
        const reader = await kafka.rawReader(of);
        const read: RawReader['read'] = (topic, at, fetchedOffset) =>
          Promise.resolve({ topic, partition: at, fetchedOffset, nextOffset: fetchedOffset, records: [] });
        return { ...reader, read };
      },
    };
    const { codecs } = world;
    const log = new OwnLog({ kafka: silent, codecs, topic: LOG, partition, partitionCount: 2, logId: 'spec' });
    await expect(log.read(log.origin()).next()).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    await world.stop();
  });
});
