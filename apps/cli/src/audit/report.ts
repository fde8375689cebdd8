// The result of an audit: one report a partition, as a table and as JSON. Pure.
import type { SignedHead } from '@recourse/audit';
import type { KnownHead } from '@recourse/chain';
import type { Signing } from '@recourse/kafka';
import { instantText } from '@recourse/kernel';
import { countText } from '../output/count-text.js';
import { formatTable } from '../output/table.js';
import { named } from './findings.js';
import type { MaterialFinding, NamedFinding } from './findings.js';

/** The newest signed head that a log was compared with. */
export interface SignedTo {
  readonly size: number;
  /** How often a person gave up the heads before. */
  readonly generation: number;
  /** By the auditor's clock. */
  readonly signed_at: string;
}

export interface PartitionReport {
  readonly topic: string;
  readonly partition: number;
  /** Records before the trusted head it began behind; 0 from the start. */
  readonly from_seq: number;
  readonly records: number;
  readonly accepted: number;
  readonly void: number;
  /** Offsets before the last record that hold none: those of markers of a transaction, or what was taken out. */
  readonly skipped: number;
  readonly head_seq: number;
  /** 64 hex digits, as is `root`. */
  readonly head_hash: string;
  /** Offset behind the head: where the next verification may begin. */
  readonly next_offset: number;
  /** Merkle root over the accepted records; empty where it began behind a head that does not say what it grew from. */
  readonly root: string;
  /** Roots of the complete subtrees under it, largest first. */
  readonly peaks: readonly string[] | null;
  /** Pieces of evidence beyond those that are listed. */
  readonly unlisted: number;
  /** Null where the auditor whose key was given signed none of it; absent where no key was given. */
  readonly signed_head?: SignedTo | null;
  readonly findings: readonly NamedFinding[];
}

/** Whether records were told by a keyring from those that nobody signed; what is not checked counts whoever wrote it. */
export type Signatures = 'checked' | 'not_checked';

export interface AuditReport {
  readonly ok: boolean;
  readonly signatures: Signatures;
  /** Name of the auditor whose heads the logs were compared with; null where no key was given. */
  readonly auditor: string | null;
  /** Names of the witnesses each of which had to sign a head for it to count. */
  readonly witnesses: readonly string[];
  readonly log_id: string | null;
  readonly partitions: readonly PartitionReport[];
}

/** Heads known from elsewhere, by `topic/partition`. */
export type KnownHeads = ReadonlyMap<string, readonly KnownHead[]>;

export const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

/** A partition of which nothing could be verified, and why. */
export function unverified(topic: string, partition: number, ...findings: readonly MaterialFinding[]): PartitionReport {
  return {
    topic,
    partition,
    from_seq: 0,
    records: 0,
    accepted: 0,
    void: 0,
    skipped: 0,
    head_seq: 0,
    head_hash: '',
    next_offset: 0,
    root: '',
    peaks: null,
    unlisted: 0,
    findings: findings.map(named),
  };
}

export function withFindings(report: PartitionReport, findings: readonly MaterialFinding[]): PartitionReport {
  return findings.length === 0 ? report : { ...report, findings: [...findings.map(named), ...report.findings] };
}

/** By what logs were judged. */
export interface ComparedBy {
  readonly signing: Signing | null;
  readonly auditor: string | null;
  readonly witnesses?: readonly string[];
}

export function auditReport(
  logId: string | null,
  partitions: readonly PartitionReport[],
  { signing, auditor, witnesses = [] }: ComparedBy,
): AuditReport {
  const sorted = asRestored(partitions).sort((a, b) =>
    a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1,
  );
  const ok = sorted.every(({ findings }) => findings.length === 0);
  const signatures = signing === null ? 'not_checked' : 'checked';
  return { ok, signatures, auditor, witnesses, log_id: logId, partitions: sorted };
}

/** Several logs that lost their tails, and were not otherwise touched, were set back together. */
function asRestored(partitions: readonly PartitionReport[]): PartitionReport[] {
  const cut = partitions.filter(({ findings }) => findings.some(({ kind }) => kind === 'cut_tail'));
  if (cut.length < 2) return [...partitions];
  return partitions.map((report) => ({
    ...report,
    findings: report.findings.map(({ message: _message, ...finding }) =>
      named(finding.kind === 'cut_tail' ? { ...finding, kind: 'restored_backup' } : finding),
    ),
  }));
}

