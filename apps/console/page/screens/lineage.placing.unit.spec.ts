// Where the boxes of a lineage stand.
import { describe, expect, it } from '@jest/globals';
import { placed } from './lineage.placing.js';
import { HEIGHT, WIDTH } from './lineage.size.js';

describe('boxes of a lineage', () => {
  it('stand right of what they rest on, and none on another', () => {
    const arrows = [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c' },
      { from: 'b', to: 'd' },
      { from: 'c', to: 'd' },
    ];
    const ids = ['a', 'b', 'c', 'd'];
    const places = placed({ ids, arrows });
    const xOf = (id: string): number => places[id]?.x ?? Number.NaN;
    for (const { from, to } of arrows) expect(xOf(to)).toBeGreaterThan(xOf(from) + WIDTH);
    const overlap = (one: string, other: string): boolean =>
      Math.abs(xOf(one) - xOf(other)) < WIDTH && Math.abs((places[one]?.y ?? 0) - (places[other]?.y ?? 0)) < HEIGHT;
    expect(ids.flatMap((one, at) => ids.slice(at + 1).filter((other) => overlap(one, other)))).toEqual([]);
  });

  it('that rest on each other in a circle are placed all the same', () => {
    const places = placed({
      ids: ['a', 'b'],
      arrows: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
      ],
    });
    expect(Object.keys(places).sort()).toEqual(['a', 'b']);
  });
});
