import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { createCodecs, TOPICS } from '@recourse/messages';
import { MemoryBroker, MemoryRegistry, openGate } from '@recourse/kafka';
import type { FetchedBatch, FetchedRecord, RawReader } from '@recourse/kafka';
import { LogView, ViewSet } from './broadcast-view.js';
import { OwnLog } from './own-log.js';
import type { AcceptedRecord } from './service-core.js';

const TOPIC = 'recourse.assumptions';
const payload = {
  content_type: 'application/json',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from('{}'),
  sha256: Buffer.alloc(32),
};
const statement = (ref: string) => ({
  type: 'AssumptionStated',
  body: {
    event_id: ref,
    tenant: 'acme',
    ref,
    run_id: null,
    source: 'spec',
    statement: payload,
    kind: 'declared',
    source_kind: 'observation',
    stated_at: 0,
    verdict: 'holds',
    superseded: false,
    content_sha256: Buffer.alloc(32),
  },
});

/** A log with statements, and a view over it that nobody has read into yet. */
async function stage(refs: readonly string[]): Promise<{
  readonly view: LogView;
  readonly views: ViewSet;
  readonly log: OwnLog;
  readonly reads: () => number;
  readonly reader: RawReader;
  /** From now on its broker says where the log ends, and hands out nothing. */
  readonly silence: () => void;
  readonly records: readonly FetchedRecord[];
  readonly folds: string[];
}> {
  const broker = new MemoryBroker({ gate: openGate, now: () => 0 });
  broker.ensureTopics(TOPICS.map(({ name }) => ({ name, partitions: 1 })));
  const kafka = broker.forActor('spec');
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(TOPIC, { register: true });
  const options = { kafka, codecs, partitionCount: 1, logId: 'spec' };
  const log = new OwnLog({ ...options, topic: TOPIC, partition: 0 });
  for (const ref of refs) {
    const batch = log.seal(1_000);
    batch.add(statement(ref), ref);
    await log.append(batch);
  }
  const folds: string[] = [];
  const fold = (record: AcceptedRecord) => {
    folds.push(String(record.body['ref']));
    return [[String(record.body['ref']), { seq: record.seq }]] as const;
  };
  const view = new LogView({ name: 'statements', topic: TOPIC, fold }, options, () => 0);
  const reader = await kafka.rawReader();
  let [reads, isSilent] = [0, false];
  const counting = {
    ...reader,
    readMany: async (...asked: Parameters<typeof reader.readMany>) => {
      reads += 1;
      const answers = await reader.readMany(...asked);
      return isSilent ? answers.map((one) => ({ ...one, records: [], nextOffset: one.fetchedOffset })) : answers;
    },
  };
  return {
    view,
    views: new ViewSet([view], { rawReader: () => Promise.resolve(counting) }, () => 0),
    log,
    reads: () => reads,
    reader,
    silence: () => {
      isSilent = true;
    },
    folds,
    records: (await reader.read(TOPIC, 0, 0)).records,
  };
}

const fetched = (records: readonly FetchedRecord[]): FetchedBatch => ({
  topic: TOPIC,
  partition: 0,
  fetchedOffset: records[0]?.offset ?? 0,
  nextOffset: (records.at(-1)?.offset ?? 0) + 1,
  records,
});

