// Up to where heads of an auditor cover logs, and which logs they leave out. Pure.
//
// Invariants
//   C1. A log with records and no head is found, however young its records say they are: whoever wrote them says that, and whoever
//       takes heads away takes what they showed with them.
//   C2. A head of nothing covers nothing.
//   C3. A log whose newest head a named witness did not sign is found, however much older ones cover: two readers may be shown two such heads.
//   C4. A log is compared with all that the auditor signed of it: to name a witness takes no finding away.
//   C5. Who holds a head is told when another generation took its place: whoever has the auditor's key says that a person gave it up.
import type { SignedHead } from '@recourse/audit';
import { partitionName, toldHead, withFindings } from './report.js';
import type { HeadsGivenUp, MaterialFinding } from './findings.js';
import type { PartitionReport, SignedTo } from './report.js';

/** The auditor's own log: it signs heads of every other. */
export const HEADS_TOPIC = 'recourse.signed-heads';

/** Heads that a reader trusts, all of the logs that are read. */
export interface TrustedHeads {
  readonly heads: readonly SignedHead[];
  /** Those among them that the reader brought: they do not go away by what the log of heads says. */
  readonly held: readonly SignedHead[];
  /**
   * Those that the auditor signed without a witness that the reader names: they cover nothing and prove nothing, and a log has to
   * agree with them all the same.
   */
  readonly alone: readonly SignedHead[];
}

interface Length {
  readonly topic: string;
  readonly partition: number;
  /** Records that stand in it. */
  readonly head_seq: number;
}

/** Of the newest generation of each log, by its name. */
export function currentHeads(heads: readonly SignedHead[]): readonly SignedHead[] {
  const newest = generationsOf(heads);
  return heads.filter((head) => head.generation === newest.get(nameOf(head)));
}

/** What a log has to agree with: heads of its newest generation, witnessed or not, and those that the caller holds, of any. */
export function comparedHeads({ heads, held, alone }: TrustedHeads): ReadonlySet<SignedHead> {
  const newest = generationsOf(heads);
  const single = currentHeads(alone).filter((head) => head.generation >= (newest.get(nameOf(head)) ?? 0));
  return new Set([...currentHeads(heads), ...single, ...held]);
}

/** The newest generation of each log, by its name. */
function generationsOf(heads: readonly SignedHead[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const head of heads) newest.set(nameOf(head), Math.max(head.generation, newest.get(nameOf(head)) ?? 0));
  return newest;
}

/** What is found of logs whose heads the reader holds, and a newer generation took the place of; by name. */
function givenUp({ heads, held }: TrustedHeads): ReadonlyMap<string, HeadsGivenUp> {
  const newest = generationsOf(heads);
  const older = held.filter((head) => head.generation < (newest.get(nameOf(head)) ?? 0));
  return new Map(
    Array.from(generationsOf(older), ([name, generation]) => [
      name,
      { kind: 'heads_given_up', generation, newer: newest.get(name) ?? 0 },
    ]),
  );
}

/** Logs that hold records of which no head says anything. */
export function uncovered<T extends Length>(lengths: readonly T[], heads: readonly SignedHead[]): readonly T[] {
  const covered = newestOf(heads);
  return lengths.filter((one) => one.head_seq > 0 && one.topic !== HEADS_TOPIC && !covered.has(nameOf(one)));
}

/** How far heads cover a log, and what they leave open. */
export interface Coverage {
  /** Name of the log with its partition. */
  readonly name: string;
  readonly signedTo: SignedTo | null;
  readonly findings: readonly MaterialFinding[];
}

/** Of each log, in their order. Without any head at all the first is found, so that a key that signed nothing never passes. */
export function coverageOf(lengths: readonly Length[], trusted: TrustedHeads): readonly Coverage[] {
  const { heads, alone } = trusted;
  const [covered, replaced] = [newestOf(heads), givenUp(trusted)];
  const unwitnessed = newestAmong(alone);
  const open = new Set(uncovered(lengths, heads));
  return lengths.map((length, index) => {
    const name = nameOf(length);
    const signedTo = covered.get(name) ?? null;
    const isFound = open.has(length) || (covered.size === 0 && open.size === 0 && index === 0);
    const [lost, single] = [replaced.get(name), unwitnessed.get(name)];
    const findings = [
      ...(single !== undefined && isNewer(single, signedTo ?? undefined) ? [aloneIn(single, signedTo)] : []),
      ...(isFound && single === undefined ? [{ kind: 'heads_missing' } as const] : []),
      ...(lost === undefined ? [] : [lost]),
    ];
    return { name, signedTo, findings };
  });
}

/** Reports with the newest head that each log was compared with, and what heads leave open. */
export function withCoverage(reports: readonly PartitionReport[], trusted: TrustedHeads): readonly PartitionReport[] {
  const coverage = coverageOf(reports, trusted);
  return reports.map((report, at) =>
    withFindings({ ...report, signed_head: coverage[at]?.signedTo ?? null }, coverage[at]?.findings ?? []),
  );
}

function newestAmong(heads: readonly SignedHead[]): ReadonlyMap<string, SignedHead> {
  const newest = new Map<string, SignedHead>();
  for (const head of heads) if (isNewer(head, newest.get(nameOf(head)))) newest.set(nameOf(head), head);
  return newest;
}

function aloneIn({ size }: SignedHead, signed: SignedTo | null): MaterialFinding {
  return { kind: 'heads_unwitnessed', size, witnessed: signed?.size ?? 0 };
}

/** Of two heads of one log: is the first one newer? */
function isNewer(
  { generation, size }: Pick<SignedHead, 'generation' | 'size'>,
  than: Pick<SignedHead, 'generation' | 'size'> | undefined,
): boolean {
  return than === undefined || generation > than.generation || (generation === than.generation && size > than.size);
}

function newestOf(heads: readonly SignedHead[]): ReadonlyMap<string, SignedTo> {
  const newest = new Map<string, SignedTo>();
  for (const head of currentHeads(heads)) {
    const name = nameOf(head);
    if (head.head === null || head.size <= (newest.get(name)?.size ?? 0)) continue;
    newest.set(name, toldHead(head));
  }
  return newest;
}

const nameOf = ({ topic, partition }: Pick<Length, 'topic' | 'partition'>): string => partitionName(topic, partition);
