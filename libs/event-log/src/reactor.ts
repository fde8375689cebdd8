// Sends what accepted records owe the outside, in rounds, in order, at least once (L3, L9, L10).
//
// Invariants
//   I1. A message is handed to the producer only after its record was accepted and the loop opened the gate.
//   I2. `reactedSeq` never passes a record with an unsent message.
//   I3. A message for which there is no topic counts as lost on the way after a few tries: what it asked for has a deadline of
//       its own, and other messages of the partition do not wait behind it (P13).
//   I4. What is owed to one topic leaves in the order in which it came to be owed; a round is sent while nothing of the one before is.
//   I5. A reset drops what was not handed to the producer yet, the rest of a round included.
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import type { Kafka, OutgoingRecord, WireProducer } from '@recourse/kafka';
import { BackgroundLoop } from './background.js';
import { backoffMs, BATCH_BYTES_MAX } from './loop.decisions.js';
import { openBytesLoaded, openLoaded, sealedUnder } from './sealing/sealing.js';
import type { Sealing } from './sealing/sealing.js';
import type { Doc, Outgoing } from './service-core.js';

/** Tries, over some seconds: a broker that has just started may not know its topics yet. */
const NOWHERE_TRIES_MAX = 8;
/** Rest with nothing owed; whoever owes something ends it. */
const REST_MS = 60_000;

/** Messages of one round at the most, about. */
const ROUND_MAX = 1_000;

/** A message as bytes, for records that go back to the wire they came from. */
export interface RawMessage {
  readonly obligationId: string;
  readonly topic: string;
  readonly key: string;
  readonly value: Buffer;
  /** Key that seals the value; null when it is in the clear. */
  readonly keyId: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Reaction {
  readonly seq: number;
  readonly messages: readonly (Outgoing | RawMessage)[];
}

export interface ReactorOptions {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly clock: Clock;
  /** Opens what leaves: wires carry payloads in the clear. */
  readonly sealing?: Sealing;
  readonly onError: (cause: unknown) => void;
}

/** A message that was not sent yet, or is lost. */
interface Owed {
  readonly message: Outgoing | RawMessage;
  isDone: boolean;
}

/** A topic that was not found: tried so often, and again from then on. */
interface Nowhere {
  readonly tries: number;
  readonly againAt: number;
}

interface Sending {
  readonly topic: string;
  readonly owed: readonly Owed[];
  readonly producer: WireProducer;
  readonly epoch: number;
}

export class Reactor {
  #queue: { readonly seq: number; readonly owed: readonly Owed[] }[] = [];
  #producer: WireProducer | null = null;
  #prepared = new Set<string>();
  #epoch = 0;
  readonly #nowhere = new Map<string, Nowhere>();
  readonly #loop: BackgroundLoop;
  reactedSeq = 0;