/** Digits of a hash that a table shows; the whole stands in the JSON. */
const HASH_SHOWN = 16;

/** Stands last, and alone: who reads only the end has read it. */
const NOT_CHECKED =
  'SIGNATURES NOT CHECKED: no keyring was read, so a record that nobody signed counts like any other. Set RECOURSE_KEYRING_FILE where logs are signed.';

/** The report for people: the table, the verdict, every finding, and what was not checked. */
export function describeReport(report: AuditReport): string {
  const { ok, signatures, auditor, partitions } = report;
  const table = formatTable(
    [
      { title: 'LOG', of: ({ topic }: PartitionReport) => topic },
      { title: 'PARTITION', of: ({ partition }) => partition, align: 'right' },
      { title: 'RECORDS', of: ({ records }) => records, align: 'right' },
      { title: 'ACCEPTED', of: ({ accepted }) => accepted, align: 'right' },
      { title: 'VOID', of: (one) => one.void, align: 'right' },
      { title: 'HEAD SEQ', of: ({ head_seq }) => head_seq, align: 'right' },
      { title: 'HEAD HASH', of: ({ head_hash }) => head_hash.slice(0, HASH_SHOWN) },
      ...(auditor === null ? [] : [{ title: 'SIGNED TO', of: signedOf }]),
      {
        title: 'FINDINGS',
        of: ({ findings }) => (findings.length === 0 ? 'none' : [...new Set(findings.map(({ kind }) => kind))]),
      },
    ],
    partitions,
  );
  const lines = partitions.flatMap(({ topic, partition, findings }) =>
    findings.map(({ kind, message }) => `${kind} in ${partitionName(topic, partition)}: ${message}`),
  );
  const records = partitions.reduce((sum, one) => sum + one.records, 0);
  const verdict = ok
    ? `Nothing found in ${countText(records, 'record')} of ${countText(partitions.length, 'partition')}${whose(' of', report)}.`
    : `${countText(lines.length, 'finding')}${whose(' in', report)}:`;
  const compared = auditor === null ? [] : [comparedWith(auditor, report)];
  const more = [...partitions.flatMap(skippedIn), ...compared];
  return [table, '', verdict, ...lines, ...more, ...(signatures === 'checked' ? [] : ['', NOT_CHECKED])].join('\n');
}

/** Nothing that counts is missing there: its place in the chain would say so. */
function skippedIn({ topic, partition, skipped }: PartitionReport): readonly string[] {
  if (skipped === 0) return [];
  const of = partitionName(topic, partition);
  return [
    `${countText(skipped, `offset of ${of} holds`, `offsets of ${of} hold`)} no record: somebody's transaction left a marker, or what counts for nobody was taken out.`,
  ];
}

/** Of which deployment: a dump of another one is sound as well. */
const whose = (word: string, { log_id: id }: AuditReport): string => (id === null ? '' : `${word} the logs ${id}`);

const signedOf = ({ signed_head: head }: PartitionReport): string | null =>
  head === undefined || head === null ? null : signedText(head);

/** What is told of a head. */
export function toldHead({ size, generation, signedAt }: SignedHead): SignedTo {
  return { size, generation, signed_at: instantText(signedAt) };
}

export function signedText({ size, generation, signed_at: at }: SignedTo): string {
  return `${String(size)}${generation === 0 ? '' : ` of generation ${String(generation)}`} at ${at}`;
}

/** How old what was shown is: a dump of last year is sound, too, and so is one log that was cut to an older head beside newer ones. */
function comparedWith(auditor: string, { partitions, witnesses }: AuditReport): string {
  const signers = witnesses.length === 0 ? auditor : `${auditor} that ${witnesses.join(' and ')} signed, too`;
  const times = partitions
    .flatMap(({ topic, partition, signed_head: head }) =>
      head === null || head === undefined ? [] : [{ log: partitionName(topic, partition), at: head.signed_at }],
    )
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined || newest === undefined) return `No head of ${signers} was there to compare with.`;
  return oldest.at === newest.at
    ? `Compared with heads of ${signers}; the newest was signed at ${newest.at}.`
    : `Compared with heads of ${signers}; the newest of ${oldest.log} was signed at ${oldest.at}, that of ${newest.log} at ${newest.at}.`;
}
