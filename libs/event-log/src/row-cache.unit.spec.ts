import { describe, expect, it } from '@jest/globals';
import { Lacking, Lacks } from './lacks.js';
import { Overlay, RowCache } from './row-cache.js';

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
