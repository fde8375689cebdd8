import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { desk } from '../desk.testing.js';
import { drawnOf, layersOf } from './lineage-graph.js';
import { lineageDot, lineageSvg } from './lineage-picture.js';
import { lineageText } from './lineage-text.js';
import { carried, endsComparing, heldIn, partsOf } from './reconcile.js';

const node = (id: string, state: string, more: object = {}): object => ({
  id,
  run_id: `run-${id}`,
  kind: 'mutation',
  agent: 'agent-1',
  label: `do ${id}`,
  subject_ref: null,
  state,
  rollback_id: null,
  root_rollback_id: null,
  told: [],
  silent: [],
  ...more,
});
const edge = (from: string, to: string, kind = 'derived'): object => ({ from, to, kind });
const ANSWER = {
  commit: 'A',
  rollback: null,
  truncated: false,
  nodes: [
    node('A', 'rolled_back', { told: ['mailer'], silent: ['reports'] }),
    node('B', 'rolled_back'),
    node('C', 'reattached'),
    node('D', 'beyond'),
    node('P', 'stands'),
  ],
  edges: [
    edge('P', 'A'),
    edge('A', 'B'),
    edge('A', 'D'),
    edge('B', 'D'),
    edge('P', 'C', 'reattached'),
    edge('A', 'C', 'was'),
  ],
};
const drawn = drawnOf(ANSWER);

describe('layers', () => {
  it('put each commit below all it was made from', () => {
    const at = new Map(layersOf(drawn).flatMap((layer, row) => layer.map(({ id }) => [id, row] as const)));
    expect([...at]).toHaveLength(5);
    for (const { from, to, kind } of drawn.edges) if (kind !== 'was') expect(at.get(from)).toBeLessThan(at.get(to)!);
  });

  it('hold every commit once, cycles and parents of themselves included', () => {
    const cyclic = drawnOf({
      ...ANSWER,
      edges: [edge('A', 'B'), edge('B', 'A'), edge('C', 'C'), edge('B', 'D'), edge('D', 'nobody')],
    });
    expect(
      layersOf(cyclic)
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['A', 'B', 'C', 'D', 'P']);
    for (const draw of [lineageText, lineageSvg, lineageDot]) expect(draw(cyclic)).toContain('do A');
  });
});

describe('the drawing in a terminal', () => {
  const lines = lineageText(drawn).split('\n');
  it('is a tree from what rests on nothing; a commit is drawn once and pointed to from then on', () => {
    expect(lines).toEqual([
      '● P do P  stands · agent-1 · run-P',
      '├─ ✗ A do A ◀  fell · agent-1 · run-A · told: mailer; silent: reports',
      '│  ├─ ✗ B do B  fell · agent-1 · run-B',
      '│  │  └─ ◐ D do D  beyond the bound · agent-1 · run-D',
      '│  ├─ ◐ D do D (above)',
      '│  └─ ↷ C do C  reattached · agent-1 · run-C (did rest on this)',
      '└─ ↷ C do C (above) (now rests on this)',
      '',
      '✗ 2 fell   ↷ 1 reattached   ◐ 1 beyond the bound   ● 1 stands',
    ]);
  });

  it('obeys nothing that an agent wrote, and draws a chain longer than calls go deep', () => {
    expect(
      lineageText(drawnOf({ ...ANSWER, nodes: [node('A', 'stands', { label: 'x\u001b[2J\ny' })], edges: [] })),
    ).toContain('x\\u001b[2J\\ny');
    const ids = Array.from({ length: 2_000 }, (_, n) => `n${String(n)}`);
    expect(
      lineageText(
        drawnOf({
          ...ANSWER,
          nodes: ids.map((id) => node(id, 'stands')),
          edges: ids.slice(1).map((id, n) => edge(`n${String(n)}`, id)),
        }),
      ).split('\n'),
    ).toHaveLength(2_002);
  });
});

