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

  it('of one layer stand in the order of what they rest on, so that arrows of a tree cross nowhere', () => {
    const roots = ['a', 'b', 'c', 'd'];
    const arrows = ['d', 'b', 'a', 'c'].flatMap((from) => ['1', '2'].map((to) => ({ from, to: `${from}${to}` })));
    const places = placed({ ids: [...roots, ...arrows.map(({ to }) => to)], arrows });
    const yOf = (id: string): number => places[id]?.y ?? Number.NaN;
    const crossing = arrows.flatMap((one, at) =>
      arrows.slice(at + 1).filter((other) => (yOf(one.from) - yOf(other.from)) * (yOf(one.to) - yOf(other.to)) < 0),
    );
    expect(crossing).toEqual([]);
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
