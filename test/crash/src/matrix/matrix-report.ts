// What a person reads of the matrix. Pure.
import type { CaseResult, WaveResult } from './wave.js';
import type { Wave } from './waves.decisions.js';

const HEAD = ['point', 'action', 'target', 'effects', 'end', 'back after s'] as const;

export function waveLine(
  number: string,
  { action, target }: Wave,
  { cases, readyAfterMs }: WaveResult,
  tookMs: number,
): string {
  const counted = cases.filter(({ isCounted }) => isCounted).length;
  const verdict = cases.every(({ problems }) => problems.length === 0) ? 'sound' : 'BROKEN';
  return `${number.padStart(7)}  ${verdict.padEnd(6)}  ${action.padEnd(8)} ${target.padEnd(22)} ${String(counted)}/${String(cases.length)} at their point (${cases.map(({ point }) => point).join(', ')}), ready in ${seconds(readyAfterMs)} s, ended after ${seconds(tookMs)} s`;
}

/** A line per case; one that never counted says so. */
export function matrixTable(cases: readonly CaseResult[]): string {
  const rows = cases.map(({ point, action, target, effects, end, backAfterMs, isCounted }) => [
    point,
    action,
    target,
    String(effects),
    isCounted ? end : `did not count (${end})`,
    seconds(backAfterMs),
  ]);
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

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
