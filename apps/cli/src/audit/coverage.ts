// Up to where heads of an auditor cover logs, and which logs they leave out. Pure.
//
// Invariants
//   C1. A log with records and no head is found, however young its records say they are: whoever wrote them says that, and whoever
//       takes heads away takes what they showed with them.
//   C2. A head of nothing covers nothing.
import type { SignedHead } from '@recourse/audit';
import { partitionName, withFindings } from './report.js';
import type { PartitionReport, SignedTo } from './report.js';

/** The auditor's own log: it signs heads of every other. */
export const HEADS_TOPIC = 'recourse.signed-heads';

interface Length {
  readonly topic: string;
  readonly partition: number;
  /** Records that stand in it. */
  readonly head_seq: number;
}

/** Of the newest generation of each log, by its name. */
export function currentHeads(heads: readonly SignedHead[]): readonly SignedHead[] {
  const newest = new Map<string, number>();
  for (const head of heads) newest.set(nameOf(head), Math.max(head.generation, newest.get(nameOf(head)) ?? 0));
  return heads.filter((head) => head.generation === newest.get(nameOf(head)));
}

/** Logs that hold records of which no head says anything. */
export function uncovered<T extends Length>(lengths: readonly T[], heads: readonly SignedHead[]): readonly T[] {
  const covered = newestOf(heads);
  return lengths.filter((one) => one.head_seq > 0 && one.topic !== HEADS_TOPIC && !covered.has(nameOf(one)));
}

/** Reports with the newest head that each log was compared with; those that lack one say so, as do all where there is none at all. */
export function withCoverage(
  reports: readonly PartitionReport[],
  heads: readonly SignedHead[],
): readonly PartitionReport[] {
  const covered = newestOf(heads);
  const open = new Set(uncovered(reports, heads));
  return reports.map((report, index) => {
    const isFound = open.has(report) || (covered.size === 0 && open.size === 0 && index === 0);
    const compared = { ...report, signed_head: covered.get(nameOf(report)) ?? null };
    return isFound ? withFindings(compared, [{ kind: 'heads_missing' }]) : compared;
  });
}

function newestOf(heads: readonly SignedHead[]): ReadonlyMap<string, SignedTo> {
  const newest = new Map<string, SignedTo>();
  for (const head of currentHeads(heads)) {
    const name = nameOf(head);
    if (head.head === null || head.size <= (newest.get(name)?.size ?? 0)) continue;
    newest.set(name, { size: head.size, signed_at: new Date(head.signedAt).toISOString() });
  }
  return newest;
}

const nameOf = ({ topic, partition }: Pick<Length, 'topic' | 'partition'>): string => partitionName(topic, partition);
