// Names that a suite forbids and nobody knows: a slip of the pen there would pass whatever an agent called. Pure.
import type { Rejection } from '@recourse/kernel';
import { fits } from './suite.js';
import type { Suite } from './suite.js';

/** A name that a case forbids, and where. */
export interface Forbidden {
  readonly name: string;
  /** JSON pointer into the suite. */
  readonly path: string;
}

/**
 * Names that cases forbid and that no step of the suite asks for.
 *
 * Shape: patterns are none of them: `*` may stand for what is not there yet.
 */
export function forbiddenIn({ cases }: Suite): readonly Forbidden[] {
  const asked = new Set(cases.flatMap(({ trajectory }) => (trajectory?.steps ?? []).map(({ tool }) => tool)));
  return cases.flatMap(({ trajectory }, at) =>
    (trajectory?.forbid ?? []).flatMap((name, index) =>
      name.includes('*') || asked.has(name)
        ? []
        : [{ name, path: `/cases/${String(at)}/trajectory/forbid/${String(index)}` }],
    ),
  );
}

/** Patterns that cases forbid. */
export function patternsIn({ cases }: Suite): readonly Forbidden[] {
  return cases.flatMap(({ trajectory }, at) =>
    (trajectory?.forbid ?? []).flatMap((name, index) =>
      name.includes('*') ? [{ name, path: `/cases/${String(at)}/trajectory/forbid/${String(index)}` }] : [],
    ),
  );
}

/** Patterns that fit nothing of `known` while something begins nearly so: slips of the pen. What nothing comes near is for what is not there yet. */
export function idlePatterns(patterns: readonly Forbidden[], known: readonly string[]): readonly Rejection[] {
  const beginsNearly = (head: string): readonly string[] =>
    [...new Set(known)].filter((one) => nearTo(head, [one.slice(0, head.length)]).length > 0).slice(0, NEAR_MAX);
  return patterns
    .filter(({ name }) => !known.some((one) => fits(name, one)))
    .map((one) => ({ ...one, near: beginsNearly(one.name.slice(0, one.name.indexOf('*'))) }))
    .filter(({ near }) => near.length > 0)
    .map(({ name, path, near }) => ({
      code: 'FORBID_PATTERN_IDLE',
      message: `${name} fits nothing that anybody knows: today it forbids nothing; near it: ${near.join(', ')}`,
      path,
    }));
}

/** What is wrong with names that nothing on record has, and which of `known` come near. */
export function unknownForbidden(unknown: readonly Forbidden[], known: readonly string[]): readonly Rejection[] {
  return unknown.map(({ name, path }) => {
    const near = nearTo(name, known);
    const hint = near.length === 0 ? '' : `; near it: ${near.join(', ')}`;
    return {
      code: 'FORBID_UNKNOWN',
      message: `${name} has no contract and is in no case: forbidding it forbids nothing${hint}`,
      path,
    };
  });
}

const NEAR_MAX = 3;

/** Names that a slip of the pen makes of each other, the nearest first. */
export function nearTo(name: string, known: readonly string[]): readonly string[] {
  const most = Math.max(2, Math.floor(name.length / 5));
  return [...new Set(known)]
    .filter((one) => Math.abs(one.length - name.length) <= most)
    .map((one) => ({ one, apart: editsBetween(name, one) }))
    .filter(({ apart }) => apart <= most)
    .sort((a, b) => a.apart - b.apart || (a.one < b.one ? -1 : 1))
    .slice(0, NEAR_MAX)
    .map(({ one }) => one);
}

/** Letters to put in, take out or change, to make one of the other. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const change = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(change, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
