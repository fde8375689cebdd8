// What a replay found, for people and for scripts. Pure.
import { countText } from '../output/count-text.js';
import { formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';

/** One rebuilt partition, as the service's process prints it and as --json shows it. */
export interface ReplayedPartition {
  readonly log: string;
  readonly partition: number;
  /** Last record that was folded; 0 for none. */
  readonly seq: number;
  readonly hash: string;
  /** Epoch milliseconds; null for none. */
  readonly decided_at: number | null;
  readonly rows: number;
  readonly voids: number;
  readonly state_hash: string;
  readonly ended_by: 'log' | 'bound';
  /** The projection at the same record; null unless it was compared. */
  readonly projected: {
    readonly seq: number;
    readonly state_hash: string;
    readonly verdict: 'same' | 'differs' | 'columns_differ' | 'log_cut' | 'rewritten';
    /** The first that do not hold what their rows say: lists and tenants go by columns. */
    readonly columns: readonly {
      readonly kind: string;
      readonly group: string;
      readonly key: string;
      readonly column: string;
    }[];
  } | null;
}

export interface ReplayReport {
  /** False when a projection is not what its log makes. */
  readonly ok: boolean;
  readonly partitions: readonly ReplayedPartition[];
}

const SAYS = {
  same: () => 'same',
  differs: ({ projected }) => `differs: ${String(projected?.state_hash)}`,
  columns_differ: ({ projected }) =>
    `columns differ: ${(projected?.columns ?? []).map(({ kind, key, column }) => `${column} of ${kind} ${key}`).join(', ')}`,
  log_cut: ({ projected }) => `log cut: ${countText(projected?.seq ?? 0, 'record was', 'records were')} projected`,
  rewritten: ({ projected }) => `log rewritten: another record was projected as ${String(projected?.seq)}`,
} as const satisfies Record<string, (one: ReplayedPartition) => string>;

const COLUMNS: readonly Column<ReplayedPartition>[] = [
  { title: 'LOG', of: ({ log, partition }) => `${log}/${String(partition)}` },
  { title: 'RECORD', of: ({ seq }) => seq, align: 'right' },
  { title: 'DECIDED', of: ({ decided_at }) => instant(decided_at) },
  { title: 'ROWS', of: ({ rows }) => rows, align: 'right' },
  { title: 'STATE HASH', of: ({ state_hash }) => state_hash },
];
const DATABASE: Column<ReplayedPartition> = {
  title: 'DATABASE',
  of: (one) => (one.projected === null ? null : SAYS[one.projected.verdict](one)),
};

export function replayReport(partitions: readonly ReplayedPartition[]): ReplayReport {
  return { ok: partitions.every(({ projected }) => projected === null || projected.verdict === 'same'), partitions };
}

/** A table, and a line for each log that ends before the record that was asked for. */
export function describeReplay({ partitions }: ReplayReport, untilSeq: number | null): string {
  const isCompared = partitions.some(({ projected }) => projected !== null);
  const short = partitions.filter(({ seq, projected }) => projected === null && untilSeq !== null && seq < untilSeq);
  return [
    formatTable(isCompared ? [...COLUMNS, DATABASE] : COLUMNS, partitions),
    ...short.map(
      ({ log, partition, seq }) =>
        `${log}/${String(partition)} ends at record ${String(seq)}, before ${String(untilSeq)}.`,
    ),
  ].join('\n');
}
