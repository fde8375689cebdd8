// Watching goes on while topics change under it: what was there at one look, and is not at the next, is found.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { Kafka, RawReader } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { withScratch } from './scratch.js';
import { chained, LOG, LOG_ID } from './signed-dump.testing.js';
import { watchTopics } from './watch.js';

const registry = new MemoryRegistry().forActor('owner');
const codecs = createCodecs(registry);
beforeAll(async () => {
  await codecs.prepareWriter(LOG, { register: true });
});

/** What a broker holds: how many partitions the log has, and lines of some. */
interface Held {
  readonly partitions: number | null;
  readonly lines: Readonly<Record<number, number>>;
  /** What the lines say differs with it. */
  readonly mark?: number;
}

async function brokerWith({ partitions, lines, mark = 0 }: Held): Promise<Kafka> {
  const broker = new MemoryBroker();
  if (partitions !== null) broker.ensureTopics([{ name: LOG, partitions }]);
  const kafka = broker.forActor('spec');
  const producer = await kafka.logProducer();
  for (const [partition, count] of Object.entries(lines)) {
    const write = chained(codecs, LOG);
    const sent = Array.from(
      { length: count },
      (_, n) => write('Progress', { cursors: [], reacted_seq: mark + n }, 'k').line,
    );
    await producer.send(LOG, Number(partition), sent);
  }
  return kafka;
}

/** What each look finds, at brokers that hold one after the other. */
async function foundAt(...held: readonly Held[]): Promise<readonly (readonly string[])[]> {
  const brokers = await Promise.all(held.map(brokerWith));
  const readers = await Promise.all(brokers.map((one) => one.rawReader()));
  let at = 0;
  const now = <T>(all: readonly T[]): T => all[at] ?? fail();
  const reader: RawReader = {
    range: (...of) => now(readers).range(...of),
    readMany: (...of) => now(readers).readMany(...of),
    read: (...of) => now(readers).read(...of),
    close: () => Promise.resolve(),
  };
  const first = now(brokers);
  const kafka: Kafka = { ...first, admin: () => now(brokers).admin(), rawReader: () => Promise.resolve(reader) };
  return withScratch(async (scratch) => {
    const looks: string[][] = [];
    const asked = { kafka, registry, logId: LOG_ID, topics: [LOG], known: new Map(), scratch, signed: null };
    for await (const { news } of watchTopics(asked)) {
      looks.push(news.map(({ partition, finding }) => `${partition} ${finding.kind}`));
      at += 1;
      if (at === held.length) break;
    }
    return looks;
  });
}

function fail(): never {
  throw new Error('no more looks');
}

describe('a log under watch', () => {
  const before = { partitions: 1, lines: { 0: 3 } };

  it('is sound while it grows, and while nothing of it changes', async () => {
    expect(await foundAt(before, { partitions: 1, lines: { 0: 5 } }, { partitions: 1, lines: { 0: 5 } })).toEqual([
      [],
      [],
      [],
    ]);
  });

  it('is read in the partitions that are added, which no log ever gets', async () => {
    const grown = { partitions: 2, lines: { 0: 3, 1: 1 } };
    expect(await foundAt(before, grown, grown)).toEqual([
      [],
      [`${LOG}/0 foreign_genesis`, `${LOG}/1 foreign_genesis`],
      [],
    ]);
  });

  it('is missed where its topic is made anew with fewer partitions, or is gone, and once', async () => {
    const [three, two] = [3, 2].map((partitions) => ({ partitions, lines: {} }));
    const gone = { partitions: null, lines: {} };
    expect(await foundAt(three ?? gone, two ?? gone, two ?? gone)).toEqual([[], [`${LOG}/2 log_missing`], []]);
    expect(await foundAt(before, gone, gone)).toEqual([[], [`${LOG}/0 topic_missing`], []]);
  });

  it('is compared with the head it had where its topic is made anew with more', async () => {
    expect(await foundAt(before, { partitions: 2, lines: {} })).toEqual([[], [`${LOG}/0 cut_tail`]]);
  });

  it('is compared with the head it had where its topic is back after looks at which it was gone', async () => {
    const gone = { partitions: null, lines: {} };
    const missed = [`${LOG}/0 topic_missing`];
    expect(await foundAt(before, gone, gone, before)).toEqual([[], missed, [], []]);
    expect(await foundAt(before, gone, { partitions: 1, lines: { 0: 5 }, mark: 7 })).toEqual([
      [],
      missed,
      [`${LOG}/0 rewritten`],
    ]);
  });

  it('is found that comes later', async () => {
    const gone = { partitions: null, lines: {} };
    expect(await foundAt(gone, before, gone)).toEqual([[`${LOG}/0 topic_missing`], [], [`${LOG}/0 topic_missing`]]);
  });
});
