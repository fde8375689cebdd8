import { beforeEach, describe, expect, it } from '@jest/globals';
import { frameOf, genesisHash } from '@recourse/chain';
import type { ProjectedHead } from '@recourse/event-log';
import type { FetchedBatch, RawReader } from '@recourse/kafka';
import { Failure, partitionForKey } from '@recourse/kernel';
import { ProjectionEnd } from './projection-end.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.told';
const TOLD = { wire: WIRE, key: 'run-1' };
const LOG_ID = 'spec';
const PARTITIONS = 2;
const TOLD_IN = partitionForKey(TOLD.key, PARTITIONS);
const FIRST = genesisHash({ logId: LOG_ID, topic: LOG, partition: 0, partitionCount: PARTITIONS });
const GENESIS = genesisHash({ logId: LOG_ID, topic: LOG, partition: 0, partitionCount: 1 });
const HASH = Buffer.alloc(32, 1);
const STRANGE = Buffer.alloc(32, 9);

/** A record as far as the acceptance rule reads it; seq below 64 is one octet. */
const record = (seq: number, prevHash: Buffer): Buffer => Buffer.concat([frameOf(1), Buffer.from([seq * 2]), prevHash]);
const headAt = (seq: number, offset: number): ProjectedHead => ({
  seq,
  hash: HASH,
  offset,
  decidedAt: 0,
  cursors: [],
  reactedSeq: 0,
  reactedOffset: 0,
});

describe('the end of a log', () => {
  let records: Buffer[];
  let head: ProjectedHead | null;
  let waits: number;
  let onWait: () => void;
  let closed: number;
  let isBrokerAway: boolean;
  let isBrokerSilent: boolean;
  let here: number | null;
  let handedOut: (batch: FetchedBatch) => FetchedBatch;
  let readAnew: () => void;

  beforeEach(() => {
    records = [];
    head = null;
    waits = 0;
    onWait = () => undefined;
    closed = 0;
    isBrokerAway = false;
    isBrokerSilent = false;
    here = null;
    handedOut = (batch) => batch;
    readAnew = () => undefined;
  });

  const reader: RawReader = {
    range: (_topic, partition) => {
      if (isBrokerSilent) return Promise.withResolvers<never>().promise;
      if (isBrokerAway) return Promise.reject(new Error('away'));
      return Promise.resolve({ low: 0, high: partition === 0 ? records.length : 0 });
    },
    readMany: () => Promise.reject(new Error('not read')),
    read: (topic, partition, from) =>
      Promise.resolve(
        handedOut({
          topic,
          partition,
          fetchedOffset: from,
          nextOffset: Math.min(from + 1, records.length),
          // One record a fetch: the tail is read on until its end.
          records: records
            .slice(from, from + 1)
            .map((value) => ({ offset: from, timestamp: 0, key: Buffer.from('k'), value, headers: {} })),
        }),
      ),
    close: () => {
      closed += 1;
      return Promise.resolve();
    },
  };
  const end = (): ProjectionEnd =>
    new ProjectionEnd({
      reader: () => Promise.resolve(reader),
      partitionCount: () => Promise.resolve(PARTITIONS),
      head: (_log, partition) => Promise.resolve(partition === 0 ? head : null),
      logId: LOG_ID,
      patienceMs: 100,
      answerWithinMs: 20,
      projectedHere: (_log, partition) => (here === null || partition !== 0 ? null : { seq: here, readAnew }),
      sleep: () => {
        waits += 1;
        onWait();
        return Promise.resolve();
      },
    });

  it('is reached by rows of an empty log, and by rows that hold all of it', async () => {
    expect(await end().isReached(LOG)).toBe(true);
    records = [record(1, FIRST), record(2, HASH)];
    head = headAt(2, 2);
    expect([await end().isReached(LOG), waits]).toEqual([true, 0]);
  });

  it('is not reached by rows that a crash of the database set back, or that were never made', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    head = headAt(1, 1);
    expect(await end().isReached(LOG)).toBe(false);
    head = null;
    expect(await end().isReached(LOG)).toBe(false);
  });

  it('is waited for', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    head = headAt(1, 1);
    onWait = () => {
      if (waits === 2) head = headAt(2, 2);
    };
    expect([await end().isReached(LOG), waits]).toEqual([true, 2]);
  });

  it('is the end there was when it was asked for: a log that grows on is not run after', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    head = headAt(1, 1);
    onWait = () => {
      records.push(record(records.length + 1, STRANGE));
      head = headAt(2, 2);
    };
    expect([await end().isReached(LOG), waits]).toEqual([true, 1]);
  });

  it('has the loop of this process look again when the database lost what it had projected', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    here = 2;
    head = headAt(1, 1);
    readAnew = () => {
      here = null;
      onWait = () => {
        head = headAt(2, 2);
      };
    };
    expect([await end().isReached(LOG), waits]).toEqual([true, 1]);
  });

  it('leaves a loop alone that is only busy', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    here = 1;
    head = headAt(1, 1);
    readAnew = () => {
      throw new Error('read anew');
    };
    expect(await end().isReached(LOG)).toBe(false);
  });

  it('is reached before void records, which no projection takes', async () => {
    records = [record(1, FIRST), record(2, STRANGE), Buffer.from('none')];
    head = headAt(1, 1);
    expect([await end().isReached(LOG), waits]).toEqual([true, 0]);
    records.push(record(2, HASH));
    expect(await end().isReached(LOG)).toBe(false);
  });

  it('is reached before the end of a transaction, which is no record, and is not told where nothing is handed out', async () => {
    records = [record(1, FIRST), record(2, HASH)];
    head = headAt(1, 1);
    const given = (nextOffset: number): void => {
      handedOut = (batch) => (batch.fetchedOffset === 1 ? { ...batch, records: [], nextOffset } : batch);
    };
    given(2);
    expect([await end().isReached(LOG), waits]).toEqual([true, 0]);
    given(1);
    await expect(end().isReached(LOG)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  });

  it('cannot be told while the broker is away, and is asked with a new reader after', async () => {
    const asked = end();
    isBrokerAway = true;
    await expect(asked.isReached(LOG)).rejects.toThrow('away');
    isBrokerAway = false;
    expect([await asked.isReached(LOG), closed]).toEqual([true, 1]);
    await asked.close();
    expect(closed).toBe(2);
  });

  it('is not waited for while the broker says nothing: whoever reads is told so in time', async () => {
    const asked = end();
    isBrokerSilent = true;
    await expect(asked.isReached(LOG)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    isBrokerSilent = false;
    expect([await asked.isReached(LOG), closed]).toEqual([true, 1]);
  });
});

