// How judged controls are summed up, and how a report ends the process (D45 to D47). Pure.
import { formatTable } from '../output/table.js';
import type { Column } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import type { ExitKind } from '../problem.js';
import type { Judged } from './probe.js';

export interface Counts {
  readonly passed: number;
  readonly partial: number;
  readonly failed: number;
  /** A pass counts 1, a partial one half; rounded down to thousandths, so that 1 means all. */
  readonly score: number;
  readonly blockers: string[];
}

export function rolledUp(list: readonly Judged[]): Counts {
  const count = (result: Judged['result']): number => list.filter((one) => one.result === result).length;
  const [passed, partly] = [count('pass'), count('partial')];
  return {
    passed,
    partial: partly,
    failed: count('fail'),
    score: list.length === 0 ? 0 : Math.floor(((passed + partly / 2) / list.length) * 1_000) / 1_000,
    blockers: list.filter(({ result, severity }) => result === 'fail' && severity === 'P0').map(({ id }) => id),
  };
}

/** As it is printed: lists of its own. */
export function reportOf(one: Judged): Omit<Judged, 'evidence'> & { readonly evidence: string[] } {
  return { ...one, evidence: [...one.evidence] };
}

/** A blocker stops whatever the score is; else what counts is the threshold, which is everything unless told (D47). */
export function endOf({ blockers, score }: Pick<Counts, 'blockers' | 'score'>, failUnder: number): ExitKind {
  if (blockers.length > 0) return 'blocked';
  return score < failUnder ? 'found' : 'done';
}

const COLUMNS: readonly Column<Judged>[] = [
  { title: 'CONTROL', of: ({ id }) => id },
  { title: 'RESULT', of: ({ result }) => result },
  { title: '', of: ({ result, severity }) => (result === 'pass' ? '' : severity) },
  { title: 'WHAT HOLDS', of: ({ title }) => title },
];

/** A table, then evidence and remedy of what did not pass. */
export function judgedText(list: readonly Judged[]): string {
  const open = list.filter(({ result }) => result !== 'pass');
  return [
    formatTable(COLUMNS, list),
    ...open.flatMap(({ id, severity, result, evidence, remedy }) => [
      '',
      `${id}: ${result}, ${severity}`,
      ...evidence.map((line) => `  ${visibleOnOneLine(line)}`),
      ...(remedy === null ? [] : [`  What to do: ${remedy}`]),
    ]),
  ].join('\n');
}

export function countsText({ passed, partial, failed, score, blockers }: Counts): string {
  return `${String(passed)} pass, ${String(partial)} partial, ${String(failed)} fail, score ${score.toFixed(3)}${
    blockers.length === 0 ? '' : `; blocked by ${blockers.join(', ')}`
  }`;
}
