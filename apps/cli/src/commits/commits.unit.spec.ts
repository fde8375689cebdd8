import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';

const RELEASE = { prompt: 'p1', model: 'm1', policy: 'b1', tools: 't1', context: 'c1', eval: 'e1', memory: 'y1' };
const GATE = {
  bundle: 'refunds',
  bundle_version: 3,
  bundle_digest: 'dd',
  verdict: 'admitted',
  inputs_sha256: 'ee',
  inputs: null,
};
const commit = (id: string, more: object = {}, checkpoint: object = {}) => ({
  commit_id: id,
  tenant: 'acme',
  run_id: 'run-1',
  parents: [{ run_id: 'run-0', commit_id: 'cp_0' }],
  recorded_at: 60_000,
  hardened: null,
  rollback_id: null,
  reattached: [],
  beyond: [],
  recorded_hash: 'aa',
  checkpoint: {
    agent_id: 'planner',
    step_id: 'plan',
    produced_by: 'call-1',
    gate: GATE,
    release: RELEASE,
    state: { kind: 'delta', base_id: 'cp_base', size_bytes: 17 },
    committed_at: 59_000,
    ...checkpoint,
  },
  ...more,
});
const COMMITS = {
  cp_a: commit('cp_a'),
  cp_b: commit(
    'cp_b',
    {
      rollback_id: 'rb_1',
      rolled_back_at: 61_000,
      hardened: 'rolled_back',
      resume: { run_id: 'run-1', commit_id: 'cp_a' },
    },
    { release: { ...RELEASE, model: 'm2', memory: 'y2' } },
  ),
  cp_c: commit(
    'cp_c',
    { reattached: [{ fallen: {}, parent: {}, rollback_id: 'rb_1' }] },
    { release: null, gate: null, state: null },
  ),
};

/** A ledger with three commits. */
function ledger() {
  const answers: Readonly<Record<string, object>> = {
    '/v1/commits': { items: Object.values(COMMITS), next_cursor: null },
    ...Object.fromEntries(Object.entries(COMMITS).map(([id, doc]) => [`/v1/commits/${id}`, doc])),
  };
  return desk(({ pathname }) =>
    Response.json(answers[pathname] ?? { code: 'NOT_FOUND', message: 'no such commit' }, {
      status: pathname in answers ? 200 : 404,
    }),
  );
}

describe('commits', () => {
  it('are listed with where they stand', async () => {
    const { call, paths, out } = ledger();
    expect(await call('commits', 'list', '--run', 'run-1')).toBe(0);
    expect(paths()[0]).toBe('/v1/commits?run_id=run-1&limit=200');
    expect(
      out()
        .split('\n')
        .map((line) => line.split(/ {2,}/)[4]),
    ).toEqual(['STANDS', 'stands', 'rolled_back', 'reattached']);
  });

  it('are shown with gate, release, parents, state, and what became of them', async () => {
    const { call, out } = ledger();
    expect(await call('commits', 'show', 'cp_b')).toBe(0);
    for (const line of [
      'gate +admitted by refunds version 3',
      'release: model +m2',
      'parents +cp_0',
      'state +delta, 17 bytes on cp_base; given up \\(rolled_back\\)',
      'stands +rolled_back',
      'resume at +cp_a',
    ])
      expect(out()).toMatch(new RegExp(`^${line}$`, 'm'));
    const bare = ledger();
    await bare.call('commits', 'show', 'cp_c');
    expect(bare.out()).toMatch(/^gate +none: nobody admitted it$/m);
  });

  it('are compared by the parts of the release they pin', async () => {
    const { call, out } = ledger();
    expect(await call('commits', 'diff', 'cp_a', 'cp_b')).toBe(0);
    expect(
      out()
        .split('\n')
        .map((line) => line.split(/ +/)),
    ).toEqual([
      ['PART', 'FROM', 'TO'],
      ['model', 'm1', 'm2'],
      ['memory', 'y1', 'y2'],
    ]);
  });

  it('are compared for scripts', async () => {
    const { call, out } = ledger();
    await call('commits', 'diff', 'cp_a', 'cp_b', '--json');
    expect(JSON.parse(out())).toEqual({
      from: 'cp_a',
      to: 'cp_b',
      differences: [
        { part: 'model', from: 'm1', to: 'm2' },
        { part: 'memory', from: 'y1', to: 'y2' },
      ],
      unpinned: [],
    });
  });

  it.each([
    [['cp_a', 'cp_a'], 'the same release: cp_a and cp_a'],
    [['cp_a', 'cp_c'], 'no difference can be told: cp_c pins no release'],
    [['cp_c', 'cp_c'], 'no difference can be told: cp_c and cp_c pin no release'],
  ])('are compared: %j', async (ids, said) => {
    const { call, out } = ledger();
    expect(await call('commits', 'diff', ...ids)).toBe(0);
    expect(out()).toBe(said);
  });

  it('that do not exist are said so', async () => {
    const { call, note } = ledger();
    expect(await call('commits', 'diff', 'cp_a', 'cp_none')).not.toBe(0);
    expect(note()).toContain('NOT_FOUND');
  });
});
