// From the cells of all rounds to the keys of the report. Pure.
import type { Measured, Numbers } from '../report.js';
import { median, sum } from '../rounds.js';
import type { CellPlan } from './cells.js';
import type { Measurement } from './measure-cell.js';
import { EFFECTS } from './work.js';
import type { Variant, Workload } from './work.js';

/** Engines whose figures are compared with Restate's, and what their keys begin with. */
const OURS: Readonly<Record<string, string>> = { recourse: '', 'recourse-flushed': 'flushed_' };
const PEER = 'restate';
const P99_MS = 200;

/** A cell over all rounds: medians. */
interface Summary extends CellPlan {
  readonly perS: number;
  readonly p50: number;
  readonly p99: number;
  readonly rounds: readonly Measurement[];
}

export function figuresOf(engines: readonly string[], cells: readonly Measurement[]): Omit<Measured, 'notes'> {
  const byEngine = new Map(
    engines.map((engine) => [engine, summaries(cells.filter((cell) => cell.engine === engine))]),
  );
  const all = [...byEngine].map(([engine, found]) => ({ prefix: prefixOf(engine), found }));
  const peer = byEngine.get(PEER) ?? [];
  return {
    figures: together(all.map(({ prefix, found }) => prefixed(prefix, { ...headline(found), ...levels(found) }))),
    ratios: together(
      Object.entries(OURS).map(([engine, prefix]) => prefixed(prefix, ratios(byEngine.get(engine) ?? [], peer))),
    ),
    counts: together(all.map(({ prefix, found }) => prefixed(prefix, counts(found)))),
    gates: Object.fromEntries(
      engines.map((engine) => [`${engine}_every_run_exact`, isRight(cells.filter((cell) => cell.engine === engine))]),
    ),
  };
}

function isRight(cells: readonly Measurement[]): boolean {
  return cells.length > 0 && cells.every(({ wrong }) => wrong === null);
}

function prefixOf(engine: string): string {
  return OURS[engine] ?? `${engine}_`;
}

function summaries(cells: readonly Measurement[]): readonly Summary[] {
  return [...new Set(cells.map(keyOf))].flatMap((key) => {
    const rounds = cells.filter((cell) => keyOf(cell) === key);
    const [first] = rounds;
    if (first === undefined) return [];
    const of = (pick: (cell: Measurement) => number): number => median(rounds.map(pick));
    const { workload, variant, callers } = first;
    return [
      { workload, variant, callers, perS: of((c) => c.perS), p50: of((c) => c.p50), p99: of((c) => c.p99), rounds },
    ];
  });
}

function keyOf({ workload, variant, callers }: CellPlan): string {
  return `${workload} ${variant} ${String(callers)}`;
}

/** The fastest cell of a kind; with a limit, of those whose p99 keeps it. */
function best(found: readonly Summary[], workload: Workload, variant: Variant, p99Max = Infinity): Summary | undefined {
  return found
    .filter((one) => one.workload === workload && one.variant === variant && one.p99 <= p99Max)
    .sort((a, b) => b.perS - a.perS)[0];
}

function idleOf(found: readonly Summary[]): Summary | undefined {
  return found.find(({ workload, variant, callers }) => workload === 'recover' && variant === 'http' && callers === 1);
}

function headline(found: readonly Summary[]): Numbers {
  const isMeasured = (variant: Variant): boolean => best(found, 'recover', variant) !== undefined;
  const within = (variant: Variant): number | undefined =>
    isMeasured(variant) ? (best(found, 'recover', variant, P99_MS)?.perS ?? 0) : undefined;
  const fastest = best(found, 'recover', 'memory');
  return known({
    idle_http_p50_ms: idleOf(found)?.p50,
    idle_http_p99_ms: idleOf(found)?.p99,
    http_per_s: best(found, 'recover', 'http')?.perS,
    memory_per_s: fastest?.perS,
    http_per_s_at_200ms: within('http'),
    memory_per_s_at_200ms: within('memory'),
    saga_http_per_s: best(found, 'saga', 'http')?.perS,
    cpu_us_per_compensation: cpuOf(fastest),
    ...writtenOf(fastest),
  });
}

function ratios(ours: readonly Summary[], peer: readonly Summary[]): Numbers {
  const [we, they] = [headline(ours), headline(peer)];
  const against = (key: string): number | undefined => {
    const [mine, theirs] = [we[key], they[key]];
    return mine === undefined || theirs === undefined ? undefined : mine / theirs;
  };
  return known({
    idle_vs_restate: against('idle_http_p50_ms'),
    http_vs_restate: against('http_per_s'),
    memory_vs_restate: against('memory_per_s'),
    saga_vs_restate: against('saga_http_per_s'),
  });
}

/** Every cell: `http_at_16_per_s`, `saga_http_at_1_p50_ms`. */
function levels(found: readonly Summary[]): Numbers {
  return Object.fromEntries(
    found.flatMap(({ workload, variant, callers, perS, p50, p99 }) => {
      const place = `${workload === 'saga' ? 'saga_' : ''}${variant}_at_${String(callers)}`;
      return [
        [`${place}_per_s`, perS],
        [`${place}_p50_ms`, p50],
        [`${place}_p99_ms`, p99],
      ];
    }),
  );
}

/** CPU by process at the highest rate, and how much of the machine strangers used. */
function counts(found: readonly Summary[]): Numbers {
  const fastest = best(found, 'recover', 'memory') ?? best(found, 'recover', 'http');
  const names = Object.keys(fastest?.rounds[0]?.cpuMs ?? {});
  return known({
    runs: sum(found.flatMap(({ rounds }) => rounds.map(({ runs }) => runs))),
    foreign_cpu_share_max: Math.max(0, ...found.flatMap(({ rounds }) => rounds.map(({ foreign }) => foreign))),
    ...Object.fromEntries(
      names.map((name) => [
        `cpu_ms_per_run_${name.replaceAll('-', '_')}`,
        median(fastest?.rounds.map(({ cpuMs }) => cpuMs[name] ?? 0) ?? []),
      ]),
    ),
  });
}

function cpuOf(cell: Summary | undefined): number | undefined {
  if (cell === undefined) return undefined;
  return (median(cell.rounds.map(({ cpuMs }) => sum(Object.values(cpuMs)))) * 1_000) / EFFECTS;
}

function writtenOf(cell: Summary | undefined): Readonly<Record<string, number | undefined>> {
  const all = (cell?.rounds ?? []).flatMap(({ written }) => (written === null ? [] : [written]));
  if (all.length === 0) return {};
  return {
    records_per_run: median(all.map(({ records }) => records)),
    produce_requests_per_run: median(all.map(({ appends }) => appends)),
    rows_per_run: median(all.map(({ rows }) => rows)),
  };
}

function known(numbers: Readonly<Record<string, number | undefined>>): Numbers {
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
  );
}

function prefixed(prefix: string, numbers: Numbers): Numbers {
  return Object.fromEntries(Object.entries(numbers).map(([key, value]) => [`${prefix}${key}`, value]));
}

function together(all: readonly Numbers[]): Numbers {
  return Object.fromEntries(all.flatMap((numbers) => Object.entries(numbers)));
}
