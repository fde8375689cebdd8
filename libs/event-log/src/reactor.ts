// Sends what accepted records owe the outside, in order, at least once (L3, L9, L10).
//
// Invariants
//   I1. A message is handed to the producer only after its record was accepted and the loop opened the gate.
//   I2. `reactedSeq` never passes a record with an unsent message.
//   I3. A message for which there is no topic counts as lost on the way after a few tries: what it asked for has a deadline of
//       its own, and other messages of the partition do not wait behind it (P13).
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import type { Kafka, WireProducer } from '@recourse/kafka';
import { BackgroundLoop } from './background.js';
import { backoffMs } from './loop.decisions.js';
import { openBytesLoaded, openLoaded, sealedUnder } from './sealing/sealing.js';
import type { Sealing } from './sealing/sealing.js';
import type { Doc, Outgoing } from './service-core.js';

/** Tries, over some seconds: a broker that has just started may not know its topics yet. */
const NOWHERE_TRIES_MAX = 8;
/** Rest with nothing owed; whoever owes something ends it. */
const REST_MS = 60_000;

/** A message as bytes, for records that go back to the wire they came from. */
export interface RawMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: Buffer;
  /** Key that seals the value; null when it is in the clear. */ readonly keyId: string | null;
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

export class Reactor {
  #queue: Reaction[] = [];
  #producer: WireProducer | null = null;
  #prepared = new Set<string>();
  #epoch = 0;
  /** Topics that were found missing, so that later messages to them wait no longer than one try. */
  #missing = new Set<string>();
  readonly #loop: BackgroundLoop;
  reactedSeq = 0;

  constructor(private readonly options: ReactorOptions) {
    this.#loop = new BackgroundLoop({
      clock: options.clock,
      turn: () => this.#sendNext(),
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
    for (const reaction of reactions) {
      if (reaction.messages.length === 0 && this.#queue.length === 0)
        this.reactedSeq = Math.max(this.reactedSeq, reaction.seq);
      else this.#queue.push(reaction);
    }
    if (this.#queue.length > 0) this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#producer?.close();
  }

  async #sendNext(): Promise<number> {
    const next = this.#queue[0];
    if (next === undefined) return REST_MS;
    const epoch = this.#epoch;
    for (const message of next.messages) await this.#sendOrLose(message);
    if (epoch !== this.#epoch) return 0;
    this.#queue.shift();
    this.reactedSeq = Math.max(this.reactedSeq, next.seq);
    this.#skipEmpty();
    return 0;
  }

  async #failed(cause: unknown): Promise<'retry'> {
    this.options.onError(cause);
    await this.#dropProducer();
    return 'retry';
  }

  #skipEmpty(): void {
    while (this.#queue[0]?.messages.length === 0)
      this.reactedSeq = Math.max(this.reactedSeq, this.#queue.shift()?.seq ?? 0);
  }

  async #sendOrLose(message: Outgoing | RawMessage): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#send(message);
        this.#missing.delete(message.topic);
        return;
      } catch (cause) {
        if (cause instanceof Failure && cause.code === 'KEY_DESTROYED') {
          this.options.onError(cause);
          return;
        }
        if (!isNowhere(cause)) throw cause;
        if (this.#loop.isStopped) return;
        if (tries >= NOWHERE_TRIES_MAX || this.#missing.has(message.topic)) {
          this.#missing.add(message.topic);
          this.options.onError(
            new Failure('TOPIC_MISSING', `a message to ${message.topic} is lost: there is no such topic`, { cause }),
          );
          return;
        }
      }
      await this.options.clock.sleep(backoffMs(tries));
    }
  }

  async #send(message: Outgoing | RawMessage): Promise<void> {
    this.#producer ??= await this.options.kafka.wireProducer();
    const value = 'value' in message ? await this.#openedBytes(message) : await this.#encode(message);
    const headers = 'value' in message ? undefined : message.headers;
    await this.#producer.send(message.topic, [
      { key: Buffer.from(message.key, 'utf8'), value, ...(headers === undefined ? {} : { headers }) },
    ]);
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
