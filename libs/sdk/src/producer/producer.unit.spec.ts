import { describe, expect, it } from '@jest/globals';
import { readPayload } from '@recourse/contract';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { commitIdOf, isChunk, joinState } from '@recourse/lineage';
import { createCodecs, recordOf } from '@recourse/messages';
import type { TopicRecords } from '@recourse/messages';
import { createCheckpoints } from '../checkpoint/checkpoints.js';
import { MemoryEntries } from '../entries/entries.memory.js';
import { ASSUMPTIONS_TOPIC, createProducer, EXECUTIONS_TOPIC } from './producer.js';
import type { Producer } from './producer.js';

const RUN = { tenant: 'acme', runId: 'run-1', agentId: 'planner', initiator: null, objective: 'plan the week' };

/** A producer on a broker in memory, and what another process reads of it. */
async function stage() {
  const [broker, registry] = [new MemoryBroker(), new MemoryRegistry()];
  broker.ensureTopics([EXECUTIONS_TOPIC, ASSUMPTIONS_TOPIC].map((name) => ({ name, partitions: 1 })));
  const producer: Producer = await createProducer({
    kafka: broker.forActor('agent'),
    codecs: createCodecs(registry.forActor('agent')),
    source: 'planner',
    registerSchemas: true,
  });
  async function read<T extends typeof EXECUTIONS_TOPIC | typeof ASSUMPTIONS_TOPIC>(
    topic: T,
  ): Promise<readonly TopicRecords[T][]> {
    const codecs = createCodecs(registry.forActor('reader'));
    const { records } = await (await broker.forActor('reader').rawReader()).read(topic, 0, 0);
    const decoded = await Promise.all(
      records.map(async ({ value }) => {
        const first = codecs.decodeSync(value);
        if (first.kind === 'unknown_schema') await codecs.load(first.id);
        return recordOf(topic, codecs.decodeSync(value));
      }),
    );
    return decoded.filter((each) => each !== null);
  }
  return { producer, read };
}

describe('a checkpoint on the wire', () => {
  it('is read with the id it was told under, and each chunk is the one that was told of', async () => {
    const { producer, read } = await stage();
    const entries = new MemoryEntries();
    entries.register('policy_bundle', 'acme', 'any', { owner: 'o', doc: 'd', admission: [], recovery: [] });
    const checkpoints = createCheckpoints({ producer, entries, clock: new ManualClock(5_000), run: RUN });
    const state = { text: 'y'.repeat(200_000) };
    await checkpoints.record({
      stepId: 'a',
      producedBy: 'planner',
      assumptionRefs: ['order/1#paid'],
      state: { text: 'short' },
      gate: { bundle: 'any', inputs: { pens: 3 } },
    });
    await checkpoints.record({
      stepId: 'b',
      producedBy: 'planner',
      parents: [{ run_id: 'run-0', commit_id: 'mut_1' }],
      state,
    });
    const told = await read(EXECUTIONS_TOPIC);
    const recorded = told.flatMap((each) => (each.type === 'CheckpointTaken' ? [each.body] : []));
    expect(recorded.map(({ checkpoint }) => commitIdOf(checkpoint))).toEqual(
      recorded.map(({ commit_id }) => commit_id),
    );
    expect(readPayload(recorded[0]!.checkpoint.gate!.inputs!)).toMatchObject({ gate: { pens: 3 } });
    const chunks = told.flatMap((each) => (each.type === 'StateChunk' ? [each.body] : []));
    expect(chunks.map(({ commit_id, index }) => [commit_id, index])).toEqual([
      [recorded[1]?.commit_id, 0],
      [recorded[1]?.commit_id, 1],
    ]);
    expect(
      chunks.every(({ chunk, index }) => isChunk(chunk, recorded[1]?.checkpoint.state?.chunk_sha256s[index])),
    ).toBe(true);
    expect(joinState(chunks.map(({ chunk }) => chunk.body))).toEqual(state);
    expect(new Set(told.map(({ body }) => body.event_id)).size).toBe(told.length);
    await producer.close();
  });
});

describe('a statement', () => {
  it('is stated by whom the producer speaks for, or by whom it names', async () => {
    const { producer, read } = await stage();
    const statement = {
      tenant: 'acme',
      ref: 'order/1#paid',
      statement: { paid: false },
      statedAt: 1,
      sourceKind: 'verifier',
    } as const;
    await producer.assumptionInvalidated(statement);
    await producer.assumptionInvalidated({ ...statement, source: 'bank' });
    const bodies = (await read(ASSUMPTIONS_TOPIC)).map(({ body }) => body);
    expect(bodies).toMatchObject([
      { source: 'planner', source_kind: 'verifier' },
      { source: 'bank', source_kind: 'verifier' },
    ]);
    expect(new Set(bodies.map((body) => ('event_id' in body ? body.event_id : null))).size).toBe(2);
    await producer.close();
  });
});

