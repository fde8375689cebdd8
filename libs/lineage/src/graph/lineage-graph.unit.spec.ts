import { describe, expect, it } from '@jest/globals';
import { sha256Hex } from '@recourse/kernel';
import fc from 'fast-check';
import { EdgeLines } from './edge-lines.js';
import { IdTable } from './id-table.js';
import { LineageGraph } from './lineage-graph.js';

const mutation = (n: number): string => `mut_${sha256Hex(`m${n}`).slice(0, 32)}`;
const commit = (n: number): string => `cp_${sha256Hex(`c${n}`)}`;
/** Ids of all forms: of mutations, of commits, of whatever a child may name. */
const idOf = (n: number): string => [mutation(n), commit(n), `named ${n}`][n % 3] ?? '';

/** Says the same as closureOf, slowly and by the book. */
function oracle(
  edges: readonly (readonly [child: string, parent: string])[],
  roots: readonly string[],
): ReadonlySet<string> {
  const reached = new Set<string>();
  const known = new Set(edges.flat());
  let border = roots.filter((root) => known.has(root));
  while (border.length > 0) {
    const next = edges
      .filter(([, parent]) => border.includes(parent))
      .map(([child]) => child)
      .filter((child) => !reached.has(child) && !roots.includes(child));
    for (const child of next) reached.add(child);
    border = [...new Set(next)];
  }
  return reached;
}

/** Ids that look like those of commits up to some place: too short, too long, no digits, digits with what a line ends with or COPY escapes. */
const alikeOf = (n: number): string => {
  const id = n % 2 === 0 ? mutation(n) : commit(n);
  return (
    [
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      `${id.slice(0, 9)}\t${id.slice(10)}`,
      `${id.slice(0, -2)}\\n`,
      `${id.slice(0, 20)}\n`,
      `${id.slice(0, -1)}g`,
      `m${String(n)}`,
      '',
    ][n % 9] ?? ''
  );
};
const anyIdOf = (n: number): string => (n % 4 === 3 ? alikeOf(n) : idOf(n));
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };
const copied = (id: string): string => id.replaceAll(/[\\\t\n]/g, (sign) => ESCAPED[sign] ?? sign);

const edgesOf = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 120 });

describe('ids as numbers', () => {
  it('gives each id one number and gives it back, also through many growths', () => {
    const table = new IdTable();
    const ids = Array.from({ length: 5_000 }, (_, n) => idOf(n));
    expect(ids.map((id) => table.intern(id))).toEqual(ids.map((_, n) => n));
    expect(ids.map((id) => table.intern(id))).toEqual(ids.map((_, n) => n));
    expect(ids.map((_, n) => table.idOf(n))).toEqual(ids);
    expect(table.size).toBe(5_000);
  });

  it('finds ids again among many that keep no digits', () => {
    const table = new IdTable();
    const ids = Array.from({ length: 9_000 }, (_, n) =>
      n % 3_000 < 2_900 ? `named ${String(n)}` : idOf(3 * n + (n % 2)),
    );
    expect(ids.map((id) => table.intern(id))).toEqual(ids.map((_, n) => n));
    expect(ids.map((id) => table.find(id))).toEqual(ids.map((_, n) => n));
  });

  it('takes nothing for a commit that only begins like it', () => {
    const table = new IdTable();
    const [id] = [commit(1)];
    const alike = [
      `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`,
      `mut_${id.slice(3, 35)}`,
      id.slice(0, 35),
      id.toUpperCase(),
      `${id} `,
      `${id.slice(0, -1)}g`,
      '',
    ];
    table.intern(id);
    expect(new Set([id, ...alike].map((one) => table.intern(one))).size).toBe(alike.length + 1);
    expect([table.find(id), table.find(commit(2)), table.find('nobody')]).toEqual([0, -1, -1]);
  });
});

