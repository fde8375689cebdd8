// What only the memory broker can do: deaths, zombies, late packets and cut logs, each at a place the gate decides.
import { Failure } from '@recourse/kernel';
import { describe, expect, it } from '@jest/globals';
import { record, TestOwner, until } from '../testing/owner.testing.js';
import type { SendOutcome } from '../kafka.port.js';
import { MemoryBroker } from './broker.memory.js';
import { openGate } from './gate.memory.js';
import type { Gate, GateOperation, GateVerdict } from './gate.memory.js';

const LOG = 'a-log';
const WIRE = 'a-wire';

/** Holds every operation of some kinds until the spec lets it go with a verdict. */
class Turnstile implements Gate {
  readonly waiting: { readonly operation: GateOperation; go(verdict?: GateVerdict): void }[] = [];
  readonly left: { readonly operation: GateOperation; go(): void }[] = [];
  holdsAnswers = false;

  constructor(private readonly held: readonly GateOperation['kind'][]) {}

  enter(operation: GateOperation): Promise<GateVerdict> {
    if (!this.held.includes(operation.kind)) return openGate.enter(operation);
    return new Promise((resolve) => {
      this.waiting.push({
        operation,
        go: (verdict = 'proceed') => {
          resolve(verdict);
        },
      });
    });
  }

  leave(operation: GateOperation): Promise<void> {
    if (!this.holdsAnswers || !this.held.includes(operation.kind)) return Promise.resolve();
    return new Promise((resolve) => {
      this.left.push({ operation, go: resolve });
    });
  }

