// What a tool is given, and answers, is recorded as JSON says it. What JSON says nothing of is never recorded as if it were empty.
import { describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { guardExecute } from '../adapters/agent-tools.js';
import { callAt, forwardTool } from '../connect/typed-tool.js';
import { guard } from './guard.js';
import { refund, refundCall } from './guard.testing.js';
import type { Refund, RefundScene } from './guard.testing.js';

const AT = new Date('2030-05-02T09:00:00Z');
/** Any argument beside the amount. */
const OPEN = {
  type: 'object',
  properties: { order: { type: 'string' }, amount_minor: { type: 'integer', minimum: 1 } },
  required: ['order', 'amount_minor'],
};
class Secret {
  readonly #token = 'x';
  reveal(): string {
    return this.#token;
  }
}
class Money {
  constructor(
    readonly amount: number,
    readonly currency: string,
  ) {}
}
class Ratio extends Secret {
  toJSON(): string {
    return `1/${this.reveal()}`;
  }
}
const throwing = (): never => {
  throw new Error('a getter throws');
};

const SAID: readonly (readonly [string, unknown, Json])[] = [
  ['a date', AT, '2030-05-02T09:00:00.000Z'],
  ['an address', new URL('https://shop.example/a?b=1'), 'https://shop.example/a?b=1'],
  ['a bigint', 12n, '12'],
  ['a boxed text', Object('boxed'), 'boxed'],
  ['an object of a class that shows its members', new Money(5, 'INR'), { amount: 5, currency: 'INR' }],
  ['what says itself what it is', new Ratio(), '1/x'],
  ['octets', Buffer.from('a'), { type: 'Buffer', data: [97] }],
  ['a typed array', Uint8Array.of(7, 8), { '0': 7, '1': 8 }],
  ['a list with nothing in a place', [1, undefined, 2], [1, null, 2]],
  ['a list with a hole', Object.assign([], { 1: 2 }), [null, 2]],
];

const LOST: readonly (readonly [string, unknown, string])[] = [
  ['a map', new Map([['a', 1]]), 'a Map'],
  ['a set', new Set([1]), 'a Set'],
  ['an error', new TypeError('no'), 'an error (TypeError)'],
  ['an answer of fetch', new Response('paid'), 'the class Response'],
  ['headers', new Headers({ a: 'b' }), 'the class Headers'],
  ['octets without a view', new ArrayBuffer(8), 'the class ArrayBuffer'],
  ['an expression', /a/u, 'the class RegExp'],
  ['an object that shows nothing', new Secret(), 'the class Secret'],
  ['a promise', Promise.resolve(1), 'a promise'],
  ['a date that is none', new Date(Number.NaN), 'a date that is none'],
  ['no number', Number.NaN, 'NaN'],
  ['no end', Number.POSITIVE_INFINITY, 'Infinity'],
  ['a function', throwing, 'a function'],
  ['a symbol', Symbol('a'), 'a symbol'],
];

interface Told {
  readonly args: readonly unknown[];
  readonly results: readonly unknown[];
}

const toldOf = ({ producer }: Pick<Refund, 'producer'>): Told => ({
  args: producer.told.flatMap((told) => ('action' in told ? [told.action.args] : [])),
  results: producer.told.flatMap((told) => (told.type === 'ToolExecuted' ? [told.outcome.result] : [])),
});

/** Callers without types pass anything. */
const withNote = (note: unknown): Json => ({ order: '4711', amount_minor: 5, note: note as Json });
const open = (scene: RefundScene = {}): Refund =>
  refund({ ...scene, contract: { args_schema: OPEN, ...scene.contract } });

describe('arguments with', () => {
  it.each(SAID)('%s are given and recorded as JSON says them', async (_, note, said) => {
    const given: Json[] = [];
    const scene = open({
      tool: {
        execute: (args) => {
          given.push(args);
          return Promise.resolve({});
        },
      },
    });
    expect(await scene.run({ args: withNote(note) })).toMatchObject({ kind: 'succeeded' });
    const expected = { order: '4711', amount_minor: 5, note: said };
    expect([given, toldOf(scene).args]).toEqual([[expected], [expected, expected]]);
  });

  it.each(LOST)('%s inside are refused before the call, with their place', async (_, note, what) => {
    const scene = open({ options: { mode: 'enforce' } });
    expect(await scene.run({ args: { ...(withNote([note]) as object) } })).toMatchObject({
      kind: 'refused',
      code: 'ARGS_INVALID',
      problems: [{ path: '/args/note/0', message: expect.stringContaining(what) }],
    });
    expect([scene.calls(), scene.told()]).toEqual([0, []]);
  });

  it.each(['off', 'observe'] as const)(
    'what JSON says nothing of is left out and told of in %s, which refuses nothing',
    async (mode) => {
      const troubles: unknown[] = [];
      const scene = open({ options: { mode, onTrouble: (trouble) => troubles.push(trouble) } });
      const answer = await scene.run({ args: { ...(withNote('n') as object), onProgress: () => undefined } as never });
      expect([answer.kind, scene.calls()]).toEqual(['succeeded', 1]);
      expect(troubles).toContainEqual(
        expect.objectContaining({
          code: 'ARGS_INVALID',
          problems: [expect.objectContaining({ path: '/args/onProgress' })],
        }),
      );
    },
  );

  it('members that throw are refused, and so are those of a connection and of a kit', async () => {
    const note = Object.defineProperty({}, 'a', { get: throwing, enumerable: true });
    expect(await open().run({ args: withNote(note) })).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
    const { options } = open();
    const tool = forwardTool(() => ({}), undefined);
    const args = { order: '1', amount_minor: 1, note: new Map() };
    const place = { runId: 'r', stepId: 's', objective: 'o' };
    const connected = guard(tool, options)(callAt(args, place, { tenant: 'acme', name: 'agent' }));
    expect(await connected).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
    const kit = guardExecute(() => ({}), { ...options, place: () => refundCall });
    expect(await kit(args)).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
  });
});

/** A tool without types, that answers anything. */
const answering = (answer: unknown, scene: RefundScene = {}): Refund & { readonly heard: string[] } => {
  const heard: string[] = [];
  const options = {
    ...scene.options,
    onTrouble: ({ problems }: { problems: readonly { message: string }[] }) =>
      heard.push(...problems.map(({ message }) => message)),
  };
  const tool = { ...scene.tool, execute: () => Promise.resolve(answer as Json) };
  return { ...refund({ ...scene, options, tool }), heard };
};

describe('an answer with', () => {
  it.each(SAID)('%s is recorded as JSON says it', async (_, note, said) => {
    const scene = answering({ note });
    expect(await scene.run()).toMatchObject({ kind: 'succeeded', value: { note: said } });
    expect([toldOf(scene).results, scene.heard]).toEqual([[{ note: said }], []]);
  });

  it.each(LOST)('%s inside is recorded without it, and says so', async (_, note, what) => {
    const scene = answering({ id: 'rf_1', list: [note], note });
    expect(await scene.run()).toMatchObject({ kind: 'succeeded', value: { id: 'rf_1' } });
    expect(toldOf(scene).results).toEqual([{ id: 'rf_1', list: [null] }]);
    expect(scene.heard).toEqual([expect.stringMatching(/has acted.*\/list\/0.*\/note, of which JSON keeps nothing/u)]);
    expect(scene.heard[0]).toContain(what);
  });

  it('all of it lost is recorded as none', async () => {
    const scene = answering(new Response('paid'));
    expect(await scene.run()).toMatchObject({ kind: 'succeeded' });
    expect(toldOf(scene).results).toEqual([null]);
    expect(scene.heard).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['a member that throws', Object.defineProperty({}, 'a', { get: throwing, enumerable: true })],
    ['what throws while it says itself', { toJSON: throwing }],
    ['twenty thousand levels', Array.from({ length: 20_000 }).reduce<Json>((inner) => [inner], 1)],
    ['twenty thousand levels inside', { id: Array.from({ length: 20_000 }).reduce<Json>((inner) => [inner], 1) }],
  ])('%s has acted all the same: its outcome is told, with its handle', async (_, answer) => {
    for (const given of [
      answering(answer),
      answering(null, {
        tool: forwardTool(
          () => answer,
          () => 'rf_secret',
        ),
      }),
    ]) {
      expect(await given.run()).toMatchObject({ kind: 'succeeded' });
      expect(given.told()).toEqual(['planned', 'succeeded']);
      expect(given.producer.told.at(-1)).toMatchObject({
        outcome: { result: null, externalTransactionRef: 'rf_secret' },
      });
    }
  });

  it.each([
    ['an error that JSON keeps nothing of', { error: new Error('no') }, 'uncertain'],
    ['a status that fetch calls no success', new Response('', { status: 503 }), 'uncertain'],
    ['a status by which nothing was done', new Response('', { status: 422 }), 'failed'],
    ['a success of fetch', new Response('', { status: 201 }), 'succeeded'],
    ['a method called error', { id: 'rf_1', error: throwing }, 'succeeded'],
  ])('%s means what it says', async (_, answer, kind) => {
    expect(await answering(answer).run()).toMatchObject({ kind });
  });
});

describe('the handle of an answer', () => {
  it('is read off the very answer, whatever JSON keeps of it', async () => {
    const answer = new Response('', { headers: { location: 'rf_9' } });
    const { options, producer } = refund();
    const tool = forwardTool(
      () => answer,
      (given) => given.headers.get('location'),
    );
    expect(await guard(tool, options)(refundCall)).toMatchObject({ kind: 'succeeded' });
    expect(producer.told.at(-1)).toMatchObject({ outcome: { externalTransactionRef: 'rf_9' } });
  });
});

describe('before a call', () => {
  it.each(LOST)('a prior value with %s is none that could be put back: refused', async (_, note, what) => {
    const capturePriorValue = (): Promise<Json> => Promise.resolve({ note: note as Json });
    const scene = answering({}, { contract: { overwrites: true }, tool: { capturePriorValue } });
    expect(await scene.run()).toMatchObject({
      kind: 'refused',
      code: 'PRIOR_VALUE_MISSING',
      problems: [{ message: expect.stringContaining(what) }],
    });
    expect(scene.calls()).toBe(0);
  });

  it('a prior value and a dry run are recorded as JSON says them', async () => {
    const tool = {
      capturePriorValue: () => Promise.resolve({ since: AT } as unknown as Json),
      rehearse: () => Promise.resolve({ until: AT } as unknown as Json),
    };
    const contract = { overwrites: true, techniques: { dry_run_capability: 'payments.preview_refund' } };
    const scene = answering({}, { contract, tool });
    expect(await scene.run()).toMatchObject({ kind: 'succeeded' });
    const preparation = { priorValue: { since: AT.toJSON() }, rehearsal: { until: AT.toJSON() } };
    expect(scene.producer.told[0]).toMatchObject({ preparation });
  });

  it('a dry run that is not whole has failed', async () => {
    const tool = { rehearse: () => Promise.resolve({ rows: new Map() } as unknown as Json) };
    const scene = answering({}, { contract: { techniques: { dry_run_capability: 'payments.preview_refund' } }, tool });
    expect(await scene.run()).toMatchObject({ kind: 'refused', code: 'REHEARSAL_FAILED' });
  });
});
