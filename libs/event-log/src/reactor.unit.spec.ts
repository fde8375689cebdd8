import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryBroker } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { LoopWorld } from './loop.testing.js';
import { Reactor } from './reactor.js';
import type { RawMessage } from './reactor.js';

const TOPIC = 'recourse.tool-requests.payments';
const OTHER = 'recourse.tool-requests.tickets';
const NOWHERE = 'recourse.tool-requests.nobody';
const message = (topic: string, value: string): RawMessage => ({
  obligationId: 'o-1',
  topic,
  key: 'run-1',
  value: Buffer.from(value),
  keyId: null,
  headers: {},
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !holds(); turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  if (!holds()) throw new Error('never so');
}

let reactor: Reactor;
let broker: MemoryBroker;
let isTimeStopped = false;
/** Producer sends, each `topic: values`; what they wait for. */
const sends: string[] = [];
let gate: (topic: string) => Promise<void>;
const waits: number[] = [];
const errors: unknown[] = [];
const sentTo = (topic: string): readonly string[] =>
  (broker.dump()[topic]?.[0] ?? []).map(({ value }) => String(value));

beforeEach(() => {
  for (const list of [waits, errors, sends]) list.length = 0;
  gate = () => Promise.resolve();
  isTimeStopped = false;
  broker = new MemoryBroker({});
  broker.ensureTopics([TOPIC, OTHER].map((name) => ({ name, partitions: 1 })));
  let at = 0;
  const clock = {
    now: () => 0,
    monotonic: () => at,
    alarm: () => () => undefined,
    sleep: (ms: number, signal?: AbortSignal) => {
      if (ms < 60_000 && !isTimeStopped) {
        waits.push(ms);
        at += ms;
        return new Promise<void>((resolve) => setImmediate(resolve));
      }
      return new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => {
          resolve();
        });
      });
    },
  };
  const kafka = broker.forActor('spec');
  const watched: Kafka = {
    ...kafka,
    wireProducer: async () => {
      const producer = await kafka.wireProducer();
      return {
        send: async (topic, records) => {
          sends.push(`${topic}: ${records.map(({ value }) => String(value)).join(' ')}`);
          await gate(topic);
          await producer.send(topic, records);
        },
        close: () => producer.close(),
      };
    },
  };
  reactor = new Reactor({
    kafka: watched,
    codecs: new LoopWorld().codecs,
    clock,
    onError: (cause) => {
      errors.push(cause);
    },
  });
  reactor.start();
});
afterEach(() => reactor.stop());

describe('what is owed at a time', () => {
  it('leaves in one round, one send for each topic, in the order in which it came to be owed', async () => {
    reactor.owe([
      { seq: 1, messages: [message(TOPIC, 'a'), message(OTHER, 'b')] },
      { seq: 2, messages: [] },
      { seq: 3, messages: [message(TOPIC, 'c'), message(TOPIC, 'd')] },
    ]);
    await until(() => reactor.reactedSeq === 3);
    expect(sends.toSorted()).toEqual([`${TOPIC}: a c d`, `${OTHER}: b`]);
  });

  it('is sent in parts that fit a request, in order', async () => {
    const large = 'x'.repeat(500_000);
    reactor.owe([{ seq: 1, messages: ['1', '2', '3'].map((at) => message(TOPIC, at + large)) }]);
    await until(() => reactor.reactedSeq === 1);
    expect(sends).toHaveLength(3);
    expect(sentTo(TOPIC).map((value) => value[0])).toEqual(['1', '2', '3']);
  });

  it('waits for what is under way, and goes with all that came to be owed meanwhile', async () => {
    let pass = (): void => undefined;
    gate = () => new Promise((resolve) => (pass = resolve));
    reactor.owe([{ seq: 1, messages: [message(TOPIC, 'a')] }]);
    await until(() => sends.length === 1);
    reactor.owe([2, 3].map((seq) => ({ seq, messages: [message(TOPIC, String(seq))] })));
    gate = () => Promise.resolve();
    pass();
    await until(() => reactor.reactedSeq === 3);
    expect(sends).toEqual([`${TOPIC}: a`, `${TOPIC}: 2 3`]);
  });

  it('is not sent after a reset, the rest of a round included: it will be owed again', async () => {
    const large = 'x'.repeat(500_000);
    let pass = (): void => undefined;
    gate = () => new Promise((resolve) => (pass = resolve));
    reactor.owe([{ seq: 1, messages: ['1', '2'].map((at) => message(TOPIC, at + large)) }]);
    await until(() => sends.length === 1);
    reactor.reset(0);
    gate = () => Promise.resolve();
    pass();
    reactor.owe([{ seq: 2, messages: [message(OTHER, 'new')] }]);
    await until(() => reactor.reactedSeq === 2);
    expect(sentTo(TOPIC).map((value) => value[0])).toEqual(['1']);
  });

  it('is sent again when its send fails, and only that', async () => {
    gate = (topic) => (topic === OTHER ? Promise.reject(new Failure('BROKER_UNAVAILABLE', 'down')) : Promise.resolve());
    reactor.owe([{ seq: 1, messages: [message(TOPIC, 'a'), message(OTHER, 'b')] }]);
    await until(() => errors.length === 1);
    expect(reactor.reactedSeq).toBe(0);
    gate = () => Promise.resolve();
    await until(() => reactor.reactedSeq === 1);
    expect([sentTo(TOPIC), sentTo(OTHER)]).toEqual([['a'], ['b']]);
  });
});

describe('a message for which there is no topic', () => {
  it('holds up no other while it is tried again', async () => {
    isTimeStopped = true;
    reactor.owe([{ seq: 1, messages: [message(NOWHERE, 'lost')] }]);
    await until(() => sends.length === 1);
    reactor.owe([{ seq: 2, messages: [message(TOPIC, 'sent')] }]);
    await until(() => sentTo(TOPIC).length === 1);
    expect([sends.length, reactor.reactedSeq, errors]).toEqual([2, 0, []]);
  });

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

  it('counts its tries anew where somebody answered for the topic in between', async () => {
    let asked = 0;
    gate = () => {
      asked += 1;
      if (asked > 12) return Promise.resolve();
      const code = asked % 4 === 0 ? 'BROKER_UNAVAILABLE' : 'TOPIC_MISSING';
      return Promise.reject(new Failure(code, TOPIC));
    };
    reactor.owe([{ seq: 1, messages: [message(TOPIC, 'kept')] }]);
    await until(() => reactor.reactedSeq === 1);
    expect(sentTo(TOPIC)).toEqual(['kept']);
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
