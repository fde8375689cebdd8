// The result of an audit: one report a partition, as a table and as JSON. Pure.
import { genesisHead, schemaIdOf, verifyLog } from '@recourse/chain';
import type { GenesisOf, Head, StoredRecord } from '@recourse/chain';
import type { Codecs, CutAccepted } from '@recourse/messages';
import { formatTable } from '../output/table.js';
import { named } from './findings.js';
import type { MaterialFinding, NamedFinding } from './findings.js';

export interface PartitionReport {
  readonly topic: string;
  readonly partition: number;
  readonly records: number;
  readonly accepted: number;
  readonly void: number;
  readonly head_seq: number;
  /** 64 hex digits, as is `root`. */
  readonly head_hash: string;
  /** Merkle root over the accepted records. */
  readonly root: string;
  readonly findings: readonly NamedFinding[];
}

export interface AuditReport {
  readonly ok: boolean;
  readonly log_id: string | null;
  readonly partitions: readonly PartitionReport[];
}

/** Heads known from elsewhere, by `topic/partition`. */
export type KnownHeads = ReadonlyMap<string, Head>;

export const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

/** Verifies one partition from its start; the codecs hold the schemas its records name, as far as they are known. */
export function reportOf(
  of: GenesisOf,
  records: Iterable<StoredRecord>,
  more: { readonly codecs: Pick<Codecs, 'fingerprintOf' | 'decodeSync'>; readonly olderHead: Head | undefined },
): PartitionReport {
  const { codecs, olderHead } = more;
  const { head, accepted, voids, root, findings } = verifyLog(records, {
    genesis: genesisHead(of),
    fingerprintOf: codecs.fingerprintOf,
    lossIn: lossReader(codecs),
    ...(olderHead === undefined ? {} : { olderHead }),
  });
  return {
    topic: of.topic,
    partition: of.partition,
    records: accepted + voids,
    accepted,
    void: voids,
    head_seq: head.seq,
    head_hash: head.hash.toString('hex'),
    root: root.toString('hex'),
    findings: findings.map(named),
  };
}

/** Reads the head that a CutAccepted gives up; of the other types one record each is decoded. */
function lossReader({ decodeSync }: Pick<Codecs, 'decodeSync'>): (record: StoredRecord) => Head | null {
  const others = new Set<number | null>();
  return ({ value }) => {
    const id = schemaIdOf(value);
    if (others.has(id)) return null;
    const decoded = decodeSync(value);
    if (decoded.kind !== 'decoded' || decoded.type !== 'CutAccepted') {
      others.add(id);
      return null;
    }
    // The codec has just decoded it under this name.
    const { lost_to_seq, lost_head_hash } = decoded.body as CutAccepted;
    return { seq: lost_to_seq, hash: Buffer.from(lost_head_hash) };
  };
}

/** A partition of which nothing could be verified, and why. */
export function unverified(topic: string, partition: number, ...findings: readonly MaterialFinding[]): PartitionReport {
  return {
    topic,
    partition,
    records: 0,
    accepted: 0,
    void: 0,
    head_seq: 0,
    head_hash: '',
    root: '',
    findings: findings.map(named),
  };
}

export function withFindings(report: PartitionReport, findings: readonly MaterialFinding[]): PartitionReport {
  return findings.length === 0 ? report : { ...report, findings: [...findings.map(named), ...report.findings] };
}

export function auditReport(logId: string | null, partitions: readonly PartitionReport[]): AuditReport {
  const sorted = [...partitions].sort((a, b) =>
    a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1,
  );
  return { ok: sorted.every(({ findings }) => findings.length === 0), log_id: logId, partitions: sorted };
}

/** Digits of a hash that a table shows; the whole stands in the JSON. */
const HASH_SHOWN = 16;

/** The report for people: the table, every finding, and the verdict. */
export function describeReport({ ok, partitions }: AuditReport): string {
  const table = formatTable(
    [
      { title: 'LOG', of: ({ topic }: PartitionReport) => topic },
      { title: 'PARTITION', of: ({ partition }) => partition, align: 'right' },
      { title: 'RECORDS', of: ({ records }) => records, align: 'right' },
      { title: 'ACCEPTED', of: ({ accepted }) => accepted, align: 'right' },
      { title: 'VOID', of: (report) => report.void, align: 'right' },
      { title: 'HEAD SEQ', of: ({ head_seq }) => head_seq, align: 'right' },
      { title: 'HEAD HASH', of: ({ head_hash }) => head_hash.slice(0, HASH_SHOWN) },
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
  const records = partitions.reduce((sum, report) => sum + report.records, 0);
  const verdict = ok
    ? `Nothing found in ${records} records of ${partitions.length} partitions.`
    : `${lines.length} ${lines.length === 1 ? 'finding' : 'findings'}:`;
  return [table, '', verdict, ...lines].join('\n');
}
