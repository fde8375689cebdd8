// A tool has acted, whatever it says of its handle: the outcome is told, and whoever wrote the tool hears what is wrong.
import { describe, expect, it } from '@jest/globals';
import type { ForwardTool, GuardTrouble } from './guard.messages.js';
import { refund } from './guard.testing.js';

type Read = NonNullable<ForwardTool['externalTransactionRef']>;

/** Runs a refund whose tool reads its handle so; `read` gives what no type would let it. */
async function refundedWith(read: (result: unknown) => unknown) {
  const heard: GuardTrouble[] = [];
  const scene = refund({
    tool: { externalTransactionRef: read as Read },
    options: { onTrouble: (trouble) => heard.push(trouble) },
  });
  const answer = await scene.run();
  const executed = scene.producer.told.find(({ type }) => type === 'ToolExecuted');
  if (executed?.type !== 'ToolExecuted') throw new Error('no outcome was told');
  const { outcome, externalTransactionRef } = executed.outcome;
  return { kind: answer.kind, outcome, handle: externalTransactionRef, heard };
}

describe('a handle', () => {
  it.each([
    ['a text', 'rf_1', 'rf_1'],
    ['a number', 4711, '4711'],
    ['a big number', 9_007_199_254_740_993n, '9007199254740993'],
    ['none', null, null],
    ['nothing', undefined, null],
  ])('that is %s is told as a text, or not at all', async (_what, given, told) => {
    expect(await refundedWith(() => given)).toEqual({
      kind: 'succeeded',
      outcome: 'succeeded',
      handle: told,
      heard: [],
    });
  });

  it.each([
    ['a list', () => ['rf_1'], 'externalTransactionRef gave a list; return the handle as a text'],
    ['an object', () => ({ id: 1 }), 'externalTransactionRef gave an object; return the handle as a text'],
    ['no whole number', () => 0.5, 'externalTransactionRef gave a number; return the handle as a text'],
    [
      'an error',
      () => {
        throw new TypeError('refund is undefined');
      },
      'externalTransactionRef threw: refund is undefined',
    ],
  ])('that is %s is none: the effect is told without it, and what is wrong is heard', async (_what, read, problem) => {
    const { kind, outcome, handle, heard } = await refundedWith(read);
    expect([kind, outcome, handle]).toEqual(['succeeded', 'succeeded', null]);
    expect(heard).toMatchObject([
      { code: 'HANDLE_UNREADABLE', problems: [{ message: expect.stringContaining(problem) }] },
    ]);
  });
});

describe('a call whose end nobody knows', () => {
  it('is heard of in the words of its tool, which its agent is not told', async () => {
    const heard: GuardTrouble[] = [];
    const scene = refund({
      tool: { execute: () => Promise.reject(new Error('ETIMEDOUT shop')) },
      options: { onTrouble: (trouble) => heard.push(trouble) },
    });
    const answer = await scene.run();
    expect(heard).toMatchObject([
      { code: 'TOOL_UNCERTAIN', problems: [{ message: 'UNKNOWN: Error: ETIMEDOUT shop' }] },
    ]);
    expect([answer.kind, JSON.stringify(answer).includes('ETIMEDOUT')]).toEqual(['uncertain', false]);
  });
});
