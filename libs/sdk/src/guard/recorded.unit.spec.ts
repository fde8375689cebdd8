// What the ledger could not record is not made; what was made is told of, whatever its tool answered.
import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { JSON_DEPTH_MAX, REFS_MAX, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { ASSUMPTIONS_TOPIC, createProducer, EXECUTIONS_TOPIC } from '../producer/producer.js';
import { RELEASE_PARTS } from '../release.js';
import type { ReleaseTuple } from '../release.js';
import type { Budget } from './budget.port.js';
import type { GuardedCall } from './guard.messages.js';
import { refund, refundCall } from './guard.testing.js';

const LONG = 'x'.repeat(513);
const REFS = Array.from({ length: REFS_MAX + 1 }, (_, at) => `order/${String(at)}#open`);
const PARENTS = REFS.map((ref) => ({ runId: 'run-0', mutationId: ref }));
// Every part is named.
const RELEASE = Object.fromEntries(RELEASE_PARTS.map((part) => [part, '1'])) as ReleaseTuple;
/** A refund's arguments, with a note of any length. */
const NOTED = {
  type: 'object',
  properties: { order: { type: 'string' }, amount_minor: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
};
const inRun = (more: object): Partial<GuardedCall> => ({ run: { ...refundCall.run, ...more } });
const order = (text: string): Partial<GuardedCall> => ({ args: { order: text, amount_minor: 1 } });

/** Lists inside each other. */
function nested(levels: number): Json {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

describe('a call that the ledger would park', () => {
  it.each<[reason: string, path: string, call: Partial<GuardedCall>]>([
    ['TOO_MANY_REFS', '/assumptionRefs', { assumptionRefs: REFS }],
    ['TOO_MANY_REFS', '/derivedFrom', { derivedFrom: PARENTS }],
    ['REF_RESERVED', '/assumptionRefs', { assumptionRefs: ['commit/x'] }],
    ['TEXT_TOO_LONG', '/args/order', order(LONG)],
    ['NUL_IN_TEXT', '/args/order', order('a\0b')],
    ['NUL_IN_TEXT', '/objective', inRun({ objective: 'a\0b' })],
    ['TEXT_TOO_LONG', '/objective', inRun({ objective: 'x'.repeat(64 * 1024 + 1) })],
    ['NUL_IN_TEXT', '/producedBy', { producedBy: 'a\0b' }],
    ['TEXT_TOO_LONG', '/producedBy', { producedBy: LONG }],
    ['TEXT_TOO_LONG', '/release/prompt', inRun({ release: { ...RELEASE, prompt: LONG } })],
  ])('is not made: %s of %s', async (reason, path, call) => {
    const scene = refund();
    expect(await scene.run(call)).toMatchObject({
      kind: 'refused',
      code: 'PLACE_INVALID',
      problems: [{ code: reason, path }],
    });
    expect([scene.calls(), scene.told(), scene.troubles]).toEqual([0, [], ['PLACE_INVALID']]);
  });

  it('is made where it is just within the limits', async () => {
    const release = { ...RELEASE, prompt: LONG.slice(1) };
    const call = { ...order(LONG.slice(1)), assumptionRefs: REFS.slice(2), producedBy: LONG.slice(1) };
    expect(await refund().run({ ...call, ...inRun({ release }) })).toMatchObject({ kind: 'succeeded' });
  });

  it.each<[string, Json]>([
    ['arguments', { order: '1', amount_minor: 1, note: 'x'.repeat(WIRE_RECORD_BYTES_MAX) }],
    ['prior value', 'x'.repeat(WIRE_RECORD_BYTES_MAX)],
    ['prior value as deep', nested(JSON_DEPTH_MAX + 1)],
  ])('is not made for the size of its %s, and nobody is asked', async (what, json) => {
    const isPrior = what !== 'arguments';
    const asked: string[] = [];
    const budget: Budget = {
      reserve: ({ runId }) => {
        asked.push(runId);
        return Promise.resolve({ kind: 'reserved', reservationId: 'res_1' });
      },
      release: () => Promise.resolve('released'),
    };
    const scene = refund({
      options: { budget },
      contract: { overwrites: true, args_schema: NOTED },
      tool: isPrior ? { capturePriorValue: () => Promise.resolve(json) } : {},
    });
    expect(await scene.run(isPrior ? {} : { args: json })).toMatchObject({ kind: 'refused', code: 'RECORD_TOO_LARGE' });
    expect([scene.calls(), scene.told(), asked]).toEqual([0, [], []]);
  });

  it('is not made with arguments that are no JSON, or that nobody reads, and says so', async () => {
    const round: Record<string, Json> = {};
    round['self'] = round;
    for (const args of [round, nested(JSON_DEPTH_MAX + 1), nested(5_000), { order: Number.NaN }]) {
      const scene = refund();
      expect(await scene.run({ args })).toMatchObject({
        code: 'ARGS_INVALID',
        problems: [{ path: expect.stringMatching(/^\/args/u) }],
      });
      expect(scene.calls()).toBe(0);
    }
    const watching = refund({ options: { mode: 'observe' } });
    expect(await watching.run({ args: round })).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
  });
});

describe('a tool that answered with what no record holds', () => {
  it.each<[string, unknown]>([
    ['too large', { status: 'settled', note: 'x'.repeat(900_000) }],
    ['too deep', { note: nested(JSON_DEPTH_MAX) }],
  ])('has acted all the same: %s', async (_why, answer) => {
    // What a tool without types gives.
    const scene = refund({ tool: { execute: () => Promise.resolve(answer as Json) } });
    const result = await scene.run();
    expect(result.kind).toBe('succeeded');
    expect('value' in result && JSON.stringify(result.value)).toHaveLength(JSON.stringify(answer).length);
    expect(scene.producer.told.at(-1)).toMatchObject({
      type: 'ToolExecuted',
      outcome: { outcome: 'succeeded', result: null, externalTransactionRef: 'rf_secret' },
    });
    expect(scene.troubles).toEqual(['RESULT_UNRECORDED']);
  });

  it('is told of without an answer that is no JSON, or a handle that no record holds', async () => {
    const round: Record<string, Json> = {};
    round['self'] = round;
    const tool = { execute: () => Promise.resolve(round), externalTransactionRef: () => LONG };
    const scene = refund({ tool });
    expect(await scene.run()).toMatchObject({ kind: 'succeeded' });
    expect(scene.producer.told.at(-1)).toMatchObject({ outcome: { result: null, externalTransactionRef: null } });
    expect(scene.troubles).toEqual(['HANDLE_UNREADABLE', 'RESULT_UNRECORDED', 'HANDLE_INCOMPLETE']);
  });
});

describe('a call with the largest arguments and answers that are taken', () => {
  it.each([250_000, 130_000, 1_000])('is told in records that the ledger takes: %d', async (size) => {
    const [broker, registry] = [new MemoryBroker(), new MemoryRegistry()];
    broker.ensureTopics([EXECUTIONS_TOPIC, ASSUMPTIONS_TOPIC].map((name) => ({ name, partitions: 1 })));
    const producer = await createProducer({
      kafka: broker.forActor('agent'),
      codecs: createCodecs(registry.forActor('agent')),
      source: 'agent',
      registerSchemas: true,
    });
    const note = 'x'.repeat(size);
    const answers = [WIRE_RECORD_BYTES_MAX - size, 100].map((length) => 'y'.repeat(Math.max(0, length)));
    for (const [at, answer] of answers.entries()) {
      const tool = { execute: () => Promise.resolve({ answer }) };
      const scene = refund({ contract: { args_schema: NOTED }, tool, options: { producer } });
      const stepId = `step-${String(at)}`;
      const result = await scene.run({ stepId, args: { order: '1', amount_minor: 1, note } });
      // Whether it is whole is all there is to see of it.
      expect([result.kind, 'value' in result && JSON.stringify(result.value).includes(answer)]).toEqual([
        'succeeded',
        true,
      ]);
      expect(scene.troubles).toEqual(at === 0 ? ['RESULT_UNRECORDED'] : []);
    }
    const { records } = await (await broker.forActor('reader').rawReader()).read(EXECUTIONS_TOPIC, 0, 0);
    expect(records.map(({ value }) => (value?.length ?? 0) <= WIRE_RECORD_BYTES_MAX)).toEqual([true, true, true, true]);
  });
});
