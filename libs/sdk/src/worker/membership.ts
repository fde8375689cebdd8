// Membership: the one consumer by which a worker is in its group, made anew when it dies.
//
// Boundary: makes, starts and stops consumers; what they bring is the worker's.
//
// Invariants
//   N1. One consumer at a time: another would hold partitions that nobody answers.
//   N2. Once stopped, no consumer is in the group, also none that was joining meanwhile.
import type { Clock } from '@recourse/kernel';
import type { InputConsumer, InputHandlers } from '@recourse/kafka';

const RETRY_PAUSE_MS = 500;

/** What a membership needs. */
interface MembershipOptions {
  readonly make: () => InputConsumer;
  readonly handlers: Omit<InputHandlers, 'onCrash'>;
  readonly clock: Clock;
  /** Told that nothing comes until another consumer has joined. */
  readonly onLost: (cause: unknown) => void;
  /** Told of a join that failed; it is tried again. */
  readonly onUnjoined: (cause: unknown) => void;
}

/** A place in a group. */
export class Membership {
  /** Null while there is none. */
  consumer: InputConsumer | null = null;
  private isRejoining = false;
  private isStopped = false;

  constructor(private readonly options: MembershipOptions) {}

  /** Errors: those of the consumer. */
  async join(): Promise<void> {
    const consumer = this.options.make();
    this.consumer = consumer;
    await consumer.start({
      ...this.options.handlers,
      onCrash: (cause) => {
        void this.rejoin(consumer, cause);
      },
    });
    if (this.isStopped) await consumer.stop();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.consumer?.stop();
  }

  /** A dead consumer does not come back: makes new ones until one joins. One that dies while it joins is the same loop's. */
  private async rejoin(dead: InputConsumer, cause: unknown): Promise<void> {
    const { clock, onLost, onUnjoined } = this.options;
    if (this.consumer === dead) this.consumer = null;
    onLost(cause);
    await dead.stop().catch(() => undefined);
    if (this.isRejoining) return;
    this.isRejoining = true;
    while (!this.hasEnded()) {
      await clock.sleep(RETRY_PAUSE_MS);
      if (this.hasEnded()) break;
      try {
        await this.join();
      } catch (error) {
        this.consumer = null;
        onUnjoined(error);
      }
    }
    this.isRejoining = false;
  }

  private hasEnded(): boolean {
    return this.isStopped || this.consumer !== null;
  }
}
