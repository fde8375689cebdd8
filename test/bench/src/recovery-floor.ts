// Raw floor of one recovery: its named hops and appends one after the other, kafkajs alone between two processes.
//
// A hop is a record that the other process consumes before it goes on; an append is a record whose acknowledgement is awaited.
import type { Consumer, Kafka as KafkaJs, Producer } from 'kafkajs';
import { makeTopics } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { openCompanion, sharedClockMs } from './worker-process.js';

export type FloorStep =
  { readonly do: 'hop'; readonly name: string } | { readonly do: 'append'; readonly name: string };
export interface FloorTask {
  readonly brokers: readonly string[];
  readonly maxWaitMs: number;
  readonly legs: number;
}
export type FloorSays =
  { readonly kind: 'ready' } | { readonly kind: 'done'; readonly round: number; readonly atMs: number };

/** Topics of the two directions and of what is only appended. */
export const FLOOR_TOPICS = { there: 'bench.floor-there', back: 'bench.floor-back', log: 'bench.floor-log' } as const;
/** About what a leg and its records weigh. */
export const FLOOR_BYTES = 1_500;

/** The way of one recovery with so many legs, each begun after the one before was recorded. Pure. */
export function floorSteps(legs: number): readonly FloorStep[] {
  const hop = (name: string): FloorStep => ({ do: 'hop', name });
  const append = (name: string): FloorStep => ({ do: 'append', name });
  return [
    hop('UndoRun → ledger'),
    hop('MutationsFell → orchestrator'),
    append('RecoveryPlanned, LegDispatched'),
    ...Array.from({ length: legs }, () => [
      hop('LegRequested → worker'),
      hop('LegReported → orchestrator'),
      append('LegSettled, next LegDispatched'),
    ]).flat(),
  ];
}

/** Steps that a process takes from a place on: its appends, and the hop that hands over; no hop at the end of all. Pure. */
export function turnFrom(
  steps: readonly FloorStep[],
  from: number,
): { readonly appends: number; readonly hop: boolean; readonly next: number } {
  const end = steps.findIndex((step, at) => at >= from && step.do === 'hop');
  return end < 0
    ? { appends: steps.length - from, hop: false, next: steps.length }
    : { appends: end - from, hop: true, next: end + 1 };
}

/** One side of the floor. */
export interface FloorSide {
  readonly producer: Producer;
  readonly consumer: Consumer;
  /** Takes the turn that begins at a step; answers whether that was the end. */
  turn(round: number, from: number): Promise<boolean>;
}

interface SideOptions {
  readonly kafka: KafkaJs;
  readonly groupId: string;
  readonly maxWaitMs: number;
  readonly legs: number;
  readonly hears: string;
  readonly tells: string;
  readonly onEnd: (round: number) => void;
}

/** Takes turns: appends so many records, then hands over to the other side. */
function turner(producer: Producer, steps: readonly FloorStep[], tells: string): FloorSide['turn'] {
  const filler = Buffer.alloc(FLOOR_BYTES, 'x');
  return async (round, from) => {
    const { appends, hop, next } = turnFrom(steps, from);
    for (let at = 0; at < appends; at += 1)
      await producer.send({ topic: FLOOR_TOPICS.log, acks: -1, messages: [{ key: 'k', value: filler, partition: 0 }] });
    const key = `${String(round)}:${String(next)}`;
    if (hop) await producer.send({ topic: tells, acks: -1, messages: [{ key, value: filler, partition: 0 }] });
    return !hop;
  };
}

/** Opens one side: consumes one topic, and goes on with the other. Resolves when it has joined. */
export async function openSide({
  kafka,
  groupId,
  maxWaitMs,
  legs,
  hears,
  tells,
  onEnd,
}: SideOptions): Promise<FloorSide> {
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: maxWaitMs, minBytes: 1 });
  const turn = turner(producer, floorSteps(legs), tells);
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topic: hears, fromBeginning: true });
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      resolve();
    });
  });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { key } of batch.messages) {
        const [round = 0, from = 0] = String(key).split(':').map(Number);
        if (await turn(round, from)) onEnd(round);
      }
    },
  });
  await joined;
  return { producer, consumer, turn };
}

export interface Floor {
  /** Milliseconds from the first send to the acknowledgement of the last append. */
  recover(): Promise<number>;
  close(): Promise<void>;
}

export async function openFloor(bench: BenchStack, legs: number, maxWaitMs: number): Promise<Floor> {
  const topics = Object.values(FLOOR_TOPICS).map((name) => ({ name, partitions: 1, replicationFactor: 1 }));
  await makeTopics(bench, topics);
  const waiting = new Map<number, (atMs: number) => void>();
  const end = (round: number, atMs: number): void => {
    waiting.get(round)?.(atMs);
  };
  const task: FloorTask = { brokers: bench.stack.kafka.brokers, maxWaitMs, legs };
  const far = await openCompanion<FloorSays>('./recovery-floor.main.js', task, ({ round, atMs }) => {
    end(round, atMs);
  });
  const near = await openSide({
    kafka: bench.raw,
    groupId: 'bench-floor-near',
    maxWaitMs,
    legs,
    hears: FLOOR_TOPICS.back,
    tells: FLOOR_TOPICS.there,
    onEnd: (round) => {
      end(round, sharedClockMs());
    },
  });
  let rounds = 0;
  return {
    recover: async () => {
      const round = (rounds += 1);
      const ended = new Promise<number>((resolve) => {
        waiting.set(round, resolve);
      });
      const startedAt = sharedClockMs();
      await near.turn(round, 0);
      return (await ended) - startedAt;
    },
    close: async () => {
      await near.consumer.disconnect();
      await near.producer.disconnect();
      await far.close();
    },
  };
}
