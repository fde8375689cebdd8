// What nobody waits for is decided together with what comes after it, and holds up nothing.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FetchedBatch } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { InputQueue } from './input-queue.js';
import { countingCore, LOG_ID, LoopWorld, PARTITIONS, WIRE } from './loop.testing.js';
import { Patience } from './patience.js';
import type { InputSpec } from './service-core.js';

const COMMANDS = 'recourse.ledger-commands';
const REF = 'r1';
/** Above what any spec takes: only something else ends the wait. */
const PATIENCE_MS = 3_600_000;
/** So many are decided at once, however patient they are. */
const ENOUGH = 65;
/** Above what a loop takes for a turn. */
const APART_MS = 30;

const patient = (patienceMs: number): readonly InputSpec[] =>
  countingCore().inputs.map((input) => (input.topic === WIRE ? { ...input, patienceMs } : input));

let world: LoopWorld;

async function started(patienceMs: number): Promise<void> {
  world = await new LoopWorld(countingCore({ inputs: patient(patienceMs) })).prepare();
  const runtime = await world.start('a');
  await world.until('it goes', () => runtime.health().ready);
}

afterEach(() => world.stop());

const ids = (from: number, to: number): { ref: string; id: string }[] =>
  Array.from({ length: to - from }, (_, at) => ({ ref: REF, id: String(from + at) }));

/** Batches that were appended since the loop goes. */
const batches = (): number => world.events.filter(({ kind }) => kind === 'appended').length;

describe('records that nobody waits for', () => {
  it('are decided in one batch with those that come within their patience', async () => {
    await started(PATIENCE_MS);
    const before = batches();
    for (const one of ids(0, 6)) {
      await world.state([one]);
      await systemClock.sleep(APART_MS);
    }
    expect(batches() - before).toBe(0);
    await world.state(ids(6, ENOUGH));
    await world.until('all are there', async () => (await world.statements()).length === ENOUGH);
    expect(batches() - before).toBeLessThanOrEqual(3);
  });

  it('wait no longer than that from the first of them on, however many come', async () => {
    const patience = new Patience();
    expect([0, 4, 8, 9.5].map((now) => patience.left(10, now))).toEqual([10, 6, 2, 1]);
    expect(patience.left(10, 10)).toBe(0);
    expect(patience.left(10, 11)).toBe(10);
    await started(50);
    await world.state(ids(0, 1));
    await world.until('it is there', async () => (await world.statements()).length === 1);
  });
});

describe('a queue of patient records', () => {
  let queue: InputQueue;

  beforeEach(async () => {
    world = await new LoopWorld().prepare();
    queue = new InputQueue({
      inputs: patient(PATIENCE_MS),
      codecs: world.codecs,
      logId: LOG_ID,
      partitionCountOf: () => PARTITIONS,
      owns: () => true,
    });
    queue.reset(
      [WIRE, COMMANDS].map((topic) => ({ topic, partition: 0 })),
      [],
    );
  });

  function batch(topic: string, from: number, count: number): FetchedBatch {
    const records = Array.from({ length: count }, (_, at) => ({
      offset: from + at,
      key: Buffer.from(REF),
      value: world.encoded(REF, String(from + at)),
      timestamp: 0,
      headers: {},
    }));
    return { topic, partition: 0, fetchedOffset: from, nextOffset: from + count, records };
  }

  it('waits while nothing else is there', async () => {
    expect(queue.patienceMs()).toBe(0);
    queue.offer(batch(WIRE, 0, 3));
    await queue.prepare(100);
    expect(queue.patienceMs()).toBe(PATIENCE_MS);
  });

  it('waits no more once a record is there that need not wait, which takes along what came before it', async () => {
    queue.offer(batch(WIRE, 0, 3));
    queue.offer(batch(COMMANDS, 0, 1));
    await queue.prepare(100);
    expect(queue.patienceMs()).toBe(0);
    expect(queue.peek(10).map(({ cursor }) => cursor.topic)).toEqual([WIRE, WIRE, WIRE, COMMANDS]);
  });

  it('waits no more once there is enough for a batch, or more than was judged', async () => {
    queue.offer(batch(WIRE, 0, 65));
    expect(queue.patienceMs()).toBe(0);
    await queue.prepare(100);
    expect(queue.patienceMs()).toBe(0);
  });
});
