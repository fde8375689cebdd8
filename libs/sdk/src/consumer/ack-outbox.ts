// Sends what the inbox owes: acknowledgements that were committed with the rollback they answer, until the broker has them.
import type { Kafka, WireProducer } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
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

/** One sender at a time; what fails is tried again, here or after a restart. */
export class AckOutbox<Tx> {
  private readonly stopped = new AbortController();
  private wire: WireProducer | null = null;
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly options: AckOutboxOptions<Tx>) {}

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
        this.options.onTrouble(cause);
        void this.tryAgain();
      });
    return this.last;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.last;
    await this.wire?.close();
  }

  private async tryAgain(): Promise<void> {
    await this.options.clock.sleep(RETRY_PAUSE_MS, this.stopped.signal);
    if (!this.stopped.signal.aborted) await this.flush();
  }

  private async send(): Promise<void> {
    const { inbox, codecs } = this.options;
    for (let isMore = true; isMore && !this.stopped.signal.aborted;) {
      const owed = await inbox.transact('derive', (session) => session.owed(BATCH_MAX));
      const round = roundOf(
        owed.map((ack) => ({
          id: ack.event_id,
          message: {
            key: Buffer.from(ack.run_id, 'utf8'),
            value: codecs.encode(ACKS_TOPIC, 'RollbackAcknowledged', ack),
          },
        })),
      );
      if (round.length === 0) return;
      await this.wire?.send(
        ACKS_TOPIC,
        round.map(({ message }) => message),
      );
      await inbox.transact('derive', (session) => session.settle(round.map(({ id }) => id)));
      isMore = owed.length === BATCH_MAX || round.length < owed.length;
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
