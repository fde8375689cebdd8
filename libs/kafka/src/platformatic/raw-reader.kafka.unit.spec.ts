import { describe, expect, it } from '@jest/globals';
import { Connection } from '@platformatic/kafka';
import type { Failure } from '@recourse/kernel';
import type { ReadPosition } from '../kafka.port.js';
import { ATTEMPT_WITHIN_MS, BrokerRawReader, THROTTLED_MAX_MS } from './raw-reader.kafka.js';
import type { ReadFrom } from './raw-reader.kafka.js';
import { Throttled } from './fetch.kafka.js';
import type { Fetched } from './fetch.kafka.js';

const END = 3;

/** A reader of brokers that hold three records in each partition, and give the first answers no record: they are `failures`. */
function readerOf(failures: readonly Failure[]): {
  readonly reader: BrokerRawReader;
  readonly told: { asked: number; readonly slept: number[]; closed: number };
} {
  const told = { asked: 0, slept: [] as number[], closed: 0 };
  const left = [...failures];
  // Never connected: nothing is sent over it.
  const broker = new Connection('spec');
  const from: ReadFrom = {
    cluster: () => ({
      connect: () => Promise.resolve(),
      leaderOf: () => Promise.resolve(broker),
      forget: () => undefined,
      close: () => {
        told.closed += 1;
        return Promise.resolve();
      },
    }),
    fetch: (_broker, positions) => {
      told.asked += 1;
      const failure = left.shift();
      return Promise.resolve(new Map(positions.map((position) => [position, fetchedAt(position, failure)])));
    },
    sleep: (ms) => {
      told.slept.push(ms);
      return Promise.resolve();
    },
  };
  return { reader: new BrokerRawReader(from, 'uncommitted'), told };
}

function fetchedAt({ topic, partition, offset }: ReadPosition, failure: Failure | undefined): Fetched {
  const place = { topic, partition, fetchedOffset: offset, end: END };
  if (failure !== undefined) return { ...place, records: [], nextOffset: offset, failure };
  const records = Array.from({ length: END - offset }, (_, nth) => ({
    ...{ offset: offset + nth, key: null, value: null, timestamp: 0, headers: {} },
  }));
  return { ...place, records, nextOffset: END };
}

const throttles = (count: number, ms: number): readonly Failure[] =>
  Array.from({ length: count }, () => new Throttled('spec/0', ms));

/** A reader of two brokers, each with one partition; the second makes its client wait first, and each that gave records does. */
function readerOfBrokersWithQuotas(): { readonly reader: BrokerRawReader; readonly given: readonly number[] } {
  const brokers = [new Connection('first'), new Connection('second')];
  const [given, heldUntil] = [
    [0, 0],
    [0, 1_000],
  ];
  let now = 0;
  const from: ReadFrom = {
    cluster: () => ({
      connect: () => Promise.resolve(),
      leaderOf: (_topic, partition) => Promise.resolve(brokers[partition] ?? new Connection('none')),
      forget: () => undefined,
      close: () => Promise.resolve(),
    }),
    fetch: (broker, positions) => {
      const at = brokers.indexOf(broker);
      const leftMs = (heldUntil[at] ?? 0) - now;
      if (leftMs <= 0) [given[at], heldUntil[at]] = [(given[at] ?? 0) + 1, now + 3_000];
      const failure = leftMs > 0 ? new Throttled('spec', leftMs) : undefined;
      return Promise.resolve(new Map(positions.map((position) => [position, fetchedAt(position, failure)])));
    },
    sleep: (ms) => {
      now += ms;
      return Promise.resolve();
    },
  };
  return { reader: new BrokerRawReader(from, 'uncommitted'), given };
}

describe('a raw reader that its broker makes wait', () => {
  it('asks again when the wait is over, as often as that is said: no answer is not the end', async () => {
    const { reader, told } = readerOf(throttles(7, 900));
    const { records, nextOffset } = await reader.read('spec', 0, 0);
    expect([records.length, nextOffset, told.slept]).toEqual([3, 3, [900, 900, 900, 900, 900, 900, 900]]);
  });

  it('asks for many partitions again alike', async () => {
    const { reader, told } = readerOf(throttles(4, 50));
    const many = [0, 1].map((partition) => ({ topic: 'spec', partition, offset: 1 }));
    const found = await reader.readMany(many);
    expect([found.map(({ records }) => records.length), told.asked]).toEqual([[2, 2], 5]);
  });

  it('keeps what the other brokers gave, and asks none of them again: each gives little within its quota', async () => {
    const { reader, given } = readerOfBrokersWithQuotas();
    const found = await reader.readMany([0, 1].map((partition) => ({ topic: 'spec', partition, offset: 0 })));
    expect([found.map(({ records }) => records.length), given]).toEqual([
      [3, 3],
      [1, 1],
    ]);
  });

  it('goes on over the same connections', async () => {
    const { reader, told } = readerOf(throttles(2, 50));
    await reader.read('spec', 0, 0);
    expect(told.closed).toBe(0);
  });

  it('gives up after a minute, and says why', async () => {
    const { reader, told } = readerOf(throttles(99, 7_000));
    await expect(reader.read('spec', 0, 0)).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      detail: expect.stringContaining('quota'),
    });
    expect(told.slept.reduce((sum, ms) => sum + ms, 0)).toBe(THROTTLED_MAX_MS);
    expect(THROTTLED_MAX_MS).toBeGreaterThan(ATTEMPT_WITHIN_MS);
  });

  it('is done with waiting once it is closed', async () => {
    const { reader, told } = readerOf(throttles(99, 7_000));
    const reading = reader.read('spec', 0, 0);
    await reader.close();
    await expect(reading).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE', detail: 'the reader is closed' });
    expect(told.asked).toBeLessThan(5);
  });
});