describe('a view of a broadcast log', () => {
  it('is not read to its end where the broker hands out nothing before that', async () => {
    const { views, silence } = await stage(['a', 'b']);
    silence();
    await expect(views.refresh()).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });

  it('takes what was fetched as an input, and reads the rest', async () => {
    const { view, views, records, folds } = await stage(['a', 'b', 'c']);
    view.offer(fetched(records.slice(0, 2)));
    await views.atLeast('statements', 0, 2);
    expect(folds).toEqual(['a', 'b']);
    await views.atLeast('statements', 0, 3);
    expect(folds).toEqual(['a', 'b', 'c']);
  });

  it('leaves out what does not continue it, and never folds a record twice', async () => {
    const { view, views, records, folds } = await stage(['a', 'b', 'c']);
    view.offer(fetched(records.slice(1)));
    await views.refresh();
    view.offer(fetched(records));
    await views.refresh();
    expect(folds).toEqual(['a', 'b', 'c']);
  });

  it('never stands at a position whose entries it lacks', async () => {
    const { view, views, records } = await stage(['a', 'b', 'c']);
    const torn: number[] = [];
    let isRead = false;
    view.offer(fetched(records));
    const watching = (async () => {
      while (!isRead) {
        if (view.position(0) > 0 && view.get('c') === undefined) torn.push(view.position(0));
        await Promise.resolve();
      }
    })();
    await views.atLeast('statements', 0, 3);
    isRead = true;
    await watching;
    expect(torn).toEqual([]);
    expect(view.get('c')).toEqual({ seq: 3 });
  });

  it('is read once for all who ask while a read is under way, and that read began after they asked', async () => {
    const { view, views, log, reads } = await stage(['a']);
    const first = views.refresh();
    await Promise.resolve();
    const late = log.seal(1_000);
    late.add(statement('b'), 'b');
    await log.append(late);
    await Promise.all([first, views.refresh(), views.refresh(), views.atLeast('statements', 0, 2)]);
    expect([view.position(0), view.get('b') === undefined, reads()]).toEqual([2, false, 2]);
  });

  it('says that its log was cut where it ends before what was read of it', async () => {
    const { views } = await stage(['a']);
    await expect(views.atLeast('statements', 0, 2)).rejects.toMatchObject({ code: 'LOG_CUT' });
  });

  it.each([
    ['begins behind where it is to be read', { low: 3, high: 9 }, 'LOG_FRONT_CUT', 'begins at offset 3'],
    ['ends before what was read of it', { low: 0, high: -1 }, 'LOG_CUT', 'ends at -1'],
  ] as const)('names the log that %s, and what is wrong with it', async (_what, range, code, says) => {
    const { views } = await stage(['a']);
    const reader = {
      range: (topic: string) => Promise.resolve(topic === TOPIC ? range : { low: 0, high: 0 }),
      read: () => Promise.reject(new Error('not asked')),
      readMany: () => Promise.reject(new Failure('CURSOR_OUT_OF_RANGE', '12 partitions')),
      close: () => Promise.resolve(),
    };
    const cut = new ViewSet(views.all(), { rawReader: () => Promise.resolve(reader) }, () => 0);
    await expect(cut.refresh()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`${TOPIC}/0 ${says}`),
    });
  });

  it('blames no log that reaches by now to where it is to be read', async () => {
    const { views } = await stage(['a']);
    const reader = {
      range: () => Promise.resolve({ low: 0, high: 1 }),
      read: () => Promise.reject(new Error('not asked')),
      readMany: () => Promise.reject(new Failure('CURSOR_OUT_OF_RANGE', '12 partitions')),
      close: () => Promise.resolve(),
    };
    const moved = new ViewSet(views.all(), { rawReader: () => Promise.resolve(reader) }, () => 0);
    await expect(moved.refresh()).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });

  it('is tried again where a new leader does not hand out yet what its log holds', async () => {
    const { views, reader } = await stage(['a', 'b']);
    let handsOut = 1;
    const lagging = {
      ...reader,
      readMany: async (...asked: Parameters<typeof reader.readMany>) =>
        (await reader.readMany(...asked)).map((batch) => {
          const records = batch.records.filter(({ offset }) => offset < handsOut);
          return { ...batch, records, nextOffset: Math.min(batch.nextOffset, handsOut) };
        }),
    };
    const behind = new ViewSet(views.all(), { rawReader: () => Promise.resolve(lagging) }, () => 0);
    await expect(behind.atLeast('statements', 0, 2)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    handsOut = 2;
    await behind.atLeast('statements', 0, 2);
  });
});
