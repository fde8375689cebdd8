// What a drill of a worker came to, in words, and which of its findings come first. Pure.
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';

const WORDS: Readonly<Record<string, string>> = {
  clean: 'Every path is as its contract says.',
  drift: 'Something is not as its contract says.',
  not_run: 'Not every path could be exercised: about those nothing is known.',
};

export function drillWords(drill: Row): string {
  return WORDS[textIn(drill, 'verdict') ?? ''] ?? 'What this drill came to is not said.';
}

const RANK: readonly string[] = ['drift', 'not_run', 'clean'];

/** What drifted, then what is not known, then the rest, each in the order of the drill. */
export function driftFirst(findings: readonly Row[]): readonly Row[] {
  const rank = (row: Row): number => RANK.indexOf(textIn(row, 'verdict') ?? '');
  return findings.toSorted((a, b) => rank(a) - rank(b));
}