  async next(verdict?: GateVerdict): Promise<GateOperation> {
    await until('an operation waits', () => this.waiting.length > 0, 1_000);
    const [first] = this.waiting.splice(0, 1);
    first?.go(verdict);
    await settled();
    return first?.operation ?? { kind: 'append', actor: 'nobody' };
  }
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const brokerWith = (gate: Gate): MemoryBroker => {
  const broker = new MemoryBroker({ gate, now: () => 0 });
  broker.ensureTopics([
    { name: LOG, partitions: 1 },
    { name: WIRE, partitions: 4 },
  ]);
  return broker;
};
const valuesIn = (broker: MemoryBroker, topic: string, partition = 0): string[] =>
  (broker.dump()[topic]?.[partition] ?? []).map(({ value }) => String(value));
const wasAnswered = async (promise: Promise<unknown>): Promise<boolean> => {
  let answered = false;
  void promise.finally(() => {
    answered = true;
  });
  await settled();
  return answered;
};
const owner = (broker: MemoryBroker, actor: string, cursors: Map<string, number>): Promise<TestOwner> =>
  new TestOwner({ groupId: 'a-group', aligned: [WIRE], broadcast: [] }, 0, cursors).startOn(broker.forActor(actor));

describe('an append', () => {
  it.each<[GateVerdict, SendOutcome['kind'], number]>([
    ['proceed', 'landed', 1],
    ['fail', 'unknown', 0],
    ['lose_ack', 'unknown', 1],
    ['late', 'unknown', 0],
    ['duplicate', 'landed', 2],
  ])('that the gate lets go with %s is %s, and the log has %i of it', async (verdict, kind, count) => {
    const gate = new Turnstile(['append']);
    const broker = brokerWith(gate);
    const producer = await broker.forActor('owner').logProducer();
    const outcome = producer.send(LOG, 0, [record('a')]);
    expect(await gate.next(verdict)).toEqual({ kind: 'append', actor: 'owner', topic: LOG, partition: 0, count: 1 });
    expect((await outcome).kind).toBe(kind);
    expect(valuesIn(broker, LOG)).toHaveLength(count);
  });

  it('that is late lands when released, once, behind what came before it, though its sender is dead', async () => {
    const gate = new Turnstile(['append']);
    const broker = brokerWith(gate);
    const zombie = await broker.forActor('zombie').logProducer();
    void zombie.send(LOG, 0, [record('late'), record('later')]);
    await gate.next('late');
    broker.crash('zombie');
    const owner = await broker.forActor('owner').logProducer();
    void owner.send(LOG, 0, [record('a')]);
    await gate.next();
    const [packet] = broker.pendingLate;
    expect(packet).toMatchObject({ actor: 'zombie', topic: LOG, partition: 0, count: 2 });
    expect(packet?.release()).toBe(1);
    expect(() => packet?.release()).toThrow('landed already');
    expect([valuesIn(broker, LOG), broker.pendingLate]).toEqual([['a', 'late', 'later'], []]);
  });

  it('of an actor that dies before it has no effect and no answer', async () => {
    const gate = new Turnstile(['append']);
    const broker = brokerWith(gate);
    const producer = await broker.forActor('owner').logProducer();
    const outcome = producer.send(LOG, 0, [record('a')]);
    await settled();
    broker.crash('owner');
    await gate.next();
    expect([await wasAnswered(outcome), valuesIn(broker, LOG)]).toEqual([false, []]);
    expect(await wasAnswered(producer.send(LOG, 0, [record('b')]))).toBe(false);
  });

  it('of an actor that dies after it has an effect and no answer', async () => {
    const gate = new Turnstile(['append']);
    gate.holdsAnswers = true;
    const broker = brokerWith(gate);
    const producer = await broker.forActor('owner').logProducer();
    const outcome = producer.send(LOG, 0, [record('a')]);
    await gate.next();
    broker.crash('owner');
    gate.left[0]?.go();
    expect([await wasAnswered(outcome), valuesIn(broker, LOG)]).toEqual([false, ['a']]);
  });

  it('of the next incarnation goes through', async () => {
    const broker = brokerWith(openGate);
    broker.forActor('owner');
    broker.crash('owner');
    const producer = await broker.forActor('owner').logProducer();
    expect(await producer.send(LOG, 0, [record('a')])).toEqual({ kind: 'landed', baseOffset: 0 });
  });
});

describe('a wire send', () => {
  it.each<[GateVerdict, string, number]>([
    ['fail', 'BROKER_UNAVAILABLE', 0],
    ['lose_ack', 'BROKER_UNAVAILABLE', 1],
    ['late', 'BROKER_UNAVAILABLE', 0],
    ['duplicate', 'sent', 2],
  ])('that the gate lets go with %s ends as %s, with %i in the topic', async (verdict, ending, count) => {
    const gate = new Turnstile(['wire']);
    const broker = brokerWith(gate);
    const producer = await broker.forActor('edge').wireProducer();
    const sent = producer.send(WIRE, [record('foobar')]).then(
      () => 'sent',
      (error: unknown) => (error instanceof Failure ? error.code : error),
    );
    const { partition = 0 } = await gate.next(verdict);
    expect(await sent).toBe(ending);
    expect(valuesIn(broker, WIRE, partition)).toHaveLength(count);
  });
});

describe('a group', () => {
  it('counts on a dead member until its session ends', async () => {
    const broker = brokerWith(openGate);
    const cursors = new Map<string, number>();
    const one = await owner(broker, 'one', cursors);
    const two = await owner(broker, 'two', cursors);
    await until('both have half', () => one.partitions.length === 2 && two.partitions.length === 2);
    broker.crash('two');
    await settled();
    expect(one.partitions).toHaveLength(2);
    broker.expireMember('two');
    await until('the other has all', () => one.partitions.length === 4);
  });

  it('forgets a dead member when somebody joins', async () => {
    const broker = brokerWith(openGate);
    const cursors = new Map<string, number>();
    await owner(broker, 'one', cursors);
    broker.crash('one');
    const two = await owner(broker, 'two', cursors);
    await until('the new one has all', () => two.partitions.length === 4);
  });

  it('has two owners of a partition while one of them does not know that it was evicted', async () => {
    const broker = brokerWith(openGate);
    const zombie = await owner(broker, 'zombie', new Map());
    const other = await owner(broker, 'other', new Map());
    await until('both have half', () => zombie.partitions.length === 2 && other.partitions.length === 2);
    broker.evict('zombie');
    await until('the other has all', () => other.partitions.length === 4);
    await (
      await broker.forActor('edge').wireProducer()
    ).send(
      WIRE,
      Array.from({ length: 40 }, (_, index) => record(`key-${String(index)}`)),
    );
    await until('both got theirs', () => other.taken.length === 40 && zombie.taken.length > 0);
    expect(zombie.partitions).toHaveLength(2);
    broker.rejoin('zombie');
    await until('it is a member again', () => zombie.assignments.length === 3 && other.partitions.length === 2);
  });

  it('tells each member of its share when the gate lets it, and only of the newest', async () => {
    const gate = new Turnstile(['assign']);
    const broker = brokerWith(gate);
    const one = await owner(broker, 'one', new Map());
    const two = await owner(broker, 'two', new Map());
    await until('all are under way', () => gate.waiting.length === 3);
    while (gate.waiting.length > 0) await gate.next();
    expect([one.assignments, two.assignments]).toEqual([
      [{ partitions: [0, 1], generation: 1 }],
      [{ partitions: [2, 3], generation: 1 }],
    ]);
  });
});

describe('a batch under way', () => {
  it('arrives after a seek as what it is: one that starts elsewhere', async () => {
    const gate = new Turnstile(['deliver']);
    const broker = brokerWith(gate);
    const one = await owner(broker, 'one', new Map());
    await (await broker.forActor('edge').wireProducer()).send(WIRE, [record('k', 'a'), record('k', 'b')]);
    await until('it is under way', () => gate.waiting.length === 1);
    const { partition = 0 } = gate.waiting[0]?.operation ?? {};
    one.seek(WIRE, partition, 1);
    await gate.next();
    expect([one.dropped, one.taken]).toEqual([1, []]);
    await gate.next();
    expect(one.taken.map(({ value }) => value)).toEqual(['b']);
  });

  it('does not arrive after a rejoin', async () => {
    const gate = new Turnstile(['deliver']);
    const broker = brokerWith(gate);
    const one = await owner(broker, 'one', new Map());
    await (await broker.forActor('edge').wireProducer()).send(WIRE, [record('k', 'a')]);
    await until('it is under way', () => gate.waiting.length === 1);
    await owner(broker, 'two', new Map());
    await until('it rejoined', () => one.assignments.length === 2);
    await gate.next();
    expect([one.dropped, one.taken]).toEqual([0, []]);
  });

  it('comes in the order the gate picks among partitions', async () => {
    const gate = new Turnstile(['deliver']);
    const broker = brokerWith(gate);
    const one = await owner(broker, 'one', new Map());
    await (
      await broker.forActor('edge').wireProducer()
    ).send(
      WIRE,
      Array.from({ length: 20 }, (_, index) => record(`key-${String(index)}`)),
    );
    await until('all are under way', () => gate.waiting.length === 4);
    const order = [...gate.waiting].reverse().map(({ operation }) => `${WIRE}/${String(operation.partition)}`);
    for (const delivery of gate.waiting.splice(0).reverse()) {
      delivery.go();
      await settled();
    }
    expect([...new Set(one.taken.map(({ at }) => at))]).toEqual(order);
  });
});

describe('a cut log', () => {
  it('gives out smaller offsets than before', async () => {
    const broker = brokerWith(openGate);
    const producer = await broker.forActor('owner').logProducer();
    await producer.send(LOG, 0, [record('a'), record('b'), record('c')]);
    broker.truncate(LOG, 0, 1);
    expect(await producer.send(LOG, 0, [record('d')])).toEqual({ kind: 'landed', baseOffset: 1 });
    expect(valuesIn(broker, LOG)).toEqual(['a', 'd']);
  });

  it('ends a consumer that stood behind the cut', async () => {
    const broker = brokerWith(openGate);
    await (await broker.forActor('edge').wireProducer()).send(WIRE, [record('k', 'a'), record('k', 'b')]);
    const one = await owner(broker, 'one', new Map());
    await until('it has both', () => one.taken.length === 2);
    for (const partition of [0, 1, 2, 3]) broker.truncate(WIRE, partition, 1);
    expect(one.crashes).toMatchObject([{ code: 'CURSOR_OUT_OF_RANGE' }]);
  });
});
