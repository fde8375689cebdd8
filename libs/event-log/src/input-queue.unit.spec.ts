// What goes first among inputs that wait: answers that a lease waits for do not lie behind news (L11).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FetchedBatch } from '@recourse/kafka';
import { InputQueue } from './input-queue.js';
import { countingCore, LOG_ID, LoopWorld, PARTITIONS, WIRE } from './loop.testing.js';

const ANSWERS = 'recourse.tool-results';
const REF = 'r1';
const ANSWERED = { topic: ANSWERS, source: 'wire', mode: 'aligned', types: ['LegReported'], goesFirst: true } as const;

let world: LoopWorld;
let queue: InputQueue;

beforeEach(async () => {
  world = await new LoopWorld(countingCore({ inputs: [...countingCore().inputs, ANSWERED] }), {
    queueMax: 4,
  }).prepare();
  queue = new InputQueue({
    inputs: [...countingCore().inputs, ANSWERED],
    codecs: world.codecs,
    logId: LOG_ID,
    partitionCountOf: () => PARTITIONS,
    owns: () => true,
  });
  queue.reset(
    [WIRE, ANSWERS].map((topic) => ({ topic, partition: 0 })),
    [],
  );
});
afterEach(() => world.stop());

function batch(topic: string, from: number, count: number): FetchedBatch {
  const records = Array.from({ length: count }, (_, at) => ({
    offset: from + at,
    key: Buffer.from(REF),
    value: topic === WIRE ? world.encoded(REF, String(from + at)) : Buffer.from('no record'),
    timestamp: 0,
    headers: {},
  }));
  return { topic, partition: 0, fetchedOffset: from, nextOffset: from + count, records };
}

const peeked = (max: number): readonly string[] =>
  queue.peek(max).map(({ cursor }) => `${cursor.topic === WIRE ? 'news' : 'answer'} ${cursor.offset - 1}`);

describe('answers that a lease waits for', () => {
  it('are decided before news that lay there before them', async () => {
    queue.offer(batch(WIRE, 0, 100));
    await queue.prepare(8);
    queue.offer(batch(ANSWERS, 0, 2));
    await queue.prepare(8);
    expect(peeked(4)).toEqual(['answer 0', 'answer 1', 'news 0', 'news 1']);
    queue.drop(queue.peek(3));
    await queue.prepare(8);
    expect(peeked(2)).toEqual(['news 1', 'news 2']);
  });

  it('leave a quarter of a batch to the others, each in its order', async () => {
    queue.offer(batch(WIRE, 0, 100));
    queue.offer(batch(ANSWERS, 0, 100));
    await queue.prepare(8);
    const all = 'answer 0,answer 1,answer 2,answer 3,answer 4,answer 5,news 0,news 1';
    expect(peeked(8).join()).toBe(all);
    expect(peeked(1)).toEqual(['answer 0']);
    queue.drop(queue.peek(8));
    await queue.prepare(8);
    expect(peeked(4)).toEqual(['answer 6', 'answer 7', 'answer 8', 'news 2']);
  });

  it.each([1, 2, 3])('leave a fourth to the others also where a batch holds %s', async (max) => {
    queue.offer(batch(WIRE, 0, 100));
    queue.offer(batch(ANSWERS, 0, 100));
    const taken: string[] = [];
    while (taken.length < 40) {
      await queue.prepare(8);
      taken.push(...peeked(max));
      queue.drop(queue.peek(max));
    }
    const news = taken.filter((name) => name.startsWith('news'));
    expect(news.length).toBeGreaterThanOrEqual(taken.length / 4);
    expect(news.length).toBeLessThanOrEqual(taken.length / 2);
    expect(news).toEqual(news.map((_, at) => `news ${at}`));
  });

  it('have batches to themselves where nothing else waits', async () => {
    queue.offer(batch(ANSWERS, 0, 100));
    await queue.prepare(4);
    expect(peeked(4)).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3']);
  });

  it('are read while more news waits than the loop takes', async () => {
    const runtime = await world.start('a');
    const partition = world.partitionOf(REF);
    const loop = runtime.loops()[partition];
    await world.until('ready', () => runtime.health().ready);
    loop?.offer({ ...batch(WIRE, 0, 5), partition });
    expect([loop?.isUnderPressure(WIRE), loop?.isUnderPressure(ANSWERS)]).toEqual([true, false]);
    expect(loop?.offer({ ...batch(ANSWERS, 0, 5), partition })).toBe('taken');
    expect(loop?.isUnderPressure(ANSWERS)).toBe(true);
  });
});
