// Both producers over the memory broker.
import { Failure } from '@recourse/kernel';
import type { LogProducer, OutgoingRecord, SendOutcome, WireProducer } from '../kafka.port.js';
import { partitionForKey } from '../murmur2.js';
import type { Actor } from './actor.memory.js';
import type { GateVerdict } from './gate.memory.js';
import type { PartitionLog } from './partition-log.memory.js';

/** What the producers need of the broker. */
export interface AppendTarget {
  /** The partition's log, or null when it does not exist. */
  find(topic: string, partition: number): PartitionLog | null;
  partitionCountOf(topic: string): number | null;
  recordBytesMax(topic: string): number;
  append(log: PartitionLog, records: readonly OutgoingRecord[]): number;
  appendLater(actor: Actor, log: PartitionLog, records: readonly OutgoingRecord[]): void;
}

/** Invariants as in log-producer.kafka.ts: one in flight, and silence after `unknown`. */
export class MemoryLogProducer implements LogProducer {
  private inFlight: Promise<unknown> = Promise.resolve();
  private dead: { readonly cause: unknown } | null = null;

  constructor(
    private readonly actor: Actor,
    private readonly target: AppendTarget,
  ) {}

  send(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    const copies = [...records];
    const outcome = this.inFlight.then(() => this.sendNow(topic, partition, copies));
    this.inFlight = outcome;
    return outcome;
  }

  close(): Promise<void> {
    this.dead ??= { cause: new Error('the producer is closed') };
    return Promise.resolve();
  }

  private async sendNow(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<SendOutcome> {
    if (this.dead) return { kind: 'unknown', cause: this.dead.cause };
    const operation = { kind: 'append', topic, partition, count: records.length } as const;
    const verdict = await this.actor.enter(operation);
    const log = this.target.find(topic, partition);
    const offset = log ? takeEffect(this.target, { actor: this.actor, log, records, verdict }) : null;
    const answered = verdict === 'proceed' || verdict === 'duplicate';
    const outcome: SendOutcome =
      answered && offset !== null
        ? { kind: 'landed', baseOffset: offset }
        : {
            kind: 'unknown',
            cause: new Error(log ? `the gate said ${verdict}` : `no partition ${topic}/${String(partition)}`),
          };
    if (outcome.kind === 'unknown') this.dead ??= { cause: outcome.cause };
    return this.actor.leave(operation, verdict, outcome);
  }
}

/** One request per partition; a failing one fails the send after the others had their turn. */
export class MemoryWireProducer implements WireProducer {
  private closed = false;

  constructor(
    private readonly actor: Actor,
    private readonly target: AppendTarget,
  ) {}

  async send(topic: string, records: readonly OutgoingRecord[]): Promise<void> {
    if (this.closed) throw new Failure('BROKER_UNAVAILABLE', 'the producer is closed');
    const count = this.target.partitionCountOf(topic);
    if (count === null) throw new Failure('TOPIC_MISSING', topic);
    // What fits alone fits: a real producer sends what is too large together in several requests.
    const most = this.target.recordBytesMax(topic);
    if (records.some(({ key, value }) => (key?.length ?? 0) + (value?.length ?? 0) > most))
      throw new Failure('RECORD_TOO_LARGE', `${topic}: a record may have ${String(most)} bytes`);
    let refused: GateVerdict | null = null;
    for (const [partition, group] of Map.groupBy(records, ({ key }) => partitionForKey(key, count))) {
      const verdict = await this.sendTo(topic, partition, group);
      if (verdict !== 'proceed' && verdict !== 'duplicate') refused = verdict;
    }
    if (refused !== null) throw new Failure('BROKER_UNAVAILABLE', `${topic}: the gate said ${refused}`);
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  private async sendTo(topic: string, partition: number, records: readonly OutgoingRecord[]): Promise<GateVerdict> {
    const operation = { kind: 'wire', topic, partition, count: records.length } as const;
    const verdict = await this.actor.enter(operation);
    const log = this.target.find(topic, partition);
    if (log) takeEffect(this.target, { actor: this.actor, log, records, verdict });
    return this.actor.leave(operation, verdict, verdict);
  }
}

interface Effect {
  readonly actor: Actor;
  readonly log: PartitionLog;
  readonly records: readonly OutgoingRecord[];
  readonly verdict: GateVerdict;
}

/** Offset of the first record that landed now, or null. */
function takeEffect(target: AppendTarget, { actor, log, records, verdict }: Effect): number | null {
  switch (verdict) {
    case 'proceed':
    case 'lose_ack':
      return target.append(log, records);
    case 'duplicate': {
      const offset = target.append(log, records);
      target.append(log, records);
      return offset;
    }
    case 'late':
      target.appendLater(actor, log, records);
      return null;
    case 'fail':
      return null;
  }
}
