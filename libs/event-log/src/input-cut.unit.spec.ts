import { beforeEach, describe, expect, it } from '@jest/globals';
import { holdsCursor, holdsPosition } from './input-cut.js';
import { LOG, LOG_ID, LoopWorld, PARTITIONS } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import type { StoredCursor } from './store.port.js';

const payload = {
  content_type: 'application/json',
  encoding: 'plain',
  key_id: null,
  body: Buffer.from('{}'),
  sha256: Buffer.alloc(32),
};
let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
});

function logOf(owner: string): OwnLog {
  return new OwnLog({
    kafka: world.broker.forActor(owner),
    codecs: world.codecs,
    topic: LOG,
    partition: 0,
    partitionCount: PARTITIONS,
    logId: LOG_ID,
  });
}

/** Appends a statement and answers with the cursor of who has read it. */
async function append(log: OwnLog, ref: string): Promise<StoredCursor> {
  const body = {
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
  };
  const batch = log.seal(1_000);
  batch.add({ type: 'AssumptionStated', body }, ref);
  await log.append(batch);
  return { topic: LOG, partition: 0, offset: log.position.offset, ...log.position.head };
}

async function holds(cursor: StoredCursor): Promise<boolean> {
  return holdsCursor(await world.broker.forActor('reader').rawReader(), world.codecs, cursor);
}

describe('a log that was read', () => {
  it('holds what was read, also behind records that count for nothing', async () => {
    const log = logOf('owner');
    const first = await append(log, 'a');
    const rival = logOf('rival');
    await append(rival, 'of a rival');
    expect(await holds(first)).toBe(true);
    expect(await holds({ ...first, offset: first.offset + 1 })).toBe(true);
  });

  it('does not hold what it has lost, once it has gone on differently', async () => {
    const log = logOf('owner');
    await append(log, 'a');
    const [position] = [log.position];
    const lost = await append(log, 'b');
    world.broker.truncate(LOG, 0, position.offset);
    const restored = logOf('owner after the restore');
    for await (const records of restored.read(restored.origin())) expect(records).toHaveLength(1);
    await append(restored, 'c');
    await append(restored, 'd');
    expect(await holds(lost)).toBe(false);
  });

  it('does not hold what it has lost where the end of a transaction stands in its place', async () => {
    const log = logOf('owner');
    await append(log, 'a');
    const { offset } = log.position;
    await append(log, 'b');
    const lost = await append(log, 'c');
    world.broker.truncate(LOG, 0, offset);
    world.broker.transaction(LOG, 0, [{ key: Buffer.from('x'), value: Buffer.from('x') }]).abort();
    expect(await holds(lost)).toBe(false);
  });

  it('that ends before the cursor is out of range', async () => {
    const log = logOf('owner');
    await append(log, 'a');
    await append(log, 'b');
    const lost = await append(log, 'c');
    world.broker.truncate(LOG, 0, 1);
    await expect(holds(lost)).rejects.toMatchObject({ code: 'CURSOR_OUT_OF_RANGE' });
  });

  it('that ends before a position holds nothing of it, and one that lost its front holds what comes after', async () => {
    const log = logOf('owner');
    await append(log, 'a');
    await append(log, 'b');
    const read = log.position;
    const reader = logOf('reader');
    expect(await holdsPosition(reader, read)).toBe(true);
    expect(await holdsPosition(reader, { ...read, offset: read.offset + 1 })).toBe(false);
    world.broker.trim(LOG, 0, 2);
    expect(await holdsPosition(reader, read)).toBe(true);
  });

  it('holds a cursor at its start, which names nothing', async () => {
    expect(await holds({ topic: LOG, partition: 0, offset: 0, seq: 0, hash: Buffer.alloc(32) })).toBe(true);
  });

  it('is asked again where a new leader does not hand out yet what it holds, and is short where it holds no more', async () => {
    const log = logOf('owner');
    const first = await append(log, 'a');
    const second = await append(log, 'b');
    const reader = await world.broker.forActor('reader').rawReader();
    const lagging = {
      ...reader,
      read: async (...asked: Parameters<typeof reader.read>) => {
        const batch = await reader.read(...asked);
        const records = batch.records.filter(({ offset }) => offset < first.offset);
        return {
          ...batch,
          records,
          nextOffset: Math.max(batch.fetchedOffset, Math.min(batch.nextOffset, first.offset)),
        };
      },
    };
    await expect(holdsCursor(lagging, world.codecs, second)).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    const shorter = { ...lagging, range: () => Promise.resolve({ low: 0, high: first.offset }) };
    expect(await holdsCursor(shorter, world.codecs, second)).toBe(false);
  });
});
