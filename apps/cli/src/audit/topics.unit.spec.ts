import { describe, expect, it } from '@jest/globals';
import { CAUSES_LAST, LOG_TOPICS } from './topics.js';

describe('the order in which a dump is made', () => {
  it('reads what speaks of other logs before those, so that it holds whatever they speak of', () => {
    expect([...CAUSES_LAST].sort()).toEqual([...LOG_TOPICS].sort());
    const at = (name: string): number => CAUSES_LAST.indexOf(`recourse.${name}`);
    const order = ['signed-heads', 'rollback-notifications', 'recoveries', 'mutations', 'assumptions', 'contracts'];
    const places = order.map(at);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(at('signed-heads')).toBe(0);
  });
});
