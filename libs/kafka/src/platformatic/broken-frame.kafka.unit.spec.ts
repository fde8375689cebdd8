import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Connection, crc32c } from '@platformatic/kafka';
import fc from 'fast-check';
import { behindBroken } from './broken-frame.kafka.js';
import { fetchFrom } from './fetch.kafka.js';
import { encodeRecordBatch } from './record-batch.kafka.js';

const LENGTH_AT = 8;
const CORRUPT_MESSAGE = 2;
const CONTROL = 1 << 5;

describe('the way past a batch that does not say where it ends', () => {
  it('ends at the first offset behind it, whatever its size, where it is entered, and what lies behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(10_000),
        fc.integer({ min: 1, max: 5_000 }),
        fc.nat(5_000),
        fc.nat(4_999),
        async (first, count, more, into) => {
          const [position, stableEnd] = [first + (into % count), first + count + more];
          let asked = 0;
          const found = await behindBroken({ position, firstOffset: BigInt(first), stableEnd }, (offset) => {
            asked += 1;
            return Promise.resolve(BigInt(offset < first + count ? first : offset));
          });
          expect([found, asked < 30]).toEqual([first + count, true]);
        },
      ),
    );
  });

  it('is none where the partition ends before it', async () => {
    const at = { position: 7, firstOffset: 7n, stableEnd: 7 };
    await expect(behindBroken(at, () => Promise.resolve(7n))).rejects.toMatchObject({ code: 'FETCH_BROKEN' });
  });
});

/** A batch of a stub's log. */
interface Stored {
  readonly first: number;
  readonly count: number;
  readonly bytes: Buffer;
}

/** What a stub does besides. */
interface Behaviour {
  /** Offset at which it says that its copy is damaged. */
  readonly corruptAt?: number;
  readonly throttledMs?: number;
  /** How many answers are throttled. Default: all. */
  readonly throttled?: number;
  /** Says of a partition whose answer is throttled nothing at all, as Kafka does. */
  readonly namesNone?: boolean;
}

const closing: (() => void)[] = [];

/**
 * A socket that answers Fetch, version 11, as a broker would whose batches arrive damaged: each broker checks what it is given, so
 * that such bytes come from a damaged disk or from something in between.
 */
async function stub(log: readonly Stored[], behaves: Behaviour = {}): Promise<Connection> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let held = Buffer.alloc(0);
    let asked = 0;
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
        const size = 4 + held.readInt32BE(0);
        asked += 1;
        const isThrottled = (behaves.throttledMs ?? 0) > 0 && asked <= (behaves.throttled ?? Infinity);
        answer(socket, held.subarray(4, size), log, isThrottled ? behaves : { ...behaves, throttledMs: 0 });
        held = held.subarray(size);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = new Connection('spec');
  closing.push(() => {
    void connection.close();
    server.close();
  });
  await connection.connect('127.0.0.1', portOf(server));
  return connection;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port; // it listens on TCP

function answer(
  socket: Socket,
  request: Buffer,
  log: readonly Stored[],
  { corruptAt, throttledMs = 0, namesNone = false }: Behaviour,
): void {
  const client = request.readInt16BE(8);
  const body = request.subarray(10 + Math.max(0, client));
  // replica, wait, least, most, isolation, session, epoch, one topic, its name, one partition, leader epoch, offset
  const [topics, name] = [25, body.readInt16BE(29)];
  const partitions = topics + 6 + name;
  const asked = Number(body.readBigInt64BE(partitions + 12));
  const end = log.reduce((latest, { first, count }) => Math.max(latest, first + count), 0);
  const given = throttledMs > 0 ? [] : log.filter(({ first, count }) => first + count > asked);
  const set = Buffer.concat(given.map(({ bytes }) => bytes));
  const code = asked === corruptAt ? CORRUPT_MESSAGE : 0;
  const out = Buffer.alloc(31 + name + 38 + 4);
  let at = out.writeInt32BE(request.readInt32BE(4), 0); // correlation
  at = out.writeInt32BE(throttledMs, at);
  at = out.writeInt16BE(0, at);
  at = out.writeInt32BE(0, at); // session
  if (throttledMs > 0 && namesNone) {
    send(socket, out.subarray(0, out.writeInt32BE(0, at)));
    return;
  }
  at = out.writeInt32BE(1, at);
  at += body.copy(out, at, topics + 4, topics + 6 + name);
  at = out.writeInt32BE(1, at);
  at = out.writeInt32BE(0, at); // partition
  at = out.writeInt16BE(code, at);
  for (const offset of [end, end, 0]) at = out.writeBigInt64BE(BigInt(offset), at);
  at = out.writeInt32BE(-1, at); // no aborted transaction
  at = out.writeInt32BE(-1, at); // no other replica
  const records = code === 0 ? set : Buffer.alloc(0);
  at = out.writeInt32BE(records.length, at);
  send(socket, Buffer.concat([out.subarray(0, at), records]));
}

function send(socket: Socket, bytes: Buffer): void {
  const size = Buffer.alloc(4);
  size.writeInt32BE(bytes.length);
  socket.write(Buffer.concat([size, bytes]));
}

