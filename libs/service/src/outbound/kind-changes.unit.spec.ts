import { describe, expect, it } from '@jest/globals';
import type { Change, KindSpec } from '@recourse/event-log';
import { countRows, lastChanges } from './kind-changes.js';

const SPEC: KindSpec = { kind: 'thing', table: 'thing', columns: [], lasting: ['tool'] };
const put = (key: string, n: number, isLasting = false): Change => ({
  op: 'put',
  row: { kind: 'thing', group: 'g', key, dueAt: null, doc: { tool: 'refund', n } },
  ...(isLasting ? { isLasting: true } : {}),
});
const remove = (key: string): Change => ({ op: 'delete', address: { kind: 'thing', group: 'g', key } });
/** Numbers of the rows put and updated, keys of those deleted. */
const of = (...changes: readonly Change[]): readonly unknown[] =>
  lastChanges(changes, () => SPEC).flatMap(({ puts, updates, deletes }) => [
    puts.map(({ doc }) => doc['n']),
    updates.map(({ doc }) => doc['n']),
    deletes.map(({ key }) => key),
  ]);

describe('the changes of one projection', () => {
  it('are the last of each address', () => {
    expect(of(put('a', 1), put('a', 2), put('b', 3), remove('b'), remove('c'), put('c', 4))).toEqual([
      [2, 4],
      [],
      ['b'],
    ]);
  });

  it('touch a row once, however often it changed', () => {
    expect(
      countRows(
        lastChanges(
          [1, 2, 3].flatMap((n) => [put('a', n), put('b', n, true), remove('c')]),
          () => SPEC,
        ),
      ),
    ).toBe(3);
  });

  it('update a row that keeps its lasting members', () => {
    expect(of(put('a', 1, true), put('a', 2, true))).toEqual([[], [2], []]);
  });

  it('put a row whole that an earlier one of them made', () => {
    expect(of(put('a', 1), put('a', 2, true), put('a', 3, true))).toEqual([[3], [], []]);
    expect(of(put('a', 1, true), put('a', 2), put('a', 3, true))).toEqual([[3], [], []]);
  });
});
