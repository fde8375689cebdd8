import { afterEach, describe, expect, it } from '@jest/globals';
import { Connection } from '@platformatic/kafka';
import { Failure } from '@recourse/kernel';
import type { FetchedBatch, ReadPosition } from '../kafka.port.js';
import type { Fetched } from './fetch.kafka.js';
import { PartitionFetcher } from './partition-fetcher.kafka.js';
import type { FetchedFrom, FetcherHandlers } from './fetch-terms.kafka.js';

const WIRE = 'spec.wire';
const AT = (partition: number): { topic: string; partition: number } => ({ topic: WIRE, partition });

/** A fetch that waits for its answer: offsets of records by partition, and where the next begins. */
interface Pending {
  readonly asked: string;
  /** How long the broker may wait, milliseconds. */
  readonly waitMs: number;
  readonly answer: (found?: Readonly<Record<number, readonly number[]>>, next?: number) => void;
  /** The same, but one partition has no answer. */
  readonly without: (
    partition: number,
    found: Readonly<Record<number, readonly number[]>>,
    code?: Failure['code'],
  ) => void;
  /** The same, but of one partition nothing was read. */
  readonly unread: (partition: number, found: Readonly<Record<number, readonly number[]>>) => void;
  /** Nothing, since somebody's transaction is open at the position. */
  readonly hold: () => void;
  readonly refuse: (cause: Error) => void;
}

const pending: Pending[] = [];
const asked: Pending[] = [];
const taken: string[] = [];
const crashes: unknown[] = [];
const troubles: string[] = [];
const forgotten: string[] = [];
const weights: number[] = [];
let fetcher: PartitionFetcher;

/** Each partition has a broker of its own when there are several. */
function following({
  brokers = 1,
  leaderless = new Set<number>(),
  onBatch = (): void | Promise<void> => undefined,
  silentMs = 3_000,
  heldMs = 30_000,
  waitMs = 100,
  settledMs = 0,
} = {}): PartitionFetcher {
  const from: FetchedFrom = {
    cluster: () => {
      const connections = Array.from({ length: brokers }, () => new Connection('spec'));
      return {
        leaderOf: (_, partition) =>
          leaderless.has(partition)
            ? Promise.reject(new Error('it has no leader'))
            : Promise.resolve(connections[partition % brokers] ?? new Connection('spec')),
        forget: (topic = '') => forgotten.push(topic),
        close: () => Promise.resolve(),
      };
    },
    fetch: (_, positions, limits) =>
      new Promise((resolve, refuse) => {
        const fetch: Pending = {
          asked: positions.map(({ partition, offset }) => `${String(partition)}@${String(offset)}`).join(' '),
          waitMs: limits.waitMs,
          refuse,
          hold: () => {
            resolve(new Map(positions.map((position) => [position, { ...fetchedAt(position, {}), isHeld: true }])));
          },
          answer: (found = {}, next) => {
            resolve(new Map(positions.map((position) => [position, fetchedAt(position, found, next)])));
          },
          unread: (missed, found) => {
            resolve(
              new Map(
                positions.map((position) => [
                  position,
                  position.partition === missed
                    ? { ...fetchedAt(position, {}), isUnread: true }
                    : fetchedAt(position, found),
                ]),
              ),
            );
          },
          without: (missing, found, code = 'FETCH_BROKEN') => {
            const failure = new Failure(code, 'the broker says so');
            resolve(
              new Map(
                positions.map((position) => [
                  position,
                  { ...fetchedAt(position, found), ...(position.partition === missing ? { failure } : {}) },
                ]),
              ),
            );
          },
        };
        pending.push(fetch);
        asked.push(fetch);
      }),
  };
  const handlers: FetcherHandlers = {
    onBatch: ({ partition, fetchedOffset, records, octets = 0 }) => {
      if (octets > 0) weights.push(octets);
      taken.push(`${String(partition)}@${String(fetchedOffset)}: ${records.map(({ offset }) => offset).join(' ')}`);
      return onBatch();
    },
    onTrouble: ({ partition }, cause) => troubles.push(`${String(partition)} ${cause?.code ?? 'goes on'}`),
    onCrash: (cause) => crashes.push(cause),
  };
  fetcher = new PartitionFetcher(
    from,
    { isolation: 'committed', waitMs: silentMs > 100 ? waitMs : 0, silentMs, heldMs, settledMs },
    handlers,
  );
  return fetcher;
}

