// Follows the logs of a recovery as they are written; decodes outcomes alone, so that looking costs little.
import type { CheckpointRolledBack, LegSettled, MutationsFell } from '@recourse/messages';
import type { Consumer } from 'kafkajs';
import type { BenchStack } from './bench-stack.js';
import { sharedClockMs } from './worker-process.js';

const TOPICS = ['recourse.recoveries', 'recourse.mutations'] as const;
const TURN_MS = 5;
/** Types whose records are read, for what they say of several things. */
const SEVERAL = ['LegSettled', 'MutationsFell', 'CheckpointRolledBack'];

/** Under which outcomes of a verdict are counted. */
export function verdictKey(verdict: string): string {
  return `verdict ${verdict}`;
}

/** What became of one run so far. */
interface RunSeen {
  readonly outcomes: string[];
  readonly verdicts: string[];
  lastAtMs: number;
}

export class RecoveryTail {
  readonly #runs = new Map<string, RunSeen>();
  readonly #waiting = new Map<string, { readonly count: number; readonly resolve: (atMs: number) => void }>();
  readonly #types = new Map<number, string>();
  readonly #counts = new Map<string, { count: number; lastAtMs: number }>();

  private constructor(
    private readonly bench: BenchStack,
    private readonly consumer: Consumer,
  ) {}

  static async open(bench: BenchStack): Promise<RecoveryTail> {
    const consumer = bench.raw.consumer({ groupId: 'bench-tail', maxWaitTimeInMs: 100, minBytes: 1 });
    const tail = new RecoveryTail(bench, consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [...TOPICS], fromBeginning: true });
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

  /** When the last of so many outcomes of a run was read, on the clock that all processes share. Ask before it begins. */
  ended(run: string, count: number): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.set(run, { count, resolve });
      this.settle(run);
    });
  }

  /** Mutations of a run whose outcome was recorded, in that order, with their verdicts. */
  outcomesOf(run: string): Pick<RunSeen, 'outcomes' | 'verdicts'> {
    return this.#runs.get(run) ?? { outcomes: [], verdicts: [] };
  }

  /** Records of a type, or of a verdict, so far, and when the last of them was read. */
  countOf(type: string): { readonly count: number; readonly lastAtMs: number } {
    return this.#counts.get(type) ?? { count: 0, lastAtMs: 0 };
  }

  /** When so many of a type were there; null when they do not come in time. */
  async reached(type: string, count: number, withinMs: number): Promise<number | null> {
    for (const deadline = sharedClockMs() + withinMs; sharedClockMs() < deadline;) {
      const seen = this.countOf(type);
      if (seen.count >= count) return seen.lastAtMs;
      await new Promise((resolve) => {
        setTimeout(resolve, TURN_MS);
      });
    }
    return null;
  }

  private async see(value: Buffer, atMs: number): Promise<void> {
    const id = value.readInt32BE(1);
    const known = this.#types.get(id);
    if (known !== undefined && !SEVERAL.includes(known)) {
      this.count(known, atMs);
      return;
    }
    await this.bench.codecs.load(id);
    const decoded = this.bench.codecs.decodeSync(value);
    if (decoded.kind !== 'decoded') return;
    this.#types.set(id, decoded.type);
    if (decoded.type === 'MutationsFell')
      this.count(decoded.type, atMs, (decoded.body as MutationsFell).members.length); // the type names the body
    else if (decoded.type === 'CheckpointRolledBack')
      this.count(decoded.type, atMs, 1 + (decoded.body as CheckpointRolledBack).others.length); // likewise
    else this.count(decoded.type, atMs);
    if (decoded.type === 'LegSettled') this.outcomes(decoded.body as LegSettled, atMs); // the type names the body
  }

  private count(type: string, atMs: number, by = 1): void {
    const seen = this.#counts.get(type);
    if (seen === undefined) this.#counts.set(type, { count: by, lastAtMs: atMs });
    else {
      seen.count += by;
      seen.lastAtMs = atMs;
    }
  }

  private outcomes({ run_id: run, members }: LegSettled, atMs: number): void {
    const seen = this.#runs.get(run) ?? { outcomes: [], verdicts: [], lastAtMs: atMs };
    this.#runs.set(run, seen);
    for (const { mutation_id, outcome } of members) {
      this.count(verdictKey(outcome), atMs);
      seen.outcomes.push(mutation_id);
      seen.verdicts.push(outcome);
    }
    seen.lastAtMs = atMs;
    this.settle(run);
  }

  private settle(run: string): void {
    const waiting = this.#waiting.get(run);
    const seen = this.#runs.get(run);
    if (waiting === undefined || seen === undefined || seen.outcomes.length < waiting.count) return;
    this.#waiting.delete(run);
    waiting.resolve(seen.lastAtMs);
  }
}