describe('the closure of a graph', () => {
  it('equals the oracle on any graph, cycles and parents of themselves included', () => {
    fc.assert(
      fc.property(edgesOf, fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }), (pairs, from) => {
        const edges = pairs.map(([child, parent]) => [idOf(child), idOf(parent)] as const);
        const roots = [...new Set(from.map(idOf))];
        const graph = new LineageGraph();
        for (const [child, parent] of edges) graph.add(child, [parent]);
        const found = graph.closureOf(roots);
        expect([...found.ids()].sort()).toEqual([...oracle(edges, roots)].sort());
        expect([found.count, graph.sizeOf(roots)]).toEqual([found.ids().length, found.count]);
      }),
      { numRuns: 500 },
    );
  });

  it('equals the oracle whichever edges are settled and which came later', () => {
    const stepsOf = fc.array(fc.tuple(edgesOf, fc.boolean()), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(stepsOf, fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }), (steps, from) => {
        const roots = [...new Set(from.map(idOf))];
        const graph = new LineageGraph();
        const edges: (readonly [string, string])[] = [];
        for (const [pairs, settles] of steps) {
          for (const [child, parent] of pairs) edges.push([idOf(child), idOf(parent)]);
          for (const [child, parent] of edges.slice(edges.length - pairs.length)) graph.add(child, [parent]);
          if (settles) graph.settle();
          expect([graph.edges, [...graph.closureOf(roots).ids()].sort()]).toEqual([
            edges.length,
            [...oracle(edges, roots)].sort(),
          ]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('stays the same through hundreds of walks between which it grows', () => {
    const graph = new LineageGraph();
    for (let n = 1; n <= 700; n += 1) {
      graph.add(mutation(n), [mutation(n - 1), mutation(Math.max(0, n - 40))]);
      expect([graph.sizeOf([mutation(0)]), graph.sizeOf([mutation(n)])]).toEqual([n, 0]);
    }
    expect(graph.edges).toBe(1_400);
  });

  it('names the nearest first, and every commit after one it was made from', () => {
    const graph = new LineageGraph();
    for (let n = 1; n < 200; n += 1)
      graph.add(mutation(n), [mutation(Math.floor(n / 2)), mutation(Math.max(0, n - 7))]);
    const order = [mutation(0), ...graph.closureOf([mutation(0)]).ids()];
    expect(order).toHaveLength(200);
    for (let n = 1; n < 200; n += 1)
      expect(
        Math.min(order.indexOf(mutation(Math.floor(n / 2))), order.indexOf(mutation(Math.max(0, n - 7)))),
      ).toBeLessThan(order.indexOf(mutation(n)));
  });

  it('walks through what is beyond the bound, and tells it apart', () => {
    const graph = new LineageGraph();
    graph.add(mutation(1), [mutation(0)], 50);
    graph.add(mutation(2), [mutation(1)], 150);
    const found = graph.closureOf([mutation(0)], { boundAt: 100 });
    expect([found.count, found.beyond, found.ids(), found.ids('beyond')]).toEqual([1, 1, [mutation(2)], [mutation(1)]]);
    expect(graph.closureOf([mutation(0)]).ids()).toEqual([mutation(1), mutation(2)]);
  });

  it('says the same after another closure was asked for, and after more was added', () => {
    const graph = new LineageGraph();
    graph.add(mutation(1), [mutation(0)]);
    graph.add(mutation(7), [mutation(5)]);
    const early = graph.closureOf([mutation(0)]);
    expect(graph.closureOf([mutation(5)]).ids()).toEqual([mutation(7)]);
    graph.add(mutation(2), [mutation(1)]);
    expect([early.ids(), graph.closureOf([mutation(0)]).ids()]).toEqual([[mutation(1)], [mutation(1), mutation(2)]]);
  });

  it('needs less than 64 bytes an edge', () => {
    const graph = new LineageGraph();
    for (let n = 1; n <= 100_000; n += 1)
      graph.add(mutation(n), [mutation(n >> 1), mutation(n >> 2), mutation(n >> 3)]);
    expect(graph.bytes / graph.edges).toBeLessThan(64);
  });
});

describe('edges as COPY gives them', () => {
  it('come to the same graph wherever the chunks are cut', () => {
    fc.assert(
      fc.property(edgesOf, fc.integer({ min: 1, max: 90 }), (pairs, size) => {
        const edges = pairs.map(([child, parent]) => [idOf(child), idOf(parent)] as const);
        const text = Buffer.from(edges.map(([child, parent]) => `${child}\t${parent}\n`).join(''));
        const graph = new LineageGraph();
        const lines = new EdgeLines(graph);
        for (let at = 0; at < text.length; at += size) lines.take(text.subarray(at, at + size));
        expect([lines.lines, graph.edges]).toEqual([edges.length, edges.length]);
        for (const root of [0, 1, 2])
          expect([...graph.closureOf([idOf(root)]).ids()].sort()).toEqual([...oracle(edges, [idOf(root)])].sort());
      }),
      { numRuns: 200 },
    );
  });

  it('come to the same graph whatever the ids look like', () => {
    fc.assert(
      fc.property(edgesOf, fc.integer({ min: 1, max: 300 }), (pairs, size) => {
        const edges = pairs.map(([child, parent]) => [anyIdOf(child), anyIdOf(parent)] as const);
        const text = Buffer.from(edges.map(([child, parent]) => `${copied(child)}\t${copied(parent)}\n`).join(''));
        const graph = new LineageGraph();
        const lines = new EdgeLines(graph);
        for (let at = 0; at < text.length; at += size) lines.take(text.subarray(at, at + size));
        expect([lines.lines, graph.edges, graph.size]).toEqual([
          edges.length,
          edges.length,
          new Set(edges.flat()).size,
        ]);
        for (const root of [0, 1, 2, 3, 7, 11])
          expect([...graph.closureOf([anyIdOf(root)]).ids()].sort()).toEqual(
            [...oracle(edges, [anyIdOf(root)])].sort(),
          );
      }),
      { numRuns: 300 },
    );
  });

  it('come to the same graph in one chunk of many lines', () => {
    const edges = Array.from(
      { length: 4_000 },
      (_, n) =>
        [idOf(3 * n + (n % 2)), n % 50 === 49 ? `named ${String(n)}` : idOf(3 * (n >> 1) + ((n >> 1) % 2))] as const,
    );
    const [graph, other] = [new LineageGraph(), new LineageGraph()];
    new EdgeLines(graph).take(Buffer.from(edges.map(([child, parent]) => `${child}\t${parent}\n`).join('')));
    for (const [child, parent] of edges) other.add(child, [parent]);
    expect([graph.size, graph.edges]).toEqual([other.size, 4_000]);
    for (const root of [edges[0]?.[1], edges[40]?.[0], 'named 49'].map(String))
      expect(graph.closureOf([root]).ids()).toEqual(other.closureOf([root]).ids());
  });

  it('takes back what COPY escapes', () => {
    const graph = new LineageGraph();
    new EdgeLines(graph).take(Buffer.from('a\\\\b\tc\\td\n'));
    expect(graph.closureOf(['c\td']).ids()).toEqual(['a\\b']);
  });
});
