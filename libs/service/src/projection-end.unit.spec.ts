import { beforeEach, describe, expect, it } from '@jest/globals';
import { frameOf, genesisHash } from '@recourse/chain';
import type { ProjectedHead } from '@recourse/event-log';
import type { RawReader } from '@recourse/kafka';
import { partitionForKey } from '@recourse/kernel';
import { ProjectionEnd } from './projection-end.js';

const LOG = 'recourse.things';
const WIRE = 'recourse.told';
const TOLD = { wire: WIRE, key: 'run-1' };
const LOG_ID = 'spec';
const PARTITIONS = 2;
const TOLD_IN = partitionForKey(TOLD.key, PARTITIONS);
const FIRST = genesisHash({ logId: LOG_ID, topic: LOG, partition: 0, partitionCount: PARTITIONS });
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
      Promise.resolve({
        topic,
        partition,
        fetchedOffset: from,
        nextOffset: Math.min(from + 1, records.length),
        high: records.length,
        // One record a fetch: the tail is read on until its end.
        records: records
          .slice(from, from + 1)
          .map((value) => ({ offset: from, timestamp: 0, key: Buffer.from('k'), value, headers: {} })),
      }),
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
