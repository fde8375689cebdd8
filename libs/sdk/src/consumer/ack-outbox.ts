// Sends what the inbox owes: acknowledgements that were committed with the rollback they answer, until the broker has them.
import type { Kafka, WireProducer } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import type { Codecs, RollbackAcknowledged } from '@recourse/messages';
import { refuseUnbelieved } from '../producer/believed.js';
import { quietly } from '../quietly.js';
import type { Inbox } from './inbox.port.js';

/** Wire on which consumers say what they applied. */
export const ACKS_TOPIC = 'recourse.consumer-acks';

/** What an outbox needs. */
export interface AckOutboxOptions<Tx> {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly inbox: Inbox<Tx>;
  readonly clock: Clock;
  readonly registerSchemas: boolean;
  readonly onTrouble: (cause: unknown) => void;
}

const BATCH_MAX = 100;
/** Of one round; a wire takes 3 MiB at once. */
const ROUND_BYTES_MAX = 1024 * 1024;
const RETRY_PAUSE_MS = 500;
/** Between looks at whether the key may say by now what it could not: a keyring changes by hand. */
const BELIEF_PAUSE_MS = 5_000;

/** One sender at a time, and one that waits to try again; what fails is tried again, here or after a restart. */
export class AckOutbox<Tx> {
  private readonly stopped = new AbortController();
  private wire: WireProducer | null = null;
  private last: Promise<void> = Promise.resolve();
  private isWaiting = false;
  /** What no wire takes is kept, and keeps nobody waiting. */
  private readonly unfit = new Set<string>();
  /** What the key of this process may not say now: kept, and tried again. */
  private readonly unbelieved = new Set<string>();
  private readonly onTrouble: (cause: unknown) => void;

  constructor(private readonly options: AckOutboxOptions<Tx>) {
    this.onTrouble = quietly(options.onTrouble);
  }

  /** Sends what an earlier process left. Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
  async start(): Promise<void> {
    const { kafka, codecs, registerSchemas } = this.options;
    await codecs.prepareWriter(ACKS_TOPIC, { register: registerSchemas });
    this.wire = await kafka.wireProducer();
    void this.flush();
  }

  /** Sends what is owed; resolves when it was tried. */
  flush(): Promise<void> {
    this.last = this.last
      .then(() => this.send())
      .catch((cause: unknown) => {
        this.onTrouble(cause);
        void this.tryAgain(RETRY_PAUSE_MS);
      });
    return this.last;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.close();
  }

  /** Lets the broker go; it may be started again. */
  async close(): Promise<void> {
    await this.last;
    await this.wire?.close();
    this.wire = null;
  }

  private async tryAgain(pauseMs: number): Promise<void> {
    if (this.isWaiting) return;
    this.isWaiting = true;
    await this.options.clock.sleep(pauseMs, this.stopped.signal);
    this.isWaiting = false;
    if (!this.stopped.signal.aborted) await this.flush();
  }

  private async send(): Promise<void> {
    const { inbox } = this.options;
    for (let isMore = true; isMore && !this.stopped.signal.aborted;) {
      const { wire } = this;
      if (wire === null) return;
      const limit = BATCH_MAX + this.unfit.size + this.unbelieved.size;
      const found = await inbox.transact('derive', (session) => session.owed(limit));
      const owed = found.flatMap((ack) => this.owedOf(ack, wire) ?? []);
      const round = roundOf(owed);
      if (round.length > 0) {
        await wire.send(
          ACKS_TOPIC,
          round.map(({ message }) => message),
        );
        await inbox.transact('derive', (session) => session.settle(round.map(({ id }) => id)));
      }
      isMore = found.length === limit || round.length < owed.length;
    }
    if (this.unbelieved.size > 0) void this.tryAgain(BELIEF_PAUSE_MS);
  }

  /** Null for what no wire takes, and for what its readers would drop; each is told once. */
  private owedOf(ack: RollbackAcknowledged, wire: WireProducer): Owed | null {
    const { event_id: id, run_id } = ack;
    if (this.unfit.has(id) || !this.isBelieved(ack, wire)) return null;
    try {
      const value = this.options.codecs.encode(ACKS_TOPIC, 'RollbackAcknowledged', ack);
      return { id, message: { key: Buffer.from(run_id, 'utf8'), value } };
    } catch (cause) {
      this.unfit.add(id);
      this.onTrouble(new Error(`the acknowledgement ${id} cannot be sent, and is left behind`, { cause }));
      return null;
    }
  }

  /** May the key of this process say it? What it may not would be settled here and dropped there, and its rollback never acknowledged. */
  private isBelieved(ack: RollbackAcknowledged, wire: WireProducer): boolean {
    const { event_id: id } = ack;
    try {
      refuseUnbelieved(wire, 'RollbackAcknowledged', ack);
      this.unbelieved.delete(id);
      return true;
    } catch (cause) {
      if (!this.unbelieved.has(id))
        this.onTrouble(new Error(`the acknowledgement ${id} waits for a key that may say it`, { cause }));
      this.unbelieved.add(id);
      return false;
    }
  }
}

interface Owed {
  readonly id: string;
  readonly message: { readonly key: Buffer; readonly value: Buffer };
}

/** As many as go in one round, from the oldest; one at least. */
function roundOf(owed: readonly Owed[]): readonly Owed[] {
  let bytes = 0;
  const end = owed.findIndex(({ message: { value } }) => (bytes += value.length) > ROUND_BYTES_MAX);
  return end === -1 ? owed : owed.slice(0, Math.max(1, end));
}
