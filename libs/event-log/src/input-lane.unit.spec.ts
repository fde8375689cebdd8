// What waits for a loop is bounded in memory, however few records hold it.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { FetchedBatch } from '@recourse/kafka';
import { Lane } from './input-lane.js';
import type { Waiting } from './input-lane.js';
import { countingCore, LoopWorld, WIRE } from './loop.testing.js';
import type { QueueItem } from './queue-item.js';
import type { InputSpec } from './service-core.js';

const OCTETS = 10_000;
const REF = 'r1';
const SPEC: InputSpec = { topic: WIRE, source: 'wire', mode: 'aligned', types: [] };

let world: LoopWorld | null = null;
afterEach(() => world?.stop());

const recordsOf = (from: number, count: number): FetchedBatch['records'] =>
  Array.from({ length: count }, (_, at) => ({
    offset: from + at,
    key: Buffer.alloc(0),
    value: Buffer.alloc(0),
    timestamp: 0,
    headers: {},
  }));

function batchOf(count: number): readonly Waiting[] {
  return recordsOf(0, count).map((record) => ({ spec: SPEC, partition: 0, record, next: record.offset + 1 }));
}

function judge(lane: Lane): void {
  const item: QueueItem = {
    cursor: { topic: WIRE, partition: 0, offset: 0, seq: 0, hash: Buffer.alloc(32) },
    isMeaningful: true,
    what: { kind: 'skip' },
  };
  const count = lane.waiting.length;
  lane.items.push(...Array.from({ length: count }, () => item));
  lane.judged(count);
}

describe('a lane of inputs', () => {
  it('holds what a batch takes until the last of its records is gone, judged or not', () => {
    const lane = new Lane();
    lane.add(batchOf(3), 1_000);
    lane.add(batchOf(1), 50);
    judge(lane);
    const octets = [0, 1, 1, 1, 1].map((count) => {
      lane.drop(count);
      return lane.octets;
    });
    expect(octets).toEqual([1_050, 1_050, 1_050, 50, 0]);
    lane.add(batchOf(1), 20);
    expect([lane.octets, lane.size]).toEqual([20, 1]);
  });
});

describe('a loop whose queue holds much in few records', () => {
  it('reads no more of an input until it has taken most of it', async () => {
    world = await new LoopWorld(countingCore(), { queueOctetsMax: OCTETS }).prepare();
    const runtime = await world.start('a');
    await world.until('ready', () => runtime.health().ready);
    const partition = world.partitionOf(REF);
    const loop = runtime.loops()[partition];
    const offer = (from: number, octets: number): string | undefined =>
      loop?.offer({
        topic: WIRE,
        partition,
        fetchedOffset: from,
        nextOffset: from + 1,
        records: recordsOf(from, 1),
        octets,
      });
    expect([offer(0, OCTETS), loop?.isUnderPressure(WIRE)]).toEqual(['taken', false]);
    expect([offer(1, 1), loop?.isUnderPressure(WIRE)]).toEqual(['taken', true]);
    await world.until('taken', () => loop?.isUnderPressure(WIRE) === false);
  });
});
