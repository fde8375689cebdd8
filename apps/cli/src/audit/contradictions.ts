// Logs against what others say that they have read of them. Pure.
//
// Shape: what a log shows by itself, or against heads, is not said twice. Of a log at most one end and one record are told.
import type { GenesisOf } from '@recourse/chain';
import type { Cursors, ReadTo } from './cursors.js';
import { named } from './findings.js';
import type { NamedFinding } from './findings.js';
import { partitionName } from './report.js';
import type { PartitionReport } from './report.js';

/** A log that was verified. */
export interface VerifiedLog {
  readonly of: GenesisOf;
  readonly cursors: Cursors;
  /** The highest place that it, or what was found in it, says anything of. */
  readonly reached: number;
  /** Null where it was not read. */
  readonly hashAt: (seq: number) => Buffer | null;
}

/** What logs of one verification say of one another; each is of one deployment, and those of others say nothing of it. */
export class Contradictions {
  readonly #said = new Map<string, ReadTo[]>();
  readonly #held: ReadonlySet<string>;

  constructor(private readonly logs: readonly VerifiedLog[]) {
    this.#held = new Set(logs.map(({ of }) => idOf(of.logId, of)));
    for (const { of, cursors } of logs)
      for (const cursor of cursors.all) {
        const id = idOf(of.logId, cursor);
        const others = this.#said.get(id);
        if (others === undefined) this.#said.set(id, [cursor]);
        else others.push(cursor);
      }
  }

  /** The furthest that somebody has read of a log, where it ends before that. */
  beyond(log: VerifiedLog): ReadTo | null {
    const { reached } = log;
    const beyond = this.#about(log).filter(({ seq }) => seq > reached);
    return beyond.reduce<ReadTo | null>((most, one) => (most !== null && most.seq >= one.seq ? most : one), null);
  }

  /** A report with what contradicts its log. */
  onto(report: PartitionReport, log: VerifiedLog): PartitionReport {
    const found = this.#found(log, report.findings);
    return found.length === 0 ? report : { ...report, findings: [...report.findings, ...found] };
  }

  #found(log: VerifiedLog, findings: readonly NamedFinding[]): readonly NamedFinding[] {
    const [beyond, other] = [this.beyond(log), isRewritten(findings) ? null : this.#otherIn(log)];
    return [
      ...(beyond === null
        ? []
        : [named({ kind: 'cut_tail', seq: log.reached + 1, lastSeq: beyond.seq, read_by: beyond.by })]),
      ...(other === null || findings.some((one) => 'seq' in one && one.seq === other.seq)
        ? []
        : [named({ kind: 'rewritten', seq: other.seq, offset: -1, read_by: other.by })]),
    ];
  }

  /** Logs that were read and are not among those that were verified, each as one that read it says. */
  unheld(): readonly ReadTo[] {
    return [...this.#said].flatMap(([id, [one]]) => (one === undefined || this.#held.has(id) ? [] : [one]));
  }

  /** The first record that is another than somebody has read. */
  #otherIn(log: VerifiedLog): ReadTo | null {
    const others = this.#about(log).filter(({ seq, hash }) => log.hashAt(seq)?.equals(hash) === false);
    return others.reduce<ReadTo | null>((first, one) => (first !== null && first.seq <= one.seq ? first : one), null);
  }

  #about({ of, cursors }: VerifiedLog): readonly ReadTo[] {
    return (this.#said.get(idOf(of.logId, of)) ?? []).filter((one) => !cursors.isGivenUp(one));
  }
}

const isRewritten = (findings: readonly NamedFinding[]): boolean =>
  findings.some(({ kind }) => kind === 'rewritten' || kind === 'regrown' || kind === 'forked');

const idOf = (logId: string, { topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${partitionName(topic, partition)} ${logId}`;
