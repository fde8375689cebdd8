// What a person reads: a line per kill, a table in the end. Pure.
import type { KillReport } from './kill.js';
import type { RunResult } from './schedule.decisions.js';

const HEAD = ['killed', 'at', 'instances', 'runs', 'counted', 'sound', 'recovered in ms'] as const;

export function lineOf(number: number, { runs, victim, problems }: KillReport, tookMs: number): string {
  const [first] = runs;
  const counted = runs.filter(({ isCounted }) => isCounted).length;
  const verdict = problems.length === 0 ? 'sound' : 'BROKEN';
  return `${String(number).padStart(3)}  ${verdict.padEnd(6)}  ${victim.padEnd(25)} at ${(first?.point ?? '').padEnd(22)} ${String(counted)}/${String(runs.length)} counted, back in ${String(first?.recoveredInMs ?? 0).padStart(5)} ms, ended after ${String(Math.round(tookMs / 100) / 10)} s`;
}

/** Runs by process, moment and number of instances. */
export function tableOf(runs: readonly RunResult[]): string {
  const groups = new Map<string, RunResult[]>();
  for (const run of runs) {
    const id = `${run.target} ${run.point} ${String(run.instances)}`;
    groups.set(id, [...(groups.get(id) ?? []), run]);
  }
  const rows = [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => rowOf(group));
  const totals = [...new Set(runs.map(({ target }) => target))].map((target) =>
    rowOf(
      runs.filter((run) => run.target === target),
      'all',
    ),
  );
  return aligned([[...HEAD], ...rows, ...totals]);
}

function rowOf(group: readonly RunResult[], point?: string): readonly string[] {
  const [first] = group;
  const times = group.map(({ recoveredInMs }) => recoveredInMs).sort((a, b) => a - b);
  const isCounted = group.filter((run) => run.isCounted).length;
  const instances =
    point === undefined ? String(first?.instances) : [...new Set(group.map((run) => run.instances))].join('+');
  return [
    first?.target ?? '',
    point ?? first?.point ?? '',
    instances,
    String(group.length),
    String(isCounted),
    String(group.filter(({ isSound }) => isSound).length),
    `${String(times[Math.floor(times.length / 2)])} (max ${String(times.at(-1))})`,
  ];
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
