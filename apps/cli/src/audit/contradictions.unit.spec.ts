// Logs that have read one another, in a dump and at the brokers, without any head: what one of them has read of another has to be there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry, signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka, OutgoingRecord, Signing } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { Cursors } from './cursors.js';
import { createDump } from './dump-writer.js';
import { auditDump } from './dump.js';
import { auditReport, describeReport } from './report.js';
import type { PartitionReport } from './report.js';
import { withScratch } from './scratch.js';
import { chained, LOG_ID, writeLog } from './signed-dump.testing.js';
import type { Line } from './signed-dump.testing.js';
import { auditTopics } from './topics.js';

const [MUTATIONS, RECOVERIES] = ['recourse.mutations', 'recourse.recoveries'] as const;
const TOPICS = [MUTATIONS, RECOVERIES];
const registry = new MemoryRegistry().forActor('owner');
const codecs = createCodecs(registry);
beforeAll(async () => {
  for (const topic of TOPICS) await codecs.prepareWriter(topic, { register: true });
});
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Written {
  readonly line: Line;
  readonly hash: Buffer;
}
interface Place {
  readonly topic: string;
  readonly seq: number;
  readonly hash: Buffer;
  readonly partition?: number;
  readonly offset?: number;
}

/** A log as its owner writes it; `mark` makes its records differ from others in the same places. */
class Log {
  readonly written: Written[] = [];
  readonly #write: ReturnType<typeof chained>;

  constructor(
    readonly topic: string,
    logId = LOG_ID,
  ) {
    this.#write = chained(codecs, topic, logId);
  }