function fetchedAt(
  { topic, partition, offset: fetchedOffset }: ReadPosition,
  found: Readonly<Record<number, readonly number[]>>,
  next?: number,
): Fetched {
  const records = (found[partition] ?? []).map(recordAt);
  const nextOffset = next ?? (records.at(-1)?.offset ?? fetchedOffset - 1) + 1;
  return { topic, partition, fetchedOffset, records, end: 99, nextOffset, octets: 100 * records.length };
}

const recordAt = (offset: number): FetchedBatch['records'][number] => ({
  offset,
  key: null,
  value: null,
  timestamp: 0,
  headers: {},
});

async function nextFetch(): Promise<Pending> {
  for (let turn = 0; turn < 500 && pending.length === 0; turn += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  const next = pending.shift();
  if (next === undefined) throw new Error('nothing was asked');
  return next;
}

async function told(...expected: readonly string[]): Promise<void> {
  for (let turn = 0; turn < 500 && troubles.length < expected.length; turn += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  expect(troubles).toEqual(expected);
}

describe('a partition fetcher', () => {
  afterEach(async () => {
    await fetcher.close();
    // Time limits end with what they limit.
    for (const fetch of asked) fetch.answer();
    for (const list of [pending, asked, taken, crashes, troubles, forgotten, weights]) list.length = 0;
  });

  it('asks for all that flows with one request, from where each stands, and goes on', async () => {
    const one = following();
    one.seek(AT(0), 5);
    one.seek(AT(1), 7);
    one.seek(AT(2), 9);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    expect(first.asked).toBe('0@5 1@7');
    first.answer({ 1: [7, 8] });
    expect((await nextFetch()).asked).toBe('0@5 1@9');
    expect(taken).toEqual(['1@7: 7 8']);
  });

  it('drops what was asked for before a seek or a pause, and asks again from where the owner stands', async () => {
    const one = following();
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    one.seek(AT(0), 2);
    one.flow([AT(1)], false);
    first.answer({ 0: [5], 1: [5] });
    expect((await nextFetch()).asked).toBe('0@2');
    expect(taken).toEqual([]);
  });

  it('waits long while it asks for everything, and not while the owner has paused some', async () => {
    const one = following({ waitMs: 1_000 });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    one.flow([AT(1)], false);
    first.answer({ 0: [5] });
    const second = await nextFetch();
    one.flow([AT(1)], true);
    second.answer();
    const third = await nextFetch();
    expect([first, second, third].map(({ asked, waitMs }) => [asked, waitMs])).toEqual([
      ['0@5 1@5', 1_000],
      ['0@6', 100],
      ['0@6 1@5', 1_000],
    ]);
  });

  it('waits long only some time after the owner sought last', async () => {
    const one = following({ waitMs: 1_000, settledMs: 60_000 });
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    expect((await nextFetch()).waitMs).toBe(100);
  });

  it('gives up a long wait when the owner seeks, and takes nothing twice that it brings after all', async () => {
    const one = following({ waitMs: 1_000 });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    one.seek(AT(0), 2);
    const second = await nextFetch();
    expect(second.asked).toBe('0@2 1@5');
    first.answer({ 0: [5], 1: [5] });
    second.answer({ 0: [2], 1: [5] });
    expect((await nextFetch()).asked).toBe('0@3 1@6');
    expect(taken).toEqual(['1@5: 5', '0@2: 2']);
  });

  it('takes no offence at the end of a wait that it gave up', async () => {
    const one = following({ waitMs: 1_000 });
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    const first = await nextFetch();
    one.seek(AT(0), 2);
    const second = await nextFetch();
    first.refuse(new Failure('CURSOR_OUT_OF_RANGE', 'the connection was closed'));
    second.answer({ 0: [2] });
    expect((await nextFetch()).asked).toBe('0@3');
    expect([taken, crashes, troubles]).toEqual([['0@2: 2'], [], []]);
  });

  it('tells its owner of what no reader may see: that it is passed', async () => {
    const one = following();
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    (await nextFetch()).answer({}, 8);
    const second = await nextFetch();
    expect(second.asked).toBe('0@8');
    second.answer({ 0: [8] });
    await nextFetch();
    expect(taken).toEqual(['0@5: ', '0@8: 8']);
  });

  it('tells of a broker that says nothing while it still waits for its answer, and of the answer', async () => {
    const one = following({ silentMs: 20 });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    await told('0 BROKER_UNAVAILABLE', '1 BROKER_UNAVAILABLE');
    first.answer({ 0: [5] });
    await told('0 BROKER_UNAVAILABLE', '1 BROKER_UNAVAILABLE', '0 goes on', '1 goes on');
    expect(taken).toEqual(['0@5: 5']);
  });

  it('tells of a transaction that stays open for long, and of its end; not of one that ends soon', async () => {
    const one = following({ heldMs: 30 });
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    (await nextFetch()).hold();
    (await nextFetch()).answer({ 0: [5] });
    (await nextFetch()).hold();
    await new Promise((resolve) => {
      setTimeout(resolve, 40);
    });
    expect(troubles).toEqual([]);
    (await nextFetch()).hold();
    await told('0 TRANSACTION_OPEN');
    await new Promise((resolve) => {
      setTimeout(resolve, 1_000);
    });
    (await nextFetch()).answer({ 0: [6] });
    await told('0 TRANSACTION_OPEN', '0 goes on');
    expect(taken).toEqual(['0@5: 5', '0@6: 6']);
  });

  it('is held up at no broker by another that waits', async () => {
    const one = following({ brokers: 2 });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    expect((await nextFetch()).asked).toBe('0@5');
    (await nextFetch()).answer({ 1: [5] });
    expect((await nextFetch()).asked).toBe('1@6');
    expect(taken).toEqual(['1@5: 5']);
  });

  it('goes on after a failure, from the same place', async () => {
    const one = following();
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    (await nextFetch()).refuse(new Error('gone'));
    expect((await nextFetch()).asked).toBe('0@5');
    expect(crashes).toEqual([]);
  });

  it('tells of a partition that has no answer, asks for the others meanwhile, and tells when it goes on', async () => {
    const one = following();
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    if (first.asked === '0@5') first.answer();
    const both = first.asked === '0@5 1@5' ? first : await nextFetch();
    expect(both.asked).toBe('0@5 1@5');
    both.without(0, { 1: [5] });
    const others = await nextFetch();
    expect([others.asked, taken, troubles]).toEqual(['1@6', ['1@5: 5'], ['0 FETCH_BROKEN']]);
    await new Promise((resolve) => {
      setTimeout(resolve, 1_100);
    });
    others.answer({ 1: [6] });
    const again = await nextFetch();
    expect(again.asked).toBe('0@5 1@7');
    again.answer({ 0: [5] });
    await nextFetch();
    expect([troubles, crashes]).toEqual([['0 FETCH_BROKEN', '0 goes on'], []]);
  });

  it('asks first for what was served longest ago: who is behind in one answer is before the others in the next', async () => {
    const one = following();
    for (const partition of [0, 1, 2]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1), AT(2)], true);
    (await nextFetch()).unread(2, { 0: [5], 1: [5] });
    const second = await nextFetch();
    expect(second.asked).toBe('2@5 0@6 1@6');
    second.unread(1, { 0: [6], 2: [5] });
    expect((await nextFetch()).asked).toBe('1@6 2@6 0@7');
    expect(taken).toEqual(['0@5: 5', '1@5: 5', '2@5: 5', '0@6: 6']);
  });

  it('asks last for what had nothing, too: in front it would have the rest of its topic served before all other topics', async () => {
    const one = following();
    for (const partition of [0, 1, 2]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1), AT(2)], true);
    (await nextFetch()).unread(2, { 1: [5] });
    expect((await nextFetch()).asked).toBe('2@5 0@5 1@6');
  });

  it('asks for nothing more of a partition while its owner is busy with what it got, and for the others', async () => {
    const busy = Promise.withResolvers<undefined>();
    const one = following({ onBatch: () => (taken.length === 1 ? busy.promise : undefined) });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    (await nextFetch()).answer({ 0: [5] });
    const second = await nextFetch();
    busy.resolve(undefined);
    await new Promise(setImmediate);
    second.answer({ 1: [5] });
    expect([second.asked, (await nextFetch()).asked]).toEqual(['1@5', '0@6 1@6']);
  });

  it.each(['BROKER_REFUSED', 'FETCH_BROKEN'] as const)(
    'goes on with the others where the broker says %s of one, and tells of it at once',
    async (code) => {
      const one = following();
      for (const partition of [0, 1]) one.seek(AT(partition), 5);
      one.flow([AT(0), AT(1)], true);
      (await nextFetch()).without(0, { 1: [5] }, code);
      expect((await nextFetch()).asked).toBe('1@6');
      expect([taken, troubles, forgotten]).toEqual([['1@5: 5'], [`0 ${code}`], []]);
    },
  );

  it.each(['BROKER_UNAVAILABLE', 'TOPIC_MISSING'] as const)(
    'asks anew who leads a partition of which the broker says %s, and it alone',
    async (code) => {
      const one = following();
      for (const partition of [0, 1]) one.seek(AT(partition), 5);
      one.flow([AT(0), AT(1)], true);
      (await nextFetch()).without(0, { 1: [5] }, code);
      const others = await nextFetch();
      expect([others.asked, forgotten, troubles]).toEqual(['1@6', [WIRE], []]);
      await new Promise((resolve) => {
        setTimeout(resolve, 150);
      });
      others.answer({ 1: [6] });
      expect((await nextFetch()).asked).toBe('0@5 1@7');
    },
  );

  it('goes on with the others where nobody leads one, and with that as soon as somebody does', async () => {
    const leaderless = new Set([0]);
    const one = following({ leaderless });
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    const first = await nextFetch();
    expect([first.asked, forgotten[0], troubles]).toEqual(['1@5', WIRE, []]);
    leaderless.clear();
    await new Promise((resolve) => {
      setTimeout(resolve, 150);
    });
    first.answer({ 1: [5] });
    expect((await nextFetch()).asked).toBe('0@5 1@6');
  });

  it('tells of all that a broker refuses to whoever asks', async () => {
    const one = following();
    for (const partition of [0, 1]) one.seek(AT(partition), 5);
    one.flow([AT(0), AT(1)], true);
    (await nextFetch()).refuse(new Failure('BROKER_REFUSED', 'who are you?'));
    await told('0 BROKER_REFUSED', '1 BROKER_REFUSED');
  });

  it('tells its owner what it hands over of memory', async () => {
    const one = following();
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    (await nextFetch()).answer({ 0: [5, 6] });
    await nextFetch();
    expect(weights).toEqual([200]);
  });

  it('takes a trouble back that it told of before its owner sought, however it sought', async () => {
    const one = following({ silentMs: 20 });
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    const first = await nextFetch();
    await told('0 BROKER_UNAVAILABLE');
    one.seek(AT(0), 3);
    first.answer();
    await told('0 BROKER_UNAVAILABLE', '0 goes on');
    (await nextFetch()).answer({ 0: [3] });
    expect((await nextFetch()).asked).toBe('0@4');
    expect(troubles).toEqual(['0 BROKER_UNAVAILABLE', '0 goes on']);
  });

  it('says nothing of what it follows no more', async () => {
    const one = following({ heldMs: 0 });
    one.seek(AT(0), 5);
    one.flow([AT(0)], true);
    const first = await nextFetch();
    one.clear();
    first.hold();
    one.seek(AT(1), 5);
    one.flow([AT(1)], true);
    expect((await nextFetch()).asked).toBe('1@5');
    expect(troubles).toEqual([]);
  });
});
