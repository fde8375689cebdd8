// A tool has acted, whatever it says of its handle: the outcome is told, and whoever wrote the tool hears what is wrong.
import { describe, expect, it } from '@jest/globals';
import type { ContractDraft } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { ForwardTool, GuardTrouble } from './guard.messages.js';
import { guard } from './guard.js';
import { refund, refundCall } from './guard.testing.js';

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
    ['an id of a class of its own', { toJSON: () => '65f0' }, '65f0'],
    ['an address', new URL('https://bank.example/refunds/7'), 'https://bank.example/refunds/7'],
  ])('that is %s is told as a text', async (_what, given, told) => {
    expect(await refundedWith(() => given)).toEqual({
      kind: 'succeeded',
      outcome: 'succeeded',
      handle: told,
      heard: [],
    });
  });

  it('is read off what JSON says of an answer where the answer itself has none', async () => {
    const scene = refund({
      tool: {
        execute: () => Promise.resolve({ toJSON: () => ({ refund_id: 'rf_9', status: 'done' }) } as never),
        externalTransactionRef: (result) => (result as { readonly refund_id?: string }).refund_id ?? null,
      },
    });
    await scene.run();
    const executed = scene.producer.told.find(({ type }) => type === 'ToolExecuted');
    expect(executed).toMatchObject({ outcome: { externalTransactionRef: 'rf_9' } });
  });

  it.each([
    ['null', null],
    ['undefined', undefined],
  ])('that is %s is none, and what is undone by it cannot be', async (_what, given) => {
    const { kind, outcome, handle, heard } = await refundedWith(() => given);
    expect([kind, outcome, handle]).toEqual(['succeeded', 'succeeded', null]);
    expect(heard.map(({ code }) => code)).toEqual(['HANDLE_INCOMPLETE']);
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
      { code: 'HANDLE_INCOMPLETE' },
    ]);
  });
});

describe('an effect whose undo lacks something', () => {
  const BOUND: ContractDraft = {
    result_schema: {
      type: 'object',
      properties: { refund: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
      required: ['refund'],
    },
    reversal_args: { refund_id: { from: 'external_ref' }, refund: { from: 'result', path: '/refund/id' } },
  };
  const heardOf = async (result: unknown, handle: string | null = 'rf_1') => {
    const heard: GuardTrouble[] = [];
    const scene = refund({
      contract: BOUND,
      // What no type would let it answer.
      tool: { execute: () => Promise.resolve(result as Json), externalTransactionRef: () => handle },
      options: { onTrouble: (trouble) => heard.push(trouble) },
    });
    const { kind } = await scene.run();
    return [kind, ...heard.map(({ code, problems }) => `${code} ${problems[0]?.message ?? ''}`)];
  };

  it.each([
    ['another shape', { refund: 'rf_1' }],
    ['nothing', undefined],
    ['a text', 'rf_1'],
  ])('is told, and what it lacks is heard while its writer looks: the tool answered %s', async (_what, result) => {
    expect(await heardOf(result)).toEqual([
      'succeeded',
      expect.stringMatching(/^HANDLE_INCOMPLETE .*was not captured: result\/refund\/id\. Undoing it/u),
    ]);
  });

  it('is told, and nothing is heard, where all is there', async () => {
    expect(await heardOf({ refund: { id: 'rf_1' } })).toEqual(['succeeded']);
  });

  it('is heard of where a contract needs the handle, and the tool gives none', async () => {
    expect(await heardOf({ refund: { id: 'rf_1' } }, null)).toEqual([
      'succeeded',
      expect.stringContaining('was not captured: external_transaction_ref.'),
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

  it('is read by a tool of a class as one of its own methods', async () => {
    class Refunds implements ForwardTool {
      private readonly member = 'refund_id';
      execute(): Promise<Json> {
        return Promise.resolve({ refund_id: 'rf_9' });
      }
      externalTransactionRef(result: Json): string | null {
        return (result as Readonly<Record<string, string>>)[this.member] ?? null;
      }
    }
    const { options, producer, troubles } = refund();
    await guard(new Refunds(), options)(refundCall);
    expect(producer.told.at(-1)).toMatchObject({ outcome: { externalTransactionRef: 'rf_9' } });
    expect(troubles).toEqual([]);
  });
});
