// What is held and staged at the provider, where nobody can say whether its intent was told, or another call of the effect has told it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import type { ContractDraft } from '@recourse/contract';
import { MemoryProducer } from '../producer/producer.memory.js';
import type { Budget } from './budget.port.js';
import type { ForwardTool, GuardOptions } from './guard.messages.js';
import { refund, refundCall } from './guard.testing.js';

const RESERVES: ContractDraft = {
  commit_hold_ms: 60_000,
  cancel_capability: 'payments.cancel_refund',
  techniques: { reservation: true },
};

/** A refund that is staged; everything that is given back is heard. */
function scene({ tool = {}, options = {} }: { tool?: Partial<ForwardTool>; options?: Partial<GuardOptions> } = {}) {
  const heard: string[] = [];
  const budget: Budget = {
    reserve: () => Promise.resolve({ kind: 'reserved', reservationId: 'res_1' }),
    release: () => {
      heard.push('released');
      return Promise.resolve('released');
    },
  };
  const made = refund({
    contract: RESERVES,
    options: { budget, ...options },
    tool: {
      stage: () => Promise.resolve('hold_9'),
      unstage: (_, { stagedRef }) => {
        heard.push(`unstaged ${String(stagedRef)}`);
        return Promise.resolve();
      },
      ...tool,
    },
  });
  return { ...made, heard };
}

/** A producer whose broker takes an intent, and whose answer is another. */
function answering(thrown: Error): MemoryProducer {
  const producer = new MemoryProducer();
  producer.toolPlanned = () => Promise.reject(thrown);
  return producer;
}

describe('a held effect whose intent', () => {
  it('may have been told is uncertain, and keeps what it holds: the ledger lets it go', async () => {
    const producer = answering(new Failure('BROKER_UNAVAILABLE', 'no answer within 5000 ms'));
    const { run, heard, troubles } = scene({ options: { producer } });
    const answer = await run();
    expect(answer).toMatchObject({ kind: 'uncertain', error_kind: 'RECONCILIATION_PENDING' });
    expect(answer.mutation_refs).toEqual([expect.stringMatching(/^mut_/u)]);
    expect([heard, troubles]).toEqual([[], ['INTENT_NOT_PUBLISHED']]);
  });

  it.each(['RECORD_UNFIT', 'RECORD_TOO_LARGE', 'KEY_NOT_BELIEVED'] as const)(
    'was certainly not told is refused, and gives back what it holds: %s',
    async (code) => {
      const { run, heard } = scene({ options: { producer: answering(new Failure(code, 'it is not sent')) } });
      expect(await run()).toMatchObject({ kind: 'refused', code: 'INTENT_NOT_PUBLISHED', mutation_refs: [] });
      expect(heard).toEqual(['unstaged hold_9', 'released']);
    },
  );

  it('was never begun is refused too: what its release stands for could not be told', async () => {
    const producer = new MemoryProducer();
    producer.assumptionDeclared = () => Promise.reject(new Failure('BROKER_UNAVAILABLE', 'no answer'));
    const release = { prompt: 'p3', model: 'm2', policy: 'b', tools: 't', context: 'c', eval: 'e', memory: 'm' };
    const { run, heard } = scene({ options: { producer } });
    expect(await run({ run: { ...refundCall.run, release } })).toMatchObject({ kind: 'refused' });
    expect(heard).toEqual(['unstaged hold_9', 'released']);
  });
});

describe('two calls of one effect, of which the first is called off,', () => {
  /** The first call stages until `gate` is open; `asking` is what the second waits for before it is told. */
  function twins(more: Partial<GuardOptions> = {}) {
    const gate = Promise.withResolvers<null>();
    const stop = new AbortController();
    let staged = 0;
    const stage = async (): Promise<string> => {
      staged += 1;
      if (staged === 1) await gate.promise;
      return 'hold_9';
    };
    const { run, ...rest } = scene({ tool: { stage }, options: more });
    const begin = async () => {
      const first = run({ signal: stop.signal });
      for (let turn = 0; turn < 10; turn += 1) await nextTurn();
      stop.abort();
      return first;
    };
    return { ...rest, run, begin, open: () => gate.resolve(null) };
  }

  it.each([
    ['under a budget', {}],
    ['without one', { budget: undefined } as unknown as Partial<GuardOptions>],
  ])('keep what the second has told of: %s', async (_, more) => {
    const { run, begin, open, heard, told } = twins(more);
    const first = begin();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(await run()).toMatchObject({ kind: 'held' });
    open();
    expect(await first).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect([heard, told()]).toEqual([[], ['planned']]);
  });

  it('keep what the second is about to tell of, and say that it is left', async () => {
    const telling = Promise.withResolvers<null>();
    const producer = new MemoryProducer();
    const planned = producer.toolPlanned.bind(producer);
    producer.toolPlanned = async (...intent) => {
      await telling.promise;
      return planned(...intent);
    };
    const { run, begin, open, heard, troubles } = twins({ producer });
    const first = begin();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    const second = run();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    open();
    expect(await first).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    telling.resolve(null);
    expect(await second).toMatchObject({ kind: 'held' });
    expect([heard, troubles]).toEqual([[], ['STAGED_LEFT']]);
  });

  it('give back what they held once both have ended without effect', async () => {
    const { run, begin, open, heard } = twins({
      producer: answering(new Failure('KEY_NOT_BELIEVED', 'it is not sent')),
    });
    const first = begin();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(await run()).toMatchObject({ kind: 'refused' });
    open();
    expect(await first).toMatchObject({ kind: 'refused', code: 'CALLED_OFF' });
    expect(heard).toEqual(['unstaged hold_9', 'released']);
  });
});
