// Whatever a tool throws, or answers, its call is told of.
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { forwardTool } from '../connect/typed-tool.js';
import { refund } from '../guard/guard.testing.js';
import { failureOf } from '../worker/tool-failure.js';
import { runLeg } from '../worker/leg-runner.js';
import { legOf, legStep } from '../worker/legs.testing.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import { wordsOf } from './thrown.js';
import { ToolRejected } from './tool.js';

const hostile = (): never => {
  throw new Error('a getter throws');
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const circular: { id: string; self?: unknown } = { id: 'rf_1' };
circular.self = circular;

const THROWN: readonly (readonly [string, unknown])[] = [
  ['a text', 'no'],
  ['nothing', undefined],
  ['a symbol', Symbol('no')],
  ['an object without a prototype', Object.create(null)],
  ['an error whose message throws', Object.defineProperty(new Error('m'), 'message', { get: hostile })],
  ['an object whose members throw', new Proxy({}, { get: hostile })],
  ['a proxy that was revoked', revoked.proxy],
  ['an error that is its own cause', Object.assign(new Error('round'), { cause: circular })],
];

/** A tool may be written in JavaScript, which throws anything. */
const throwing = (thrown: unknown) => (): Promise<Json> => {
  const { promise, reject } = Promise.withResolvers<Json>();
  reject(thrown);
  return promise;
};

/** Refusals of a tool without types: what it says of itself is no text, or cannot be read. */
const REFUSED: readonly (readonly [string, unknown])[] = [
  ['no code', new ToolRejected(undefined as never, 'no')],
  ['a status for a code', new ToolRejected(422 as never, 'no')],
  ['a code that throws', Object.defineProperty(new ToolRejected('A', 'no'), 'kind', { get: hostile })],
  ['words that throw', Object.defineProperty(new ToolRejected('A', 'no'), 'message', { get: hostile })],
  ['a code without words', new ToolRejected(Object.create(null) as never, 'no')],
];

/** Steps of a leg whose reversal throws this. */
async function stepsThrowing(thrown: unknown): Promise<Awaited<ReturnType<typeof runLeg>>['steps']> {
  const parts = {
    clock: new ManualClock(1_000),
    claimStore: new MemoryClaimStore(),
    callTimeoutMs: 500,
    workerId: 'w',
  };
  const tools = {
    'payments.get_refund': () => Promise.resolve({ status: 'settled' }),
    'payments.reverse_refund': throwing(thrown),
  };
  return (await runLeg(legOf({ steps: [legStep()] }), { ...parts, tools })).steps;
}

describe('a tool that says that nothing happened, with', () => {
  it.each(REFUSED)('%s, is believed, and its call is told of as failed', async (_, thrown) => {
    const { run, told } = refund({ tool: { execute: throwing(thrown) } });
    expect(await run()).toMatchObject({ kind: 'failed', error_kind: 'REJECTED' });
    expect(told()).toEqual(['planned', 'failed']);
  });

  it.each(REFUSED)('%s, ends the step of its worker as not done', async (_, thrown) => {
    const steps = await stepsThrowing(thrown);
    expect(steps).toMatchObject([{ outcome: 'failed', error_kind: 'TOOL_REJECTED' }]);
  });
});

describe('a tool that throws', () => {
  it.each(THROWN)('%s has acted or not, and its call is told of as uncertain', async (_, thrown) => {
    const { run, told, troubles } = refund({ tool: { execute: throwing(thrown) } });
    expect(await run()).toMatchObject({ kind: 'uncertain', error_kind: 'UNKNOWN' });
    expect([told(), troubles]).toEqual([['planned', 'uncertain'], ['TOOL_UNCERTAIN']]);
  });

  it.each(THROWN)('%s ends the step of its worker as nobody knows', async (_, thrown) => {
    const steps = await stepsThrowing(thrown);
    expect(steps).toMatchObject([{ outcome: 'unknown', error_kind: 'TOOL_ERROR' }]);
    expect(failureOf(thrown, 'release')).toBe('TOOL_ERROR');
  });

  it('what has words is told by them', () => {
    expect([wordsOf(new Error('so')), wordsOf('so'), wordsOf(7), wordsOf(Object.create(null))]).toEqual([
      'so',
      'so',
      '7',
      'it threw what has no words',
    ]);
  });
});

it.each([
  ['fails', { execute: throwing(new Error('no')) }, 'uncertain'],
  ['gives a handle that is none', { externalTransactionRef: () => ({}) as never }, 'succeeded'],
  ['answers with what is no record', { execute: () => Promise.resolve(circular as never) }, 'succeeded'],
])('a call whose listener of trouble throws is told of where its tool %s', async (_, tool, outcome) => {
  const { run, told } = refund({ tool, options: { onTrouble: hostile } });
  expect(await run()).toMatchObject({ kind: outcome });
  expect(told()).toEqual(['planned', outcome]);
});

describe('a tool that answers with', () => {
  const answering = (answer: unknown) => {
    const heard: string[] = [];
    const onTrouble = ({ problems }: { readonly problems: readonly { readonly message: string }[] }): void => {
      heard.push(...problems.map(({ message }) => message));
    };
    const handle = (value: { readonly id: string }): string => value.id;
    const tool = forwardTool(() => answer as { readonly id: string }, handle);
    return { heard, ...refund({ tool, options: { onTrouble } }) };
  };

  it('what goes round in circles has acted: it is told as done, with its handle and without its answer', async () => {
    const { run, told, producer, heard } = answering(circular);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(told()).toEqual(['planned', 'succeeded']);
    expect(producer.told.at(-1)).toMatchObject({ outcome: { externalTransactionRef: 'rf_1', result: null } });
    expect(heard).toEqual([expect.stringContaining('it goes round in circles')]);
  });

  it.each([
    ['a map', new Map([['a', 1]]), 'a Map'],
    ['a set', new Set([1]), 'a Set'],
    ['a promise', Promise.resolve(1), 'a promise'],
  ])('%s inside says that nothing of it is kept', async (_, inside, what) => {
    const { run, heard } = answering({ id: 'rf_1', inside });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(heard).toEqual([expect.stringContaining(`the tool answered with ${what}`)]);
  });
});