describe('what is not of the form of its record', () => {
  it.each([
    ['without a ref', { ref: undefined }, '/ref'],
    ['with a ref that is a number', { ref: 7 }, '/ref'],
    ['without a tenant', { tenant: undefined }, '/tenant'],
    ['with an unknown kind of source', { sourceKind: 'gossip' }, '/sourceKind'],
    ['without the kind of its source', { sourceKind: undefined }, '/sourceKind'],
    ['with a source that is no text', { source: 7 }, '/source'],
  ])('is refused before it leaves, with its code and the place: %s', async (_what, more, place) => {
    const { producer, read } = await stage();
    const given = { tenant: 'acme', ref: 'order/1#paid', statement: {}, statedAt: 1, sourceKind: 'verifier', ...more };
    const refused = producer.assumptionInvalidated(given as never);
    await expect(refused).rejects.toMatchObject({ code: 'RECORD_UNFIT', message: expect.stringContaining(place) });
    expect(await read(ASSUMPTIONS_TOPIC)).toEqual([]);
  });
});

it('a statement is told as JSON says it, and not at all where JSON says nothing of a part of it', async () => {
  const { producer, read } = await stage();
  const said = (statement: unknown) => ({
    tenant: 'acme',
    ref: 'order/1#open',
    statement: statement as Json,
    statedAt: 1,
  });
  for (const statement of [{ rows: new Map([['a', 1]]) }, new Response('a'), { at: Number.NaN }, undefined])
    await expect(producer.assumptionReaffirmed(said(statement))).rejects.toMatchObject({ code: 'RECORD_UNFIT' });
  await producer.assumptionReaffirmed(said({ since: new Date(0) }));
  const told = await read(ASSUMPTIONS_TOPIC);
  expect(told.map(({ body }) => ('statement' in body ? readPayload(body.statement) : null))).toEqual([
    { since: '1970-01-01T00:00:00.000Z' },
  ]);
});

describe('a statement of no tenant', () => {
  it('is refused before it leaves', async () => {
    const { producer, read } = await stage();
    const statement = { ref: 'order/1#open', statement: {}, statedAt: 1 };
    for (const tenant of ['', ' ', '*'])
      await expect(producer.assumptionDeclared({ ...statement, tenant })).rejects.toMatchObject({
        code: 'TENANT_INVALID',
      });
    expect(await read(ASSUMPTIONS_TOPIC)).toEqual([]);
  });
});

const nested = (levels: number): Json => Array.from({ length: levels }).reduce<Json>((inner) => [inner], 1);
const circle: Json[] = [];
circle.push(circle);

describe('a statement that the ledger would park', () => {
  it.each<readonly [string, string, Json]>([
    ['', 'RECORD_UNFIT', 'x'],
    ['order/'.padEnd(600, '1'), 'RECORD_UNFIT', 'x'],
    ['order/1\0', 'RECORD_UNFIT', 'x'],
    ['commit/zz', 'RECORD_UNFIT', 'x'],
    ['handle/zz', 'RECORD_UNFIT', 'x'],
    ['stands', 'RECORD_UNFIT', 'x'],
    ['order/1#large', 'RECORD_TOO_LARGE', 'x'.repeat(300_000)],
    ['order/1#deep', 'RECORD_UNFIT', nested(65)],
    ['order/1#circle', 'RECORD_UNFIT', circle],
    ['order/1#infinite', 'RECORD_UNFIT', { amount: Infinity }],
  ])('is refused before it leaves: %j', async (ref, code, note) => {
    const { producer, read } = await stage();
    const statement = { note };
    const told = { tenant: 'acme', ref, statement, statedAt: 1 };
    const sayings = await Promise.allSettled([
      producer.assumptionDeclared(told),
      producer.assumptionReaffirmed(told),
      producer.assumptionInvalidated({ ...told, sourceKind: 'observation' }),
    ]);
    expect(sayings).toMatchObject([{ reason: { code } }, { reason: { code } }, { reason: { code } }]);
    expect(await read(ASSUMPTIONS_TOPIC)).toEqual([]);
  });

  it('is one of a bare ref only where it names no run', async () => {
    const { producer, read } = await stage();
    await producer.assumptionDeclared({ tenant: 'acme', ref: 'stands', runId: 'run-1', statement: {}, statedAt: 1 });
    expect(await read(ASSUMPTIONS_TOPIC)).toHaveLength(1);
  });
});

describe('an instant in seconds', () => {
  it('is refused before it leaves: as milliseconds it would be 1970, and have no effect that anybody sees', async () => {
    const { producer, read } = await stage();
    const statement = { tenant: 'acme', ref: 'order/1#open', statement: {} };
    for (const statedAt of [1_795_852_482, 1_795_852_482.5, Number.NaN, -1, 8.64e15 + 1]) {
      const told = { ...statement, statedAt };
      for (const saying of [
        producer.assumptionDeclared(told),
        producer.assumptionReaffirmed(told),
        producer.assumptionInvalidated({ ...told, sourceKind: 'observation' }),
      ])
        await expect(saying).rejects.toMatchObject({
          code: 'INSTANT_INVALID',
          message: expect.stringContaining('statedAt'),
        });
    }
    expect(await read(ASSUMPTIONS_TOPIC)).toEqual([]);
    await producer.assumptionDeclared({ ...statement, statedAt: 1_795_852_482_000 });
    expect(await read(ASSUMPTIONS_TOPIC)).toHaveLength(1);
  });
});