  constructor(private readonly options: ReactorOptions) {
    this.#loop = new BackgroundLoop({
      clock: options.clock,
      turn: () => this.#sendRound(),
      onError: (cause) => this.#failed(cause),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Forgets what was not sent: it will be owed again, by decision. */
  reset(reactedSeq: number): void {
    this.#epoch += 1;
    this.#queue = [];
    this.reactedSeq = Math.max(reactedSeq, this.reactedSeq);
  }

  /** Owes messages; records without any only move the mark. */
  owe(reactions: readonly Reaction[]): void {
    for (const { seq, messages } of reactions) {
      if (messages.length === 0 && this.#queue.length === 0) this.reactedSeq = Math.max(this.reactedSeq, seq);
      else this.#queue.push({ seq, owed: messages.map((message) => ({ message, isDone: false })) });
    }
    if (this.#queue.length > 0) this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#producer?.close();
  }

  /** Sends all that may be tried now; answers how long nothing more may be. */
  async #sendRound(): Promise<number> {
    const round = this.#round();
    if (round.size === 0) return this.#restMs();
    const epoch = this.#epoch;
    this.#producer ??= await this.options.kafka.wireProducer();
    const producer = this.#producer;
    await this.#loadKeys([...round.values()].flat());
    const sent = await Promise.allSettled(
      [...round].map(([topic, owed]) => this.#sendTo({ topic, owed, producer, epoch })),
    );
    this.#advance();
    const failed = sent.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return 0;
  }

  /** What is owed to each topic that may be tried now, in order. */
  #round(): Map<string, Owed[]> {
    const now = this.options.clock.monotonic();
    const round = new Map<string, Owed[]>();
    let count = 0;
    for (const { owed } of this.#queue) {
      if (count >= ROUND_MAX) break;
      for (const one of owed) {
        const { topic } = one.message;
        if (one.isDone || (this.#nowhere.get(topic)?.againAt ?? -Infinity) > now) continue;
        const others = round.get(topic);
        if (others === undefined) round.set(topic, [one]);
        else others.push(one);
        count += 1;
      }
    }
    return round;
  }

  #restMs(): number {
    if (this.#queue.length === 0) return REST_MS;
    const againAt = Math.min(...[...this.#nowhere.values()].map((topic) => topic.againAt));
    return Math.max(1, againAt - this.options.clock.monotonic());
  }

  #advance(): void {
    for (let next = this.#queue[0]; next?.owed.every(({ isDone }) => isDone) === true; next = this.#queue[0]) {
      this.reactedSeq = Math.max(this.reactedSeq, next.seq);
      this.#queue.shift();
    }
  }

  async #failed(cause: unknown): Promise<'retry'> {
    this.options.onError(cause);
    await this.#dropProducer();
    return 'retry';
  }

  /** One question for the keys of all that leaves. */
  async #loadKeys(owed: readonly Owed[]): Promise<void> {
    const { sealing } = this.options;
    if (sealing === undefined) return;
    const bodies = owed.map(({ message }) => ('value' in message ? null : message.body));
    const rawKeys = owed.flatMap(({ message }) =>
      'value' in message && message.keyId !== null ? [message.keyId] : [],
    );
    await sealing.load([...new Set([...sealedUnder(bodies), ...rawKeys])]);
  }

  async #sendTo({ topic, owed, producer, epoch }: Sending): Promise<void> {
    try {
      const records: OutgoingRecord[] = [];
      let [first, bytes] = [0, 0];
      const flush = async (end: number): Promise<void> => {
        const part = records.splice(0);
        if (part.length > 0 && epoch === this.#epoch) await producer.send(topic, part);
        for (const one of owed.slice(first, end)) one.isDone = true;
        [first, bytes] = [end, 0];
      };
      for (const [index, { message }] of owed.entries()) {
        const record = await this.#recordOf(message);
        if (record === null) continue;
        const size = record.value.length + record.key.length;
        if (bytes + size > BATCH_BYTES_MAX) await flush(index);
        records.push(record);
        bytes += size;
      }
      await flush(owed.length);
      this.#nowhere.delete(topic);
    } catch (cause) {
      if (!isNowhere(cause)) {
        // Whoever answers for the topic knows of it: tries are counted anew.
        this.#nowhere.delete(topic);
        throw cause;
      }
      if (epoch === this.#epoch) this.#notThere(topic, owed, cause);
    }
  }

  /** Tried again a while later, with what is owed to the topic by then; lost after some tries. */
  #notThere(topic: string, owed: readonly Owed[], cause: unknown): void {
    const tries = (this.#nowhere.get(topic)?.tries ?? 0) + 1;
    const isLost = tries >= NOWHERE_TRIES_MAX;
    const againAt = isLost ? -Infinity : this.options.clock.monotonic() + backoffMs(tries);
    this.#nowhere.set(topic, { tries, againAt });
    if (!isLost) return;
    for (const one of owed) {
      if (one.isDone) continue;
      one.isDone = true;
      this.options.onError(
        new Failure('TOPIC_MISSING', `a message to ${topic} is lost: there is no such topic`, { cause }),
      );
    }
  }

  /** Null for what was erased: nobody can act upon it. */
  async #recordOf(message: Outgoing | RawMessage): Promise<OutgoingRecord | null> {
    try {
      const key = Buffer.from(message.key, 'utf8');
      const { headers } = message;
      if ('value' in message) return { key, value: await this.#openedBytes(message), headers: message.headers };
      return { key, value: await this.#encode(message), ...(headers === undefined ? {} : { headers }) };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.code !== 'KEY_DESTROYED') throw cause;
      this.options.onError(cause);
      return null;
    }
  }

  async #encode(message: Outgoing): Promise<Buffer> {
    if (!this.#prepared.has(message.topic)) {
      await this.options.codecs.prepareWriter(message.topic);
      this.#prepared.add(message.topic);
    }
    return this.options.codecs.encode(
      message.topic,
      message.type.slice(message.type.lastIndexOf('.') + 1),
      await this.#opened(message),
    );
  }

  /** Errors: Failure(KEY_DESTROYED) when what it carries was erased: nobody can act upon it. */
  async #opened({ topic, body }: Outgoing): Promise<Doc> {
    const { sealing } = this.options;
    if (sealing === undefined) return body;
    const opened = await openLoaded(sealing, body);
    const erased = sealedUnder(opened);
    if (erased.length > 0)
      throw new Failure('KEY_DESTROYED', `a message to ${topic} holds data that was erased with ${erased.join(', ')}`);
    return opened;
  }

  async #openedBytes({ topic, value, keyId }: RawMessage): Promise<Buffer> {
    const { sealing } = this.options;
    if (keyId === null || sealing === undefined) return value;
    const opened = await openBytesLoaded(sealing, keyId, value);
    if (opened === null) throw new Failure('KEY_DESTROYED', `a record for ${topic} was erased with ${keyId}`);
    return opened;
  }

  async #dropProducer(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    try {
      await producer?.close();
    } catch (cause) {
      if (!(cause instanceof Failure)) this.options.onError(cause);
    }
  }
}

/** There is no such topic, or nobody ever registered what goes there. */
function isNowhere(cause: unknown): boolean {
  return cause instanceof Failure && (cause.code === 'TOPIC_MISSING' || cause.code === 'UNKNOWN_SCHEMA');
}
