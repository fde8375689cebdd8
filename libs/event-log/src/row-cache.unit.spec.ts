import { describe, expect, it } from '@jest/globals';
import { Lacking, Lacks } from './lacks.js';
import { Overlay, RowCache } from './row-cache.js';
import type { Change, Doc } from './service-core.js';

describe('a group that is not in memory', () => {
  const cache = new RowCache(new Set(), 10);

  it('is lacking to a decision, and noted by a probe', () => {
    expect(() => new Overlay(cache).get('thing', 'a', 'a')).toThrow(Lacking);
    const lacks = new Lacks();
    expect(new Overlay(cache).probe(lacks).list('thing', 'a')).toEqual([]);
    expect(lacks.rows).toEqual([{ kind: 'thing', group: 'a' }]);
  });

  it.each(['a\u0000b', '\ud800'])('is empty where no row can have its key: %j', (group) => {
    expect(new Overlay(cache).list('thing', group)).toEqual([]);
    const lacks = new Lacks();
    new Overlay(cache).probe(lacks).list('thing', group);
    expect(lacks.rows).toEqual([]);
  });
});

describe('a change of a row', () => {
  const row = (doc: Doc): Change => ({ op: 'put', row: { kind: 'thing', group: 'a', key: 'a', dueAt: null, doc } });
  const terms = { digest: 'd' };
  const first = { tool: 'refund', terms, state: 'open' };
  /** What a store would be told of the last of these changes. */
  const told = (kept: readonly string[] | undefined, ...changes: readonly Change[]): boolean => {
    const cache = new RowCache(new Set(['thing']), 10, [
      { kind: 'thing', ...(kept === undefined ? {} : { lasting: kept }) },
    ]);
    const overlay = new Overlay(cache);
    overlay.apply(changes);
    const last = overlay.changes.at(-1);
    return last?.op === 'put' && last.isLasting === true;
  };
  const kept = ['tool', 'terms'];

  it('says whether its lasting members stay as they were', () => {
    expect(told(kept, row(first), row({ ...first, state: 'closed' }))).toBe(true);
    expect(told(kept, row(first), row({ ...first, terms: { digest: 'e' } }))).toBe(false);
    expect(told(kept, row(first), row({ tool: 'refund', state: 'open' }))).toBe(false);
  });

  it('never says so of one that was not there, or of a kind without such members', () => {
    const gone: Change = { op: 'delete', address: { kind: 'thing', group: 'a', key: 'a' } };
    expect(told(kept, row(first))).toBe(false);
    expect(told(kept, row(first), gone, row(first))).toBe(false);
    expect(told(undefined, row(first), row({ ...first, state: 'closed' }))).toBe(false);
  });
});

describe('what is kept', () => {
  const cache = new RowCache(new Set(), 10);
  const change = (group: string, count: number, seq: number): void => {
    const overlay = new Overlay(cache);
    overlay.apply(
      Array.from({ length: count }, (_, n): Change => {
        return { op: 'put', row: { kind: 'thing', group, key: `${group}-${String(n)}`, dueAt: null, doc: { n } } };
      }),
    );
    cache.commit(overlay.changedGroups, seq);
  };
  const kept = (): string => ['a', 'b', 'c'].filter((group) => cache.has('thing', group)).join('');

  it('is bounded in rows, however few groups they are in; what was not projected stays', () => {
    cache.fill(
      ['a', 'b', 'c'].map((group) => ({ kind: 'thing', group })),
      [],
    );
    change('a', 6, 1);
    change('b', 6, 2);
    cache.evict(0);
    expect(kept()).toBe('ab');
    cache.evict(2);
    expect(kept()).toBe('b');
    change('b', 11, 3);
    cache.evict(3);
    expect(kept()).toBe('');
  });
});