describe('the pictures', () => {
  it('as SVG hold a box for each commit and a path for each edge, well-formed whatever the texts', () => {
    const svg = lineageSvg(
      drawnOf({ ...ANSWER, nodes: [...ANSWER.nodes, node('<&">', 'stands', { label: '</text><script>' })] }),
    );
    expect(
      [...svg.matchAll(/<g data-id="([^"]+)" data-state="([^"]+)"/g)].map(
        ([, id, state]) => `${String(id)} ${String(state)}`,
      ),
    ).toEqual(expect.arrayContaining(['A rolled_back', 'C reattached', 'D beyond', '&lt;&amp;&quot;&gt; stands']));
    expect([...svg.matchAll(/<path [^>]*data-kind="(\w+)"[^>]*\/>/g)].map(([, kind]) => kind)).toEqual(
      drawn.edges.map(({ kind }) => kind),
    );
    expect(svg).not.toContain('<script>');
    for (const tag of ['svg', 'g', 'text', 'title'])
      expect([tag, svg.match(new RegExp(`<${tag}[ >]`, 'g'))?.length]).toEqual([
        tag,
        svg.match(new RegExp(`</${tag}>`, 'g'))?.length,
      ]);
  });

  it('as DOT name each commit and edge', () => {
    const dot = lineageDot(drawn);
    expect([...dot.matchAll(/^ {2}"(\w+)" \[/gm)].map(([, id]) => id)).toEqual(['A', 'B', 'C', 'D', 'P']);
    expect([...dot.matchAll(/^ {2}"(\w+)" -> "(\w+)"/gm)]).toHaveLength(6);
    expect(dot).toContain('"A" -> "C" [label="was", style=dashed]');
  });
});

/** A ledger that answers by path, and a folder with a file of commits. */
function ledger(answer: (path: string, body: unknown) => object, commits: unknown = []) {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-lineage-'));
  writeFileSync(join(folder, 'commits.json'), JSON.stringify(commits));
  const { call: recourse, ...rest } = desk(({ pathname, body }) => Response.json(answer(pathname, body)), { folder });
  const call = async (...args: readonly string[]): Promise<number> => {
    const code = await recourse('lineage', ...args);
    rmSync(folder, { recursive: true, force: true });
    return code;
  };
  return { ...rest, call };
}

describe('recourse lineage', () => {
  it.each([
    ['text', /^● P do P/],
    ['svg', /^<svg /],
    ['dot', /^digraph/],
    ['json', /^\{\n/],
  ])('shows the graph as %s', async (format, begins) => {
    const { call, paths, out } = ledger(() => ANSWER);
    expect(await call('show', 'A', '--rollback', 'rb-1', '--format', format)).toBe(0);
    expect([paths(), out()]).toEqual([['/v1/lineage/A?rollback=rb-1'], expect.stringMatching(begins)]);
  });

  it('previews what would fall', async () => {
    const { call, out } = ledger(() => ({
      commit: 'A',
      bound_at: null,
      falls: { commits: 3, with_effect: 2, without_effect: 1, runs: 2 },
      fallen_already: 0,
      money: [{ currency: 'EUR', amount_minor: 1_200, mutations: 2 }],
      subjects: { count: 1, first: ['order/1'] },
      consumers: [{ consumer: 'mailer', commits: 2 }],
      beyond_bound: { commits: 1, first: ['D'] },
      truncated: false,
    }));
    expect(await call('preview', 'A')).toBe(0);
    expect(out()).toMatch(
      /would fall +3\n[^]*money +12\.00 EUR in 2[^]*consumers +mailer \(2\)[^]*beyond the bound +1/,
    );
  });

  it('says what a fall waits for, and ends as pending', async () => {
    const { call, out } = ledger(() => ({
      commit: 'A',
      rollback_id: 'rb',
      settled: false,
      fallen: 2,
      beyond: 0,
      unannounced: { count: 0, first: [] },
      unmarked: { count: 1, first: ['B'] },
      waiting_for: [{ partition: 1, of: 0, position: 3, needed: 9 }],
      truncated: false,
    }));
    expect(await call('settled', 'A')).toBe(5);
    expect(out()).toMatch(/settled +no\n[^]*not marked yet +1[^]*\n +1 +0 +3 +9$/);
  });

  it('reconciles a file, lists what reached users last first, and ends with found', async () => {
    const found = (id: string, at: number | null): object => ({
      run_id: 'r',
      commit_id: id,
      cause: 'fallen',
      fallen: { run_id: 'r', commit_id: id },
      rollback_id: `rb-${id}`,
      rolled_back_at: 0,
      reached_user_at: at,
    });
    const { call, paths, out } = ledger(
      () => ({ contaminated: [found('x', null), found('y', 60_000)] }),
      [
        { run_id: 'r', commit_id: 'x' },
        { run_id: 'r', commit_id: 'y' },
      ],
    );
    expect(await call('reconcile', '--runtime', 'reports', '--file', 'commits.json')).toBe(1);
    expect(paths()).toEqual(['/v1/reconciliations']);
    expect(out()).toMatch(/\ny .*1970-01-01 00:01:00Z\nx .*-\n\nreports diverges in 2 of 2 commits$/);
  });

  it('refuses a file without commits, and a span that is none', async () => {
    const { call, paths, note } = ledger(() => ({}), { none: true });
    expect(await call('reconcile', '--runtime', 'reports', '--file', 'commits.json')).toBe(64);
    expect([paths(), note()]).toEqual([[], expect.stringContaining('INPUT_INVALID')]);
    expect(
      await ledger(() => ({})).call('reconcile', '--runtime', 'r', '--file', 'commits.json', '--every', 'soon'),
    ).toBe(64);
  });
});

describe('comparisons that are made again and again', () => {
  it('end at a call that is wrong from the first, and at a bug', async () => {
    expect(
      await ledger(() => ({}), { none: true }).call(
        'reconcile',
        '--runtime',
        'r',
        '--file',
        'commits.json',
        '--every',
        '1s',
      ),
    ).toBe(64);
    expect([endsComparing('usage', true), endsComparing('refused', true), endsComparing('bug', false)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('outlive a ledger that is away, a file that is being written and a token that is over', () => {
    for (const exit of ['unavailable', 'pending'] as const)
      expect([endsComparing(exit, true), endsComparing(exit, false)]).toEqual([false, false]);
    expect([endsComparing('usage', false), endsComparing('refused', false)]).toEqual([false, false]);
  });
});

describe('the parts of a comparison', () => {
  const held = heldIn(
    Array.from({ length: 1_200 }, (_, n) => ({
      run_id: 'r',
      commit_id: `c${String(1_199 - n)}`,
      derived_from: n === 1_199 ? [] : [{ run_id: 'r', commit_id: `c${String(1_198 - n)}` }],
    })),
    'f',
  );
  it('take parents first, each commit once, none too large', () => {
    const parts = partsOf(held);
    expect([parts.length, parts.flat().map(({ commit_id }) => commit_id)]).toEqual([
      3,
      Array.from({ length: 1_200 }, (_, n) => `c${String(n)}`),
    ]);
  });

  it('carry what fell from one part into the next', () => {
    const [first, second] = [partsOf(held)[0]!, partsOf(held)[1]!];
    const found = [{ run_id: 'r', commit_id: first.at(-1)!.commit_id, fallen: { run_id: 'r', commit_id: 'c0' } }];
    expect(carried(second, found)[0]!.derived_from).toEqual([
      { run_id: 'r', commit_id: 'c499' },
      { run_id: 'r', commit_id: 'c0' },
    ]);
  });
});
