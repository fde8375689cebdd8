import { describe, expect, it } from '@jest/globals';
import { keptAt } from './kept-at.js';

describe('what is kept at an object', () => {
  it('is found there, and changed, also at one that is frozen, in a list and at bytes', () => {
    const kept = keptAt<object, number>();
    for (const object of [{}, Object.freeze({ a: 1 }), [1], Buffer.of(1)]) {
      expect(kept.get(object)).toBeUndefined();
      kept.set(object, 1);
      kept.set(object, 2);
      expect(kept.get(object)).toBe(2);
    }
  });

  it('is seen by nobody else: another memo, a copy, a loop', () => {
    const [kept, other] = [keptAt<object, number>(), keptAt<object, number>()];
    const object = { a: 1 };
    kept.set(object, 1);
    expect(other.get(object)).toBeUndefined();
    expect(kept.get({ ...object })).toBeUndefined();
    expect(Reflect.ownKeys(object)).toEqual(['a']);
    expect(JSON.stringify(object)).toBe('{"a":1}');
  });
});