function stored(first: number, count: number, length?: number): Stored {
  const records = Array.from({ length: count }, (_, nth) => ({
    key: Buffer.from(`k${String(first + nth)}`),
    value: Buffer.from('v'),
  }));
  const bytes = encodeRecordBatch(records, 1_000);
  bytes.writeBigInt64BE(BigInt(first), 0);
  if (length !== undefined) bytes.writeInt32BE(length, LENGTH_AT);
  return { first, count, bytes };
}

/** All that a reader sees from the start on. */
async function readAll(broker: Connection): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let offset = 0; ;) {
    const position = { topic: 'spec.wire', partition: 0, offset };
    const found = (await fetchFrom(broker, [position], { isolation: 'committed', waitMs: 0, maxBytes: 1 << 20 })).get(
      position,
    );
    if (found === undefined || found.nextOffset === offset) return [...seen, found?.failure?.code ?? 'end'];
    seen.push(
      ...found.records.map(({ offset: at, key, unreadable }) =>
        unreadable === undefined ? String(key) : `${String(at)} unreadable`,
      ),
    );
    offset = found.nextOffset;
  }
}

describe('a fetch from a broker whose bytes arrive damaged', () => {
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  it.each([
    ['is too small for a head', 3],
    ['is below zero', -7],
    ['is too small for its records', 60],
    ['takes in the batch behind', 2 * stored(2, 3).bytes.length - 24],
    ['is beyond all there is', 900_000],
  ])('goes past a batch whose length %s, parks it by its offset, and reads all others once', async (_how, length) => {
    const broker = await stub([stored(0, 2), stored(2, 3, length), stored(5, 2), stored(7, 1)]);
    expect(await readAll(broker)).toEqual(['k0', 'k1', '2 unreadable', 'k5', 'k6', 'k7', 'end']);
  });

  it('goes past one at the end, and on with what comes later', async () => {
    const log = [stored(0, 1), stored(1, 40, 9)];
    const broker = await stub(log);
    expect(await readAll(broker)).toEqual(['k0', '1 unreadable', 'end']);
    log.push(stored(41, 1));
    expect(await readAll(broker)).toEqual(['k0', '1 unreadable', 'k41', 'end']);
  });

  it('reads a batch that arrives whole when it is asked for again', async () => {
    const [damaged, whole] = [stored(0, 2, 5), stored(0, 2)];
    let asked = 0;
    const log: Stored = {
      ...whole,
      get bytes() {
        asked += 1;
        return asked === 1 ? damaged.bytes : whole.bytes;
      },
    };
    expect(await readAll(await stub([log]))).toEqual(['k0', 'k1', 'end']);
  });

  it('says so, with a code, where the broker has records and gives none, and not where it has none or is throttled', async () => {
    const log = [stored(0, 2), { ...stored(2, 3), bytes: Buffer.alloc(0) }];
    expect(await readAll(await stub(log))).toEqual(['k0', 'k1', 'FETCH_BROKEN']);
    expect(await readAll(await stub(log, { throttledMs: 500 }))).toEqual(['BROKER_UNAVAILABLE']);
    expect(await readAll(await stub([stored(0, 2)]))).toEqual(['k0', 'k1', 'end']);
  });

  it('is one request: where all it brings is what no reader may see, it says how far that goes', async () => {
    const marker = stored(0, 1);
    marker.bytes.writeInt16BE(CONTROL, 21);
    marker.bytes.writeUInt32BE(crc32c(marker.bytes.subarray(21)), 17);
    let asked = 0;
    const log: Stored = {
      ...marker,
      get bytes() {
        asked += 1;
        return marker.bytes;
      },
    };
    const first = { topic: 'spec.wire', partition: 0, offset: 0 };
    const broker = await stub([log, stored(1, 0)]);
    const found = (await fetchFrom(broker, [first], { isolation: 'committed', waitMs: 0, maxBytes: 1 })).get(first);
    expect([found?.records, found?.nextOffset, asked]).toEqual([[], 1, 1]);
    expect(await readAll(broker)).toEqual(['end']);
  });

  it('says so, with a code, where the broker cannot read its own copy', async () => {
    const broker = await stub([stored(0, 2), stored(2, 1)], { corruptAt: 2 });
    const first = { topic: 'spec.wire', partition: 0, offset: 2 };
    const found = (await fetchFrom(broker, [first], { isolation: 'committed', waitMs: 0, maxBytes: 1 })).get(first);
    expect(found).toMatchObject({ records: [], nextOffset: 2, failure: { code: 'FETCH_BROKEN' } });
  });
});

describe('a fetch from a broker that makes its client wait', () => {
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  it.each([
    ['names the partition', false],
    ['names none', true],
  ])('has no answer where it %s, says for how long, and has one afterwards', async (_how, namesNone) => {
    const broker = await stub([stored(0, 2)], { throttledMs: 500, throttled: 1, namesNone });
    const first = { topic: 'spec.wire', partition: 0, offset: 0 };
    const found = (await fetchFrom(broker, [first], { isolation: 'committed', waitMs: 0, maxBytes: 1 << 20 })).get(
      first,
    );
    expect(found).toMatchObject({ records: [], nextOffset: 0, failure: { code: 'BROKER_UNAVAILABLE', waitMs: 500 } });
    expect(await readAll(broker)).toEqual(['k0', 'k1', 'end']);
  });

  it('has one at the end, of which the broker says where it is', async () => {
    expect(await readAll(await stub([], { throttledMs: 500 }))).toEqual(['end']);
  });
});