describe('looks at the end of a log', () => {
  const FOREVER_MS = 60_000;
  let high: number;
  let projected: number;
  /** Topics that were asked for their end; only what waits at the gate goes on later. */
  let asked: string[];
  let gate: PromiseWithResolvers<void>;
  let open: number;

  beforeEach(() => {
    [high, projected, asked, gate, open] = [1, 0, [], Promise.withResolvers(), 0];
  });

  const ranges: Readonly<Record<string, () => Promise<unknown>>> = {
    [LOG]: () => Promise.resolve(),
    [WIRE]: () => gate.promise,
    'recourse.silent': () => Promise.withResolvers<never>().promise,
  };
  const reader = (): RawReader => {
    let isClosed = false;
    open += 1;
    const unlessClosed = <T>(answer: T): Promise<T> =>
      isClosed ? Promise.reject(new Failure('BROKER_UNAVAILABLE', 'closed')) : Promise.resolve(answer);
    return {
      range: async (topic) => {
        asked.push(topic);
        await ranges[topic]?.();
        return unlessClosed({ low: 0, high });
      },
      readMany: () => Promise.reject(new Error('not read')),
      read: (topic, partition, fetchedOffset) => {
        const value = record(fetchedOffset + 1, fetchedOffset === 0 ? GENESIS : HASH);
        const records = [{ offset: fetchedOffset, timestamp: 0, key: Buffer.from('k'), value, headers: {} }];
        return unlessClosed({ topic, partition, fetchedOffset, nextOffset: fetchedOffset + 1, high, records });
      },
      close: () => {
        isClosed = true;
        open -= 1;
        return Promise.resolve();
      },
    };
  };
  const end = (answerWithinMs = FOREVER_MS): ProjectionEnd =>
    new ProjectionEnd({
      reader: () => Promise.resolve(reader()),
      partitionCount: () => Promise.resolve(1),
      head: () => Promise.resolve(projected === 0 ? null : headAt(projected, projected)),
      logId: LOG_ID,
      patienceMs: 20,
      wirePatienceMs: FOREVER_MS,
      answerWithinMs,
      projectedHere: () => null,
      sleep: () => gate.promise,
    });
  const begun = async (topic: string): Promise<void> => {
    while (!asked.includes(topic)) await Promise.resolve();
  };

  it('fail alone: one that is too slow closes no reader of another, and leaves none open', async () => {
    high = 0;
    const looks = end(0);
    expect(await looks.isReached(LOG)).toBe(true);
    const other = looks.isReached(LOG, TOLD);
    await begun(WIRE);
    await expect(looks.isReached('recourse.silent')).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    gate.resolve();
    expect(await other).toBe(true);
    await looks.close();
    expect(open).toBe(0);
  });

  it('answer nobody who asked after they began: what was written since is not missed', async () => {
    const looks = end();
    const before = looks.isReached(LOG);
    await begun(LOG);
    high = 2;
    const after = looks.isReached(LOG);
    projected = 1;
    gate.resolve();
    expect([await before, await after]).toEqual([true, false]);
  });

  it('are shared by all who ask while one runs, so that many who miss something ask the broker twice', async () => {
    const looks = end();
    const first = looks.isReached(LOG);
    await begun(LOG);
    const rest = Array.from({ length: 50 }, () => looks.isReached(LOG));
    projected = 1;
    gate.resolve();
    expect(new Set([await first, ...(await Promise.all(rest))])).toEqual(new Set([true]));
    expect([asked, open]).toEqual([[LOG, LOG], 1]);
    await looks.close();
    expect(open).toBe(0);
  });

  it('begin anew for those who waited behind one that failed', async () => {
    const looks = end(0);
    const silent = looks.isReached('recourse.silent');
    const behind = looks.isReached('recourse.silent');
    await expect(silent).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    await expect(behind).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    expect([asked.length, open]).toEqual([2, 0]);
  });
});

