import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryBroker } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { LoopWorld } from './loop.testing.js';
import { Reactor } from './reactor.js';
import type { RawMessage } from './reactor.js';

const TOPIC = 'recourse.tool-requests.payments';
const NOWHERE = 'recourse.tool-requests.nobody';
const message = (topic: string, value: string): RawMessage => ({
  topic,
  key: 'run-1',
  value: Buffer.from(value),
  keyId: null,
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !holds(); turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  if (!holds()) throw new Error('never so');
}

describe('a message for which there is no topic', () => {
  let reactor: Reactor;
  let broker: MemoryBroker;
  const waits: number[] = [];
  const errors: unknown[] = [];
  const sentTo = (topic: string): readonly string[] =>
    (broker.dump()[topic]?.[0] ?? []).map(({ value }) => String(value));

  beforeEach(() => {
    waits.length = 0;
    errors.length = 0;
    broker = new MemoryBroker({});
    broker.ensureTopics([{ name: TOPIC, partitions: 1 }]);
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      alarm: () => () => undefined,
      sleep: (ms: number, signal?: AbortSignal) => {
        if (ms < 60_000) {
          waits.push(ms);
          return Promise.resolve();
        }
        return new Promise<void>((resolve) => {
          signal?.addEventListener('abort', () => {
            resolve();
          });
        });
      },
    };
    reactor = new Reactor({
      kafka: broker.forActor('spec'),
      codecs: new LoopWorld().codecs,
      clock,
      onError: (cause) => {
        errors.push(cause);
      },
    });
    reactor.start();
  });
  afterEach(() => reactor.stop());

  it('is lost after some tries, said aloud, and those behind it are sent', async () => {
    reactor.owe([
      { seq: 1, messages: [message(NOWHERE, 'lost')] },
      { seq: 2, messages: [message(TOPIC, 'sent')] },
    ]);
    await until(() => reactor.reactedSeq === 2);
    expect(sentTo(TOPIC)).toEqual(['sent']);
    expect(errors).toEqual([
      expect.objectContaining({ code: 'TOPIC_MISSING', message: expect.stringContaining(NOWHERE) }),
    ]);
    expect(waits).toHaveLength(7);
  });

  it('costs one try once its topic is known to be missing', async () => {
    reactor.owe([{ seq: 1, messages: [message(NOWHERE, 'one')] }]);
    await until(() => reactor.reactedSeq === 1);
    waits.length = 0;
    reactor.owe([{ seq: 2, messages: [message(NOWHERE, 'two')] }]);
    await until(() => reactor.reactedSeq === 2);
    expect(waits).toEqual([]);
  });

  it('is sent when the topic comes while it is tried', async () => {
    reactor.owe([{ seq: 1, messages: [message(NOWHERE, 'in time')] }]);
    broker.ensureTopics([{ name: NOWHERE, partitions: 1 }]);
    await until(() => reactor.reactedSeq === 1);
    expect(sentTo(NOWHERE)).toEqual(['in time']);
    expect(errors.filter((cause) => cause instanceof Failure)).toEqual([]);
  });
});
