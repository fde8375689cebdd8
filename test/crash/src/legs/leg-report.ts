// What a person reads of the crash runs of legs. Pure.
import { LEG_STEPS, MOMENTS, TOOL_KINDS } from './leg.cases.js';
import { permille, SESSION_MS } from './leg.decisions.js';
import type { LegResult } from './leg-place.js';

const HEAD = [
  'tool',
  'killed at',
  'kills',
  'counted',
  'each once, none lost',
  'with a person',
  'called again',
  'taken up after s',
];

export function legLine(number: number, result: LegResult): string {
  const { kind, step, moment, isCounted, takenUpMs, restMs, withPeople, problems } = result;
  const verdict = problems.length > 0 ? 'BROKEN' : isCounted ? 'sound' : 'missed';
  return `${String(number).padStart(4)}  ${verdict.padEnd(6)}  ${kind.padEnd(7)} step ${String(step).padStart(2)} of ${String(LEG_STEPS)} at ${moment.padEnd(12)} taken up after ${seconds(takenUpMs)} s, at rest after ${seconds(restMs)} s${withPeople > 0 ? `, ${String(withPeople)} with a person` : ''}`;
}

export function takenUpLine(times: readonly number[], withinMs: number): string {
  const within = times.filter((ms) => ms <= withinMs).length;
  return `taken up after ${seconds(permille(times, 500))} s (p50), ${seconds(permille(times, 990))} s (p99), ${seconds(permille(times, 1_000))} s (max); ${String(within)} of ${String(times.length)} within a session of ${seconds(SESSION_MS)} s and ${seconds(withinMs - SESSION_MS)} s for the next to join`;
}

/** A line per kind of tool and moment, and one for each kind. */
export function legTable(results: readonly LegResult[]): string {
  const rows = TOOL_KINDS.flatMap((kind) => {
    const own = results.filter((one) => one.kind === kind);
    const at = MOMENTS.map((moment) =>
      rowOf(
        kind,
        moment,
        own.filter((one) => one.moment === moment),
      ),
    );
    return own.length === 0 ? [] : [...at, rowOf(kind, 'all', own)];
  });
  const all: readonly (readonly string[])[] = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function rowOf(kind: string, moment: string, results: readonly LegResult[]): readonly string[] {
  const counted = results.filter(({ isCounted }) => isCounted);
  const times = counted.flatMap(({ takenUpMs }) => takenUpMs ?? []);
  return [
    kind,
    moment,
    String(results.length),
    String(counted.length),
    String(counted.filter(({ problems }) => problems.length === 0).length),
    String(counted.filter(({ withPeople }) => withPeople > 0).length),
    String(counted.reduce((sum, { repeats }) => sum + repeats, 0)),
    `${seconds(permille(times, 500))} (max ${seconds(permille(times, 1_000))})`,
  ];
}

function seconds(ms: number | null): string {
  return ms === null ? '-' : (ms / 1_000).toFixed(1);
}
