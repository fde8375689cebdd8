// When a recovery has ended, read from its log as soon as it stands there; decodes no other records.
import type { RawReader } from '@recourse/kafka';
import type { LegSettled, RecoveryClosed } from '@recourse/messages';
import { PARTITIONS } from '../bench-stack.js';
import type { BenchStack } from '../bench-stack.js';
import { within } from '../waits.js';
import { EFFECTS } from './work.js';

const TOPIC = 'recourse.recoveries';
const WAIT_MS = 500;
const PATIENCE_MS = 300_000;

/** What the log says of a run so far. */
interface RunSeen {
  taken: number;
  /** Outcome of the whole; null while it is open. */
  closed: string | null;
  readonly end: PromiseWithResolvers<void>;
}

/** Types of records that say how a run ends, and what each adds. The only place that knows them. */
const ENDINGS: Readonly<Record<string, (seen: RunSeen, body: unknown) => void>> = {
  LegSettled: (seen, body) => {
    const { members } = body as LegSettled; // the type names the body
    seen.taken += members.filter(({ outcome }) => outcome === 'compensated').length;
  },
  RecoveryClosed: (seen, body) => {
    seen.closed = (body as RecoveryClosed).outcome; // the type names the body
  },
};

export class RunEnds {
  readonly #runs = new Map<string, RunSeen>();
  readonly #types = new Map<number, string>();

  private constructor(private readonly bench: BenchStack) {}

  static async open(bench: BenchStack): Promise<RunEnds> {
    const ends = new RunEnds(bench);
    const reader = await bench.kafka.rawReader();
    void ends.follow(reader).catch((cause: unknown) => {
      process.stderr.write(`the log of recoveries cannot be read: ${String(cause)}\n`);
      process.exit(1);
    });
    return ends;
  }

  /** Resolves when all effects of a run are taken back. Errors: Error when it ended otherwise or not in time. Ask before it begins. */
  async of(run: string): Promise<void> {
    const seen: RunSeen = { taken: 0, closed: null, end: Promise.withResolvers() };
    this.#runs.set(run, seen);
    try {
      const { taken, closed } = seen;
      await within(seen.end.promise, `the end of ${run}`, { withinMs: PATIENCE_MS, seen: () => ({ taken, closed }) });
    } finally {
      this.#runs.delete(run);
    }
  }

  private async follow(reader: RawReader): Promise<never> {
    const positions = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic: TOPIC, partition, offset: 0 }));
    for (;;)
      for (const batch of await reader.readMany(positions, { waitMs: WAIT_MS })) {
        for (const { value } of batch.records) await this.see(value);
        const offset = batch.nextOffset;
        positions[batch.partition] = { topic: TOPIC, partition: batch.partition, offset };
      }
  }

  private async see(value: Buffer | null): Promise<void> {
    if (value === null) return;
    const id = value.readInt32BE(1);
    const known = this.#types.get(id);
    if (known !== undefined && ENDINGS[known] === undefined) return;
    await this.bench.codecs.load(id);
    const decoded = this.bench.codecs.decodeSync(value);
    if (decoded.kind !== 'decoded') return;
    this.#types.set(id, decoded.type);
    const { run_id: run } = decoded.body as { readonly run_id?: string }; // records of runs name theirs
    const seen = this.#runs.get(run ?? '');
    if (seen === undefined) return;
    ENDINGS[decoded.type]?.(seen, decoded.body);
    if (seen.closed === 'compensated' && seen.taken >= EFFECTS) seen.end.resolve();
    else if (seen.closed !== null && seen.closed !== 'compensated') seen.end.reject(new Error(`closed ${seen.closed}`));
  }
}