describe('what was told on a wire', () => {
  let waits: number;
  let end: number;
  let offset: number | null;
  let onWait: () => void;

  beforeEach(() => {
    [waits, end, offset, onWait] = [0, 0, null, () => undefined];
  });

  const cursor = { topic: WIRE, partition: TOLD_IN, seq: 0, hash: Buffer.alloc(32) };
  const rows = (): ProjectionEnd =>
    new ProjectionEnd({
      reader: () => Promise.resolve(reader),
      partitionCount: () => Promise.resolve(PARTITIONS),
      // Rows of another partition, and what was read of another wire, are as far as can be.
      head: (_log, partition) =>
        Promise.resolve({
          ...headAt(1, 1),
          cursors: [
            { ...cursor, topic: 'recourse.others', offset: 1_000 },
            { ...cursor, partition: 1 - TOLD_IN, offset: 1_000 },
            ...(partition === TOLD_IN && offset !== null ? [{ ...cursor, offset }] : []),
          ],
        }),
      logId: LOG_ID,
      patienceMs: 0,
      wirePatienceMs: 100,
      answerWithinMs: 20,
      projectedHere: () => null,
      sleep: () => {
        waits += 1;
        onWait();
        return Promise.resolve();
      },
    });
  const reader: RawReader = {
    range: (topic, partition) =>
      Promise.resolve({ low: 0, high: topic === WIRE && partition === TOLD_IN ? end : 1_000_000 }),
    readMany: () => Promise.reject(new Error('not read')),
    read: () => Promise.reject(new Error('not read')),
    close: () => Promise.resolve(),
  };

  it('is in the rows where nothing was, and where its partition was read to the end', async () => {
    expect(await rows().isReached(LOG, TOLD)).toBe(true);
    [end, offset] = [7, 7];
    expect([await rows().isReached(LOG, TOLD), waits]).toEqual([true, 0]);
  });

  it('is waited for, to the end there was when it was asked for', async () => {
    [end, offset] = [7, 5];
    onWait = () => {
      end += 1;
      if (waits === 2) offset = 7;
    };
    expect([await rows().isReached(LOG, TOLD), waits]).toEqual([true, 2]);
  });

  it('is not in rows that stay behind it, or were never made', async () => {
    [end, offset] = [7, 6];
    expect(await rows().isReached(LOG, TOLD)).toBe(false);
    offset = null;
    expect(await rows().isReached(LOG, TOLD)).toBe(false);
  });
});