  /** What a log says that reads other logs up to these places. */
  reads(places: readonly Place[], decided_at = 1, mark = 0): this {
    const cursors = places.map((place) => ({ partition: 0, offset: place.seq, ...place }));
    this.written.push(this.#write('Progress', { decided_at, cursors, reacted_seq: mark }, 'key'));
    return this;
  }

  grows(count: number, mark = 0): this {
    for (let n = 0; n < count; n += 1) this.reads([], 1, mark);
    return this;
  }

  accepts(lost: { readonly from: number; readonly to: number }, decided_at: number): this {
    const body = {
      lost_from_seq: lost.from,
      lost_to_seq: lost.to,
      lost_head_hash: Buffer.alloc(32),
      by: 'a',
      reason: 'b',
    };
    this.written.push(this.#write('CutAccepted', { decided_at, ...body }, 'key'));
    return this;
  }

  /** The place of its record `seq`. */
  at(seq: number): Place {
    return { topic: this.topic, seq, hash: this.written[seq - 1]?.hash ?? Buffer.alloc(32, 1) };
  }

  get lines(): Line[] {
    return this.written.map(({ line }) => line);
  }
}

const told = (reports: readonly PartitionReport[]): readonly string[] =>
  reports.flatMap(({ topic, partition, findings }) =>
    findings.map(({ message: _message, ...finding }) => `${topic}/${String(partition)} ${JSON.stringify(finding)}`),
  );

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-contradictions-'));
  folders.push(folder);
  return folder;
}

/** Findings of a dump of logs, each with so many of its lines, or all. */
async function foundIn(
  logs: readonly (readonly [log: Log, count?: number])[],
  { logId = LOG_ID, only = null }: { readonly logId?: string; readonly only?: string | null } = {},
): Promise<readonly string[]> {
  const folder = newFolder();
  for (const [{ topic, lines }, count] of logs)
    await writeLog(join(folder, `${topic}-0.jsonl`), { topic, logId, lines: lines.slice(0, count) }, registry);
  return told(await auditDump({ folder, logId: null, known: new Map(), topics: TOPICS, only }));
}

const cut = (topic: string, seq: number, lastSeq: number, read_by: string): string =>
  `${topic}/0 ${JSON.stringify({ kind: 'cut_tail', seq, lastSeq, read_by })}`;
const rewritten = (topic: string, seq: number, read_by: string): string =>
  `${topic}/0 ${JSON.stringify({ kind: 'rewritten', seq, offset: -1, read_by })}`;

/** Two logs that have read each other: the second one record 6 of the first, the first record 1 of the second. */
function pair(): { readonly mutations: Log; readonly recoveries: Log } {
  const mutations = new Log(MUTATIONS).grows(4);
  const recoveries = new Log(RECOVERIES).grows(1);
  mutations.reads([recoveries.at(1)]).grows(3);
  recoveries
    .reads([mutations.at(3)])
    .reads([mutations.at(6)])
    .reads([mutations.at(6)])
    .grows(1);
  return { mutations, recoveries };
}

describe('a log of which another has read more than is there', () => {
  it('is sound where all is there', async () => {
    const { mutations, recoveries } = pair();
    expect(await foundIn([[mutations], [recoveries]])).toEqual([]);
    expect(await foundIn([[mutations, 6], [recoveries]])).toEqual([]);
  });

  it('is found where its tail is missing, with who read it first, and where nothing is left', async () => {
    const { mutations, recoveries } = pair();
    const by = `record 3 of ${RECOVERIES}/0`;
    expect(await foundIn([[mutations, 5], [recoveries]])).toEqual([cut(MUTATIONS, 6, 6, by)]);
    expect(await foundIn([[mutations, 0], [recoveries]])).toEqual([cut(MUTATIONS, 1, 6, by)]);
    expect(await foundIn([[mutations], [recoveries, 0]])).toEqual([
      cut(RECOVERIES, 1, 1, `record 5 of ${MUTATIONS}/0`),
    ]);
  });

  it('is found where it holds another record in that place, however it grew on', async () => {
    const { recoveries } = pair();
    const other = new Log(MUTATIONS).grows(5).grows(9, 7);
    expect(await foundIn([[other], [recoveries]])).toEqual([rewritten(MUTATIONS, 6, `record 3 of ${RECOVERIES}/0`)]);
  });

  it('is found where a partition is gone that nothing else names', async () => {
    const { mutations } = pair();
    const recoveries = new Log(RECOVERIES).reads([{ ...mutations.at(6), partition: 2 }]);
    expect(await foundIn([[recoveries]])).toEqual([
      `${MUTATIONS}/0 {"kind":"log_missing","named_by":"the list of logs"}`,
      `${MUTATIONS}/2 {"kind":"log_missing","named_by":"record 1 of ${RECOVERIES}/0"}`,
    ]);
  });

  it('is told of in words that say who read it', async () => {
    const { mutations, recoveries } = pair();
    const folder = newFolder();
    for (const { topic, lines } of [mutations, recoveries])
      await writeLog(
        join(folder, `${topic}-0.jsonl`),
        { topic, lines: topic === MUTATIONS ? lines.slice(0, 4) : lines },
        registry,
      );
    const reports = await auditDump({ folder, logId: null, known: new Map(), topics: TOPICS, only: null });
    expect(describeReport(auditReport(LOG_ID, reports, { signing: null, auditor: null }))).toContain(
      `cut_tail in ${MUTATIONS}/0: the tail was cut: records 5 to 6 were known to have existed and gone; record 3 of ${RECOVERIES}/0 says that the log was read up to record 6`,
    );
  });

  it('is judged by itself where it alone is asked for, and by no log of another deployment', async () => {
    const { mutations, recoveries } = pair();
    expect(await foundIn([[mutations, 4], [recoveries]], { only: MUTATIONS })).toEqual([]);
    const folder = newFolder();
    const stranger = new Log(RECOVERIES, 'log-2').reads([mutations.at(6)]);
    const files = [
      { topic: MUTATIONS, lines: mutations.lines.slice(0, 4) },
      { topic: RECOVERIES, lines: stranger.lines, logId: 'log-2' },
    ];
    for (const log of files) await writeLog(join(folder, `${log.topic}-0.jsonl`), log, registry);
    expect(told(await auditDump({ folder, logId: LOG_ID, known: new Map(), topics: TOPICS, only: null }))).toEqual([
      `${RECOVERIES}/0 ${JSON.stringify({ kind: 'other_log', expected: LOG_ID, found: 'log-2' })}`,
    ]);
  });

  it('is judged by none where it is there twice: which of the two counts nobody can say', async () => {
    const { mutations, recoveries } = pair();
    const folder = newFolder();
    await writeLog(join(folder, 'a.jsonl'), { topic: MUTATIONS, lines: mutations.lines }, registry);
    await writeLog(join(folder, 'b.jsonl'), { topic: MUTATIONS, lines: mutations.lines.slice(0, 2) }, registry);
    await writeLog(join(folder, 'c.jsonl'), { topic: RECOVERIES, lines: recoveries.lines }, registry);
    const dump = { folder, logId: null, known: new Map(), topics: TOPICS, only: null };
    const reports = await withScratch((scratch) => auditDump({ ...dump, scratch }));
    expect(reports.flatMap(({ findings }) => findings.map(({ kind }) => kind))).toEqual(['partition_repeated']);
  });

  it('keeps of a log no more places than any log has inputs', () => {
    const cursors = new Cursors({ topic: RECOVERIES, partition: 0 }, codecs);
    const hash = Buffer.alloc(32);
    const read = Array.from({ length: 10_001 }, (_, partition) => ({ topic: MUTATIONS, partition, seq: 1, hash }));
    for (const { line } of new Log(RECOVERIES).reads(read).reads([{ topic: MUTATIONS, seq: 7, hash }]).written)
      cursors.take({ offset: 0, ...line });
    expect(cursors.all).toHaveLength(10_000);
    expect(cursors.all[0]).toMatchObject({ partition: 0, seq: 7 });
  });

  it('is told of once, where its own records show what was done to it', async () => {
    const { mutations, recoveries } = pair();
    const [first, , ...others] = mutations.lines;
    const folder = newFolder();
    const lines = first === undefined ? [] : [first, ...others];
    await writeLog(join(folder, 'a-0.jsonl'), { topic: MUTATIONS, lines }, registry);
    await writeLog(join(folder, 'b-0.jsonl'), { topic: RECOVERIES, lines: recoveries.lines }, registry);
    const reports = await auditDump({ folder, logId: null, known: new Map(), topics: TOPICS, only: null });
    expect(reports.flatMap(({ findings }) => findings.map(({ kind }) => kind))).toEqual(['missing']);
  });
});

describe('a log whose loss a person accepted', () => {
  /** It lost records 5 to 6 at 100, and grew on; the other had read up to a lost record. */
  function lossy(readTo: number, saidAt: number) {
    const before = new Log(MUTATIONS).grows(8);
    const mutations = new Log(MUTATIONS).grows(4).accepts({ from: 5, to: 6 }, 100);
    return { mutations, recoveries: new Log(RECOVERIES).reads([before.at(readTo)], saidAt) };
  }

  it.each([5, 6])('is not found for what was lost: record %s', async (seq) => {
    const { mutations, recoveries } = lossy(seq, 100_000);
    expect(await foundIn([[mutations], [recoveries]])).toEqual([]);
    expect(await foundIn([[mutations.grows(9)], [recoveries]])).toEqual([]);
  });

  it('is not found for what had been read behind that, since rows do not say how far a log went', async () => {
    const { mutations, recoveries } = lossy(8, 100);
    expect(await foundIn([[mutations], [recoveries]])).toEqual([]);
    expect(await foundIn([[mutations.grows(9)], [recoveries]])).toEqual([]);
  });

  it('is found for what was read later, and for what stood before the loss', async () => {
    const later = lossy(8, 101);
    expect(await foundIn([[later.mutations], [later.recoveries]])).toEqual([
      cut(MUTATIONS, 6, 8, `record 1 of ${RECOVERIES}/0`),
    ]);
    const { mutations } = lossy(8, 1);
    const recoveries = new Log(RECOVERIES).reads([{ ...mutations.at(4), hash: Buffer.alloc(32, 9) }]);
    expect(await foundIn([[mutations], [recoveries]])).toEqual([
      rewritten(MUTATIONS, 4, `record 1 of ${RECOVERIES}/0`),
    ]);
  });
});

describe('logs at the brokers that have read one another', () => {
  /** A cluster on which something happens behind each read. */
  function readingWith(kafka: Kafka, then: () => Promise<void>): Kafka {
    const rawReader = async (): ReturnType<Kafka['rawReader']> => {
      const reader = await kafka.rawReader();
      return {
        ...reader,
        range: (...asked) => reader.range(...asked),
        close: () => reader.close(),
        read: async (...asked) => {
          const batch = await reader.read(...asked);
          await then();
          return batch;
        },
      };
    };
    return { ...kafka, rawReader };
  }

  /** A cluster whose logs grow behind each read: each then has read the other to its end. */
  class Busy {
    readonly broker = new MemoryBroker();
    readonly mutations = new Log(MUTATIONS);
    readonly recoveries = new Log(RECOVERIES);
    readonly #sent = new Map<Log, number>();

    async begin(): Promise<this> {
      this.broker.ensureTopics(TOPICS.map((name) => ({ name, partitions: 1 })));
      this.mutations.grows(3);
      this.recoveries.reads([this.mutations.at(3)]);
      await this.send();
      return this;
    }

    async send(): Promise<void> {
      const producer = await this.broker.forActor('owner').logProducer();
      for (const log of [this.mutations, this.recoveries]) {
        const records: readonly OutgoingRecord[] = log.lines.slice(this.#sent.get(log) ?? 0);
        if (records.length > 0) await producer.send(log.topic, 0, records);
        this.#sent.set(log, log.lines.length);
      }
      await producer.close();
    }

    /** Both grow, each by what it reads of the other. */
    async grow(): Promise<void> {
      const { mutations, recoveries } = this;
      for (let n = 0; n < 3; n += 1) {
        mutations.reads([recoveries.at(recoveries.lines.length)]);
        recoveries.reads([mutations.at(mutations.lines.length)]);
      }
      await this.send();
    }

    get kafka(): Kafka {
      return readingWith(this.broker.forActor('reader'), () => this.grow());
    }
  }

  const verify = (kafka: Kafka, topics: readonly string[] = TOPICS): Promise<readonly PartitionReport[]> =>
    auditTopics({ kafka, registry, logId: LOG_ID, topics, known: new Map() });

  it.each([[TOPICS], [TOPICS.toReversed()]])(
    'are sound while they grow, in whatever order they are read: %j',
    async (topics) => {
      const busy = await new Busy().begin();
      expect(told(await verify(busy.kafka, topics))).toEqual([]);
    },
  );

  it.each([[TOPICS], [TOPICS.toReversed()]])(
    'are dumped so that what each has read of the other is there: %j',
    async (topics) => {
      const busy = await new Busy().begin();
      const folder = newFolder();
      const writer = createDump(folder, registry);
      const asked = { kafka: busy.kafka, registry, logId: LOG_ID, topics, known: new Map() };
      expect(told(await auditTopics({ ...asked, dump: { writer, signing: null } }))).toEqual([]);
      writer.close();
      expect(told(await auditDump({ folder, logId: null, known: new Map(), topics, only: null }))).toEqual([]);
    },
  );

  it('are dumped with the whole of each batch that another has read a part of, and with nothing behind it', async () => {
    const keys = testKeys({
      ledger: { role: 'service', names: ['mutation-ledger'] },
      orchestrator: { role: 'service', names: ['recovery-orchestrator'] },
    });
    const as = (id: string): Signing => ({
      signer: keys.signer(id),
      keyring: () => keys.keyring,
      ownerOf: (topic) => (topic === MUTATIONS ? 'mutation-ledger' : 'recovery-orchestrator'),
      clock: new ManualClock(Date.parse('2026-05-01T12:00:00Z')),
    });
    const broker = new MemoryBroker();
    broker.ensureTopics(TOPICS.map((name) => ({ name, partitions: 1 })));
    const append = async (id: string, log: Log, ...sizes: readonly number[]): Promise<void> => {
      const producer = await signedKafka(broker.forActor(id), as(id)).logProducer();
      const lines = log.lines.slice(-sizes.reduce((sum, size) => sum + size, 0));
      for (const size of sizes) await producer.send(log.topic, 0, lines.splice(0, size));
    };
    const [mutations, recoveries] = [new Log(MUTATIONS).grows(3), new Log(RECOVERIES)];
    await append('ledger', mutations, 3);
    const folder = newFolder();
    const writer = createDump(folder, registry);
    const asked = { kafka: broker.forActor('reader'), registry, logId: LOG_ID, topics: TOPICS, known: new Map() };
    let hasGrown = false;
    const kafka = readingWith(asked.kafka, async () => {
      if (hasGrown) return;
      hasGrown = true;
      await append('ledger', mutations.grows(9), 4, 5);
      await append('orchestrator', recoveries.reads([mutations.at(5)]), 1);
    });
    await auditTopics({ ...asked, kafka, dump: { writer, signing: null } });
    writer.close();
    const dump = { folder, logId: null, known: new Map(), topics: TOPICS, only: null, signing: as('ledger') };
    expect(await auditDump(dump)).toMatchObject([
      { records: 7, accepted: 7, findings: [] },
      { records: 1, accepted: 1, findings: [] },
    ]);
  });

  it('are found where one was cut, also where it has grown on', async () => {
    const busy = await new Busy().begin();
    await busy.grow();
    busy.broker.truncate(MUTATIONS, 0, 4);
    const by = `record 4 of ${RECOVERIES}/0`;
    expect(told(await verify(busy.broker.forActor('reader')))).toEqual([cut(MUTATIONS, 5, 6, by)]);
    const other = new Log(MUTATIONS)
      .grows(3)
      .reads([busy.recoveries.at(1)])
      .grows(9, 7);
    const producer = await busy.broker.forActor('stranger').logProducer();
    await producer.send(MUTATIONS, 0, other.lines.slice(4));
    expect(told(await verify(busy.broker.forActor('reader')))).toEqual([rewritten(MUTATIONS, 6, by)]);
    expect(told(await verify(busy.broker.forActor('reader'), [MUTATIONS]))).toEqual([]);
  });

  it('are found where a topic was made anew with fewer partitions', async () => {
    const busy = await new Busy().begin();
    busy.recoveries.reads([{ ...busy.mutations.at(2), partition: 1 }]);
    await busy.send();
    expect(told(await verify(busy.broker.forActor('reader')))).toEqual([
      `${MUTATIONS}/1 {"kind":"log_missing","named_by":"record 2 of ${RECOVERIES}/0"}`,
    ]);
  });
});
