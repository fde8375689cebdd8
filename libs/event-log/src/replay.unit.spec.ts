// A log that a running loop wrote, rebuilt beside it on memory adapters.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { countingCore, LOG, LOG_ID, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import { replayPartition } from './replay.js';
import type { ReplayBounds, Replayed } from './replay.js';

const REFS = ['r1', 'r2', 'r3'];
let world: LoopWorld;
let partition: number;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
  partition = world.partitionOf('r1');
  await world.start('a');
  for (let round = 0; round < 3; round += 1) {
    world.now += 1_000;
    await world.state(REFS.map((ref) => ({ ref, id: `${ref}-${String(round)}` })));
    await world.until(
      `round ${String(round)}`,
      async () => (await world.statements()).length === (round + 1) * REFS.length,
    );
  }
  await world.until('projected', async () => (await liveHead()) === (await world.accepted(partition)).length);
});
afterEach(async () => {
  await world.stop();
});

async function liveHead(): Promise<number> {
  return (await world.database.partition(LOG, partition).head())?.seq ?? 0;
}

async function replay(bounds: ReplayBounds = {}): Promise<Replayed> {
  const log = new OwnLog({
    kafka: world.broker.forActor('replay'),
    codecs: world.codecs,
    topic: LOG,
    partition,
    partitionCount: PARTITIONS,
    logId: LOG_ID,
  });
  try {
    return await replayPartition({ core: countingCore(), log, ...bounds });
  } finally {
    await log.close();
  }
}

describe('a replay', () => {
  it('makes the state the loop projected, row for row', async () => {
    const { seq, stateHash, endedBy } = await replay();
    expect([seq, stateHash, endedBy]).toEqual([
      await liveHead(),
      await world.database.partition(LOG, partition).stateHash(),
      'log',
    ]);
  });

  it('writes and sends nothing', async () => {
    const done = new Set<string>();
    world.verdicts.push(({ actor, kind }) => {
      if (actor === 'replay') done.add(kind);
      return undefined;
    });
    await replay();
    expect(done).toEqual(new Set(['connect', 'range', 'read']));
  });

  it('stops behind the record that was asked for, and says so', async () => {
    const records = await world.accepted(partition);
    const replayed = await replay({ untilSeq: 2 });
    expect(replayed).toMatchObject({ seq: 2, hash: records[1]?.hash, endedBy: 'bound' });
    expect(replayed.stateHash).not.toBe((await replay()).stateHash);
  });

  it('stops before what was decided later than an instant', async () => {
    const records = await world.accepted(partition);
    const asOf = records[0]?.decidedAt ?? 0;
    const { seq, decidedAt } = await replay({ asOf });
    expect([seq, decidedAt]).toEqual([records.findLast((record) => record.decidedAt <= asOf)?.seq, asOf]);
  });

  it('has no rows before the first record', async () => {
    expect(await replay({ untilSeq: 0 })).toMatchObject({ seq: 0, rows: 0, decidedAt: 0, endedBy: 'bound' });
  });

  it('ends with the log when more is asked for than it holds', async () => {
    expect(await replay({ untilSeq: 1_000_000 })).toMatchObject({ seq: await liveHead(), endedBy: 'log' });
  });
});
