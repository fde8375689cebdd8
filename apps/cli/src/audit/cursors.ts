// What logs say that they have read of one another. Each batch of a service begins with a Progress, which names the last record that was
// read of every log it reads, by place and hash: a log that ends before that, or has another record there, is not the one that was read.
//
// Boundary: pure; keeps what the records of one log said.
//
// Invariants
//   R1. Accepted records alone are listened to.
//   R2. Of each log that is read the highest place is kept, and who said it first: its hash fixes all before it, so memory grows with
//       the partitions that are read, and not with the records.
//   R3. What a person accepted as lost contradicts nothing: no place among the lost, and none behind them that was read before.
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { bodyReader } from '@recourse/messages';
import type { Codecs, CutAccepted, Progress } from '@recourse/messages';
import type { SaidBy } from './findings.js';
import { partitionName } from './report.js';

/** How far a log was read, and the record that says so. */
export interface ReadTo {
  readonly topic: string;
  readonly partition: number;
  readonly seq: number;
  readonly hash: Buffer;
  /** Offset behind what was read. */
  readonly offset: number;
  readonly by: SaidBy;
  /** By the clock of who said it; epoch milliseconds. */
  readonly saidAt: number;
}

/** Records that a person accepted as lost. */
interface Loss {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly acceptedAt: number;
}

/** Logs of which one may say something: more than any service reads. */
const PLACES_MAX = 10_000;

export class Cursors {
  readonly #read = new Map<string, ReadTo>();
  readonly #losses: Loss[] = [];
  readonly #progressOf: (record: StoredRecord) => Progress | null;
  readonly #cutOf: (record: StoredRecord) => CutAccepted | null;

  constructor(
    private readonly of: Pick<GenesisOf, 'topic' | 'partition'>,
    codecs: Pick<Codecs, 'decodeSync'>,
  ) {
    this.#progressOf = bodyReader(codecs, 'Progress');
    this.#cutOf = bodyReader(codecs, 'CutAccepted');
  }

  /** How far other logs were read. */
  get all(): readonly ReadTo[] {
    return [...this.#read.values()];
  }

  /** Takes the next accepted record. */
  take(record: StoredRecord): void {
    const progress = this.#progressOf(record);
    if (progress !== null) this.#follow(progress);
    const cut = progress === null ? this.#cutOf(record) : null;
    if (cut === null) return;
    const { lost_from_seq: fromSeq, lost_to_seq: toSeq, decided_at: acceptedAt } = cut;
    this.#losses.push({ fromSeq, toSeq, acceptedAt });
  }

  /** Did a person accept that this log no longer holds what was read there? */
  isGivenUp({ seq, saidAt }: ReadTo): boolean {
    return this.#losses.some(
      ({ fromSeq, toSeq, acceptedAt }) => seq >= fromSeq && (seq <= toSeq || saidAt <= acceptedAt),
    );
  }

  #follow({ cursors, seq: saidIn, decided_at: saidAt }: Progress): void {
    for (const { topic, partition, offset, seq, hash } of cursors) {
      // A wire has no places.
      if (seq === 0) continue;
      const name = partitionName(topic, partition);
      const before = this.#read.get(name);
      if (before === undefined ? this.#read.size >= PLACES_MAX : before.seq >= seq) continue;
      const by: SaidBy = `record ${saidIn} of ${partitionName(this.of.topic, this.of.partition)}`;
      this.#read.set(name, { topic, partition, seq, hash: Buffer.from(hash), offset, by, saidAt });
    }
  }
}
