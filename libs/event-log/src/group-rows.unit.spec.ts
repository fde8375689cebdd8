import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Overlay, RowCache } from './row-cache.js';
import type { Change, Doc } from './service-core.js';

const KIND = 'thing';
const placeOf = ({ place }: Doc): number | null => (typeof place === 'number' ? place : null);
const put = (key: string, place: number | null, more = 0): Change => ({
  op: 'put',
  row: { kind: KIND, group: 'g', key, dueAt: null, doc: { key, place, more } },
});
const gone = (key: string): Change => ({ op: 'delete', address: { kind: KIND, group: 'g', key } });

/** A cache that counts how often it asks where a row stands. */
function counted() {
  const asked = { count: 0 };
  const place = (doc: Doc): number | null => {
    asked.count += 1;
    return placeOf(doc);
  };
  return { asked, cache: new RowCache(new Set([KIND]), Infinity, [{ kind: KIND, place }]) };
}

function taken(cache: RowCache, changes: readonly Change[]): Overlay {
  const overlay = new Overlay(cache);
  overlay.apply(changes);
  return overlay;
}

const keysOf = (docs: Iterable<Doc>): readonly unknown[] => [...docs].map(({ key }) => key);
/** What a walk should find, from all rows as they are. */
function expected(rows: ReadonlyMap<string, number | null>, below: number | null) {
  const at = [...rows].filter(([, place]) => (place ?? -1) < (below ?? Infinity));
  return at.sort((a, b) => (b[1] ?? -1) - (a[1] ?? -1)).map(([, place]) => place);
}

const changes = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.option(fc.nat(9), { nil: null }), fc.boolean()),
  { maxLength: 6 },
);

describe('rows of a group in their order', () => {
  it('are walked last first, as they are after every change, also while a batch that changes them is decided', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 8 }), fc.option(fc.nat(9), { nil: null }), (batches, below) => {
        const { cache } = counted();
        const rows = new Map<string, number | null>();
        for (const batch of batches) {
          const overlay = taken(
            cache,
            batch.map(([key, place, isGone]) => (isGone ? gone(key) : put(key, place))),
          );
          for (const [key, place, isGone] of batch) {
            if (isGone) rows.delete(key);
            else rows.set(key, place);
          }
          const walked = [...overlay.lastFirst(KIND, 'g', below)];
          expect(walked.map(placeOf)).toEqual(expected(rows, below));
          expect(new Set(keysOf(walked)).size).toBe(walked.length);
          expect([...keysOf(overlay.all(KIND, 'g'))].sort()).toEqual([...rows.keys()].sort());
          cache.commit(overlay.changedGroups, 1);
          expect([...new Overlay(cache).lastFirst(KIND, 'g', below)].map(placeOf)).toEqual(expected(rows, below));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('are as they were after a change that was taken back', () => {
    const { cache } = counted();
    cache.commit(taken(cache, [put('a', 1), put('b', 2)]).changedGroups, 1);
    const overlay = taken(cache, [put('a', 1, 1)]);
    const mark = overlay.mark();
    overlay.apply([put('a', 5), gone('b'), put('c', 3)]);
    expect(keysOf(overlay.lastFirst(KIND, 'g', null))).toEqual(['a', 'c']);
    overlay.rollback(mark);
    expect(keysOf(overlay.lastFirst(KIND, 'g', null))).toEqual(['b', 'a']);
    expect(overlay.get(KIND, 'g', 'a')).toEqual({ key: 'a', place: 1, more: 1 });
  });

  it('cost what is walked over and changed, not what there is', () => {
    const { cache, asked } = counted();
    const many = 10_000;
    cache.commit(
      taken(
        cache,
        Array.from({ length: many }, (_, at) => put(String(at), at)),
      ).changedGroups,
      1,
    );
    expect([...new Overlay(cache).lastFirst(KIND, 'g', null)]).toHaveLength(many);
    asked.count = 0;
    for (let turn = 0, below = many; turn < 10; turn += 1, below -= 10) {
      const overlay = new Overlay(cache);
      const docs = overlay.lastFirst(KIND, 'g', below)[Symbol.iterator]();
      for (let left = 10; left > 0; left -= 1) {
        const next = docs.next();
        if (next.done !== true) overlay.apply([put(String(next.value.key), Number(next.value.place), turn + 1)]);
      }
      cache.commit(overlay.changedGroups, turn + 2);
    }
    expect(asked.count).toBeLessThan(100 * 12);
  });
});
