// Follows the ledger's log for the notify bench: when a commit was recorded, and when each consumer's answer about it was.
import type { CheckpointRecorded, ConsumerAcknowledged } from '@recourse/messages';
import type { Consumer } from 'kafkajs';
import type { BenchStack } from './bench-stack.js';
import { sharedClockMs } from './worker-process.js';

const LOG = 'recourse.mutations';
const MAX_WAIT_MS = 100;

/** What was seen of one commit. */
interface Seen {
  isRecorded: boolean;
  readonly answers: Map<string, number>;
  waiting: (() => void)[];
}

export class NotifyTail {
  readonly #commits = new Map<string, Seen>();

  private constructor(
    private readonly bench: BenchStack,
    private readonly consumer: Consumer,
  ) {}

  static async open(bench: BenchStack): Promise<NotifyTail> {
    const consumer = bench.raw.consumer({ groupId: 'bench-notify-tail', maxWaitTimeInMs: MAX_WAIT_MS, minBytes: 1 });
    const tail = new NotifyTail(bench, consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [LOG], fromBeginning: true });
    const joined = new Promise<void>((resolve) => {
      consumer.on(consumer.events.GROUP_JOIN, () => {
        resolve();
      });
    });
    await consumer.run({
      eachBatch: async ({ batch }) => {
        const atMs = sharedClockMs();
        for (const { value } of batch.messages) if (value !== null) await tail.see(value, atMs);
      },
    });
    await joined;
    return tail;
  }

  async close(): Promise<void> {
    await this.consumer.disconnect();
  }

  recorded(commitId: string): Promise<void> {
    return this.when(commitId, ({ isRecorded }) => isRecorded);
  }

  /** Moments at which the first so many answers about a commit were read, on the clock that all processes share. */
  async answered(commitId: string, consumers: number): Promise<readonly number[]> {
    await this.when(commitId, ({ answers }) => answers.size >= consumers);
    return [...this.of(commitId).answers.values()];
  }

  private when(commitId: string, isSo: (seen: Seen) => boolean): Promise<void> {
    const seen = this.of(commitId);
    return new Promise((resolve) => {
      const look = (): void => {
        if (isSo(seen)) resolve();
        else seen.waiting.push(look);
      };
      look();
    });
  }

  private of(commitId: string): Seen {
    const seen = this.#commits.get(commitId) ?? { isRecorded: false, answers: new Map<string, number>(), waiting: [] };
    this.#commits.set(commitId, seen);
    return seen;
  }

  private async see(value: Buffer, atMs: number): Promise<void> {
    await this.bench.codecs.load(value.readInt32BE(1));
    const decoded = this.bench.codecs.decodeSync(value);
    if (decoded.kind !== 'decoded') return;
    if (decoded.type === 'CheckpointRecorded')
      this.note((decoded.body as CheckpointRecorded).commit_id, (seen) => {
        seen.isRecorded = true;
      }); // the type names the body
    if (decoded.type === 'ConsumerAcknowledged') {
      const { mutation_id, consumer } = decoded.body as ConsumerAcknowledged; // likewise
      this.note(mutation_id, ({ answers }) => {
        if (!answers.has(consumer)) answers.set(consumer, atMs);
      });
    }
  }

  private note(commitId: string, change: (seen: Seen) => void): void {
    const seen = this.of(commitId);
    change(seen);
    for (const look of seen.waiting.splice(0)) look();
  }
}
