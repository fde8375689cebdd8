// What a bench says: one flat object for machines, one table for people.
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { root } from '../../../scripts/lib/paths.mjs';

/** Numbers by flat key. */
export type Numbers = Readonly<Record<string, number>>;

/** What one bench measured. */
export interface Measured {
  /** Absolute numbers; the unit is the end of the key. */
  readonly figures: Numbers;
  /** Ours against the raw baseline of the same run. */
  readonly ratios: Numbers;
  /** Records, statements and flushes beside the figures. */
  readonly counts: Numbers;
  /** What had to be right for the figures to mean anything. */
  readonly gates: Readonly<Record<string, boolean>>;
  /** Lines for people: what shared the cores, what the figure is made of. */
  readonly notes: readonly string[];
}

export interface Report extends Omit<Measured, 'notes'> {
  readonly name: string;
  readonly commit: string;
  readonly machine: string;
}

/** A figure or ratio that the project has promised itself. */
interface Target {
  readonly key: string;
  readonly bound: 'min' | 'max';
  readonly value: number;
}

export const TARGETS: readonly Target[] = [
  { key: 'append_vs_raw', bound: 'min', value: 0.85 },
  { key: 'append_signed_vs_unsigned', bound: 'min', value: 0.9 },
  { key: 'verify_vs_noop', bound: 'min', value: 0.75 },
  { key: 'verify_per_s', bound: 'min', value: 200_000 },
  { key: 'proof_ms', bound: 'max', value: 10 },
  { key: 'verify_rss_max_mb', bound: 'max', value: 300 },
  { key: 'rebuild_per_s', bound: 'min', value: 20_000 },
  { key: 'ingest_vs_bare', bound: 'min', value: 0.7 },
  { key: 'ingest_per_s', bound: 'min', value: 30_000 },
  { key: 'ingest_sealed_vs_bare', bound: 'min', value: 0.7 },
  { key: 'ingest_sealed_per_s', bound: 'min', value: 18_000 },
  { key: 'ingest_full_vs_bare', bound: 'min', value: 0.7 },
  { key: 'expiry_lag_p99_s', bound: 'max', value: 2 },
  { key: 'decisions_per_s', bound: 'min', value: 40_000 },
  { key: 'decisions_vs_update', bound: 'min', value: 10 },
  { key: 'overspend', bound: 'max', value: 0 },
  { key: 'p99_half_load_ms', bound: 'max', value: 10 },
  { key: 'reserve_vs_hop_p50', bound: 'max', value: 3 },
  { key: 'hop_vs_raw_p50', bound: 'max', value: 8 },
  { key: 'recovery_idle_vs_floor', bound: 'max', value: 2 },
  { key: 'recovery_sustained_per_s', bound: 'min', value: 500 },
  { key: 'approval_p50_ms', bound: 'max', value: 40 },
  { key: 'blast_contradicted_s', bound: 'max', value: 3 },
  { key: 'blast_verified_s', bound: 'max', value: 8 },
  { key: 'blast_rss_max_mb', bound: 'max', value: 1_000 },
  { key: 'closure_vs_cte', bound: 'min', value: 50 },
  { key: 'closure_68k_ms', bound: 'max', value: 5 },
  { key: 'rebuild_1500k_edges_s', bound: 'max', value: 3 },
  { key: 'spread_marked_s', bound: 'max', value: 3 },
  { key: 'spread_100k_s', bound: 'max', value: 6 },
  { key: 'spread_chain_ms_per_commit', bound: 'max', value: 5 },
  { key: 'notify_vs_hop_p50', bound: 'max', value: 5 },
  { key: 'warm_ready_s', bound: 'max', value: 20 },
  { key: 'idle_http_p50_ms', bound: 'max', value: 12 },
  { key: 'idle_vs_restate', bound: 'max', value: 0.7 },
  { key: 'http_per_s', bound: 'min', value: 800 },
  { key: 'http_vs_restate', bound: 'min', value: 3 },
  { key: 'memory_per_s', bound: 'min', value: 1_300 },
  { key: 'memory_vs_restate', bound: 'min', value: 3 },
  { key: 'http_per_s_at_200ms', bound: 'min', value: 600 },
  { key: 'memory_per_s_at_200ms', bound: 'min', value: 1_000 },
  { key: 'saga_http_per_s', bound: 'min', value: 300 },
  { key: 'saga_vs_restate', bound: 'min', value: 2 },
  { key: 'cpu_us_per_compensation', bound: 'max', value: 150 },
  { key: 'records_per_run', bound: 'max', value: 12 },
  { key: 'rows_per_run', bound: 'max', value: 6 },
];

/** Merges what several benches measured; their keys do not collide, each begins with its bench's name. */
export function merged(all: readonly Measured[]): Measured {
  const together = <T>(pick: (one: Measured) => Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.assign({}, ...all.map(pick)) as Readonly<Record<string, T>>;
  return {
    figures: together((one) => one.figures),
    ratios: together((one) => one.ratios),
    counts: together((one) => one.counts),
    gates: together((one) => one.gates),
    notes: all.flatMap(({ notes }) => notes),
  };
}

export function reportOf(name: string, { figures, ratios, counts, gates }: Measured): Report {
  return {
    name,
    commit: commit(),
    machine: machine(),
    figures: roundedAll(figures),
    ratios: roundedAll(ratios),
    counts: roundedAll(counts),
    gates,
  };
}

export function failedGates(gates: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(gates)
    .filter(([, held]) => !held)
    .map(([name]) => name);
}

/** The table for people. */
export function tableOf(report: Report, notes: readonly string[]): string {
  const rows = [
    ...Object.entries(report.ratios).map(([key, value]) => row(key, String(value), verdictOn(key, value))),
    ...Object.entries(report.figures).map(([key, value]) => row(key, String(value), verdictOn(key, value))),
    ...Object.entries(report.counts).map(([key, value]) => row(key, String(value), '')),
    ...Object.entries(report.gates).map(([key, held]) => row(key, held ? 'held' : 'FAILED', 'gate')),
  ];
  return [
    `${report.name} at ${report.commit} on ${report.machine}`,
    ...notes.map((note) => `  ${note}`),
    ...rows,
    '',
  ].join('\n');
}

function row(key: string, value: string, more: string): string {
  return `  ${key.padEnd(40)}${value.padStart(14)}  ${more}`.trimEnd();
}

function verdictOn(key: string, value: number): string {
  const target = TARGETS.find((one) => one.key === key);
  if (target === undefined) return '';
  const isMet = target.bound === 'min' ? value >= target.value : value <= target.value;
  return `target ${target.bound === 'min' ? '≥' : '≤'} ${String(target.value)}: ${isMet ? 'met' : 'missed'}`;
}

function roundedAll(numbers: Numbers): Numbers {
  return Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, rounded(value)]));
}

/** Four significant digits below a thousand, whole numbers above. */
function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4));
}

/** Commit of the working tree, marked when something in it was changed since. */
function commit(): string {
  try {
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+changes'}`;
  } catch {
    return 'unknown';
  }
}

function machine(): string {
  const cores = cpus();
  return `${String(cores.length)} × ${cores[0]?.model.trim() ?? 'unknown CPU'}, ${String(Math.round(totalmem() / 2 ** 30))} GB, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}
