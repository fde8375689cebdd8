// Replay packets: made of what two services answer, replayed from the file alone, each kind of tampering found (D58).
import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainPayload } from '@recourse/contract';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { commitIdOf, cutState, PACKET_FORMAT, packedCheckpoint } from '@recourse/lineage';
import type { PackedCommit, Packet, WalkStep } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';
import { desk } from '../desk.testing.js';
import { replayPacket } from './packet-checks.js';
import type { Check } from './packet-checks.js';
import type { Logged, LoggedRun } from './packet-log.js';

const BODY = canonicalJson({
  owner: 'risk',
  doc: 'What may be committed.',
  admission: [{ name: 'limit', when: 'gate.total < state.limit', reason: 'too much' }],
  recovery: [],
});
const RELEASE = { prompt: 'p1', model: 'm1', policy: 'b1', tools: 't1', context: 'c1', eval: 'e1', memory: 'y1' };
const hashOf = (state: Json): string => sha256Hex(canonicalJson(state));
const refOf = ({ commit_id }: PackedCommit): CommitRef => ({ run_id: 'run-1', commit_id });
let salted = 0;

/** A commit as the ledger packs it. */
function packed(
  stepId: string,
  state: Json | undefined,
  more: Partial<Checkpoint> = {},
  baseId: string | null = null,
): PackedCommit {
  const cut = state === undefined ? null : cutState(state, () => Buffer.alloc(16, (salted += 1)), baseId);
  const checkpoint: Checkpoint = {
    tenant: 'acme',
    run_id: 'run-1',
    agent_id: 'agent-1',
    initiator: null,
    objective: null,
    step_id: stepId,
    produced_by: `call-${stepId}`,
    subject_ref: null,
    parents: [],
    assumption_refs: [],
    gate: null,
    release: RELEASE,
    committed_at: 1,
    ...more,
    state: cut?.state ?? null,
  };
  const inputs = checkpoint.gate?.inputs ?? null;
  const told = cut === null ? null : cut.state.body === null ? cut.chunks : [cut.state.body];
  return {
    commit_id: commitIdOf(checkpoint),
    checkpoint: packedCheckpoint(checkpoint),
    chunks: told?.map(({ body }) => body.toString('base64')) ?? null,
    state_code: cut === null ? 'no_state' : null,
    inputs: inputs?.body.toString('base64') ?? null,
    inputs_code: inputs === null ? 'no_inputs' : null,
    proof: { log: 'recourse.mutations', partition: 0, seq: salted, recorded_hash: 'a'.repeat(64) },
  };
}

const inputs = plainPayload({ salt: 's', gate: { total: 50 } });
const gate = {
  bundle: 'orders',
  bundle_version: 3,
  bundle_digest: Buffer.from(sha256Hex(BODY), 'hex'),
  verdict: 'admitted',
  inputs_sha256: inputs.sha256,
  inputs,
} as const;
const STATE = { limit: 100, text: 'x'.repeat(400_000) };
const first = packed('read', STATE);
const note = packed('note', undefined, { parents: [refOf(first)] });
const last = packed('act', { limit: 10 }, { parents: [refOf(note)], gate });
const policy = { name: 'orders', tenant: 'acme', version: 3, digest: sha256Hex(BODY), body: BODY, admitted_it: true };
const PACKET: Packet = {
  format: PACKET_FORMAT,
  commit_id: last.commit_id,
  release: RELEASE,
  state: { code: null, sha256: hashOf({ limit: 10 }) },
  before: { commit_id: first.commit_id, is_too_far: false, code: null, sha256: hashOf(STATE) },
  commits: [first, note, last],
  effects: [],
  policy,
};
const withCommit = (changed: PackedCommit): Packet => ({
  ...PACKET,
  commits: PACKET.commits.map((one) => (one.commit_id === changed.commit_id ? changed : one)),
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** A log that holds what the packet says. */
const loggedOf = ({ commits }: Packet, steps: LoggedRun['steps'] = new Map()): LoggedRun => ({
  commits: new Map(commits.map(({ commit_id, proof: { recorded_hash } }) => [commit_id, { commit_id, recorded_hash }])),
  steps,
});
const failed = (packet: Packet): readonly Check['code'][] => [
  ...new Set(
    replayPacket(packet, loggedOf(packet))
      .checks.filter(({ outcome }) => outcome === 'differs')
      .map(({ code }) => code),
  ),
];
const open = (packet: Packet): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    replayPacket(packet, loggedOf(packet))
      .checks.filter(({ outcome }) => outcome === 'not_made')
      .map(({ check, code }) => [check, code]),
  );

describe('a replay packet', () => {
  it('replays to equal decisions: ids, chunks, states, inputs, policy, verdict and release', () => {
    const { ok, checks } = replayPacket(PACKET, loggedOf(PACKET));
    expect([ok, [...new Set(checks.map(({ outcome }) => outcome))], checks.map(({ check }) => check)]).toEqual([
      true,
      ['equal'],
      [
        'id',
        'chunks',
        'proof',
        'id',
        'proof',
        'id',
        'chunks',
        'inputs',
        'proof',
        'state',
        'before',
        'policy',
        'verdict',
        'release',
      ],
    ]);
    const after = packed('more', { limit: 20 }, { parents: [refOf(last)], gate }, last.commit_id);
    const delta: Packet = {
      ...PACKET,
      commit_id: after.commit_id,
      state: { code: null, sha256: hashOf({ limit: 20 }) },
      before: { commit_id: last.commit_id, is_too_far: false, code: null, sha256: hashOf({ limit: 10 }) },
      commits: [last, after],
    };
    expect(failed(delta)).toEqual(['PACKET_VERDICT_DIFFERS']); // 50 is not below 10: no gate admitted that
  });

  it.each([
    [
      'the step of a commit',
      'PACKET_ID_DIFFERS',
      withCommit({ ...note, checkpoint: { ...note.checkpoint, step_id: 'other' } }),
    ],
    [
      'the verdict of its gate',
      'PACKET_ID_DIFFERS',
      withCommit({
        ...last,
        checkpoint: {
          ...last.checkpoint,
          gate: last.checkpoint.gate && { ...last.checkpoint.gate, verdict: 'refused' },
        },
      }),
    ],
    [
      'a chunk of several',
      'PACKET_CHUNKS_DIFFER',
      withCommit({ ...first, chunks: [...(first.chunks ?? []).slice(0, -1), base64(`${'s'.repeat(16)}{}`)] }),
    ],
    ['a chunk left out', 'PACKET_CHUNKS_DIFFER', withCommit({ ...first, chunks: (first.chunks ?? []).slice(1) })],
    [
      'the state said to come out',
      'PACKET_STATE_DIFFERS',
      { ...PACKET, state: { code: null, sha256: hashOf({ limit: 11 }) } },
    ],
    [
      'the gate inputs',
      'PACKET_INPUTS_DIFFER',
      withCommit({ ...last, inputs: base64('{"salt":"s","gate":{"total":51}}') }),
    ],
    [
      'the state its gate saw',
      'PACKET_BEFORE_DIFFERS',
      { ...PACKET, before: { commit_id: null, is_too_far: false, code: null, sha256: null } },
    ],
    ['a commit on the way left out', 'PACKET_BEFORE_DIFFERS', { ...PACKET, commits: [first, last] }],
    [
      'the policy under the digest of another',
      'PACKET_POLICY_DIFFERS',
      { ...PACKET, policy: { ...policy, body: BODY.replace('<', '<=') } },
    ],
    [
      'the policy under its version',
      'PACKET_POLICY_DIFFERS',
      { ...PACKET, policy: { ...policy, body: `${BODY} `, digest: sha256Hex(`${BODY} `), admitted_it: false } },
    ],
    [
      'a policy that refuses',
      'PACKET_VERDICT_DIFFERS',
      { ...PACKET, policy: { ...policy, body: BODY.replace('<', '>') } },
    ],
    ['a policy that is none', 'PACKET_VERDICT_DIFFERS', { ...PACKET, policy: { ...policy, body: '{}' } }],
    ['the release', 'PACKET_RELEASE_DIFFERS', { ...PACKET, release: { ...RELEASE, model: 'm2' } }],
    ['the release left out', 'PACKET_RELEASE_DIFFERS', { ...PACKET, release: null }],
  ] satisfies (readonly [string, string, Packet])[])('that was tampered with differs: %s', (_what, code, packet) => {
    expect(failed(packet)).toContain(code);
  });

  it('is judged by the version that stands where the admitting one is not given any more, and says so', () => {
    const body = BODY.replace('too much', 'far too much');
    const standing: Packet = {
      ...PACKET,
      policy: { ...policy, body, digest: sha256Hex(body), version: 4, admitted_it: false },
    };
    expect([failed(standing), open(standing)]).toEqual([[], { policy: 'other_version' }]);
    expect(replayPacket(standing, loggedOf(standing)).checks.find(({ check }) => check === 'verdict')).toMatchObject({
      outcome: 'equal',
      replayed: 'admitted (by version 4)',
    });
  });

  it('says which checks cannot be made, of what was erased or never was', () => {
    const erased: Packet = {
      ...withCommit({ ...first, chunks: null, state_code: 'state_unavailable' }),
      state: { code: 'state_unavailable', sha256: null },
      before: { commit_id: first.commit_id, is_too_far: false, code: 'state_unavailable', sha256: null },
    };
    expect([failed(erased), open(erased)]).toEqual([
      [],
      {
        chunks: 'state_unavailable',
        state: 'state_unavailable',
        before: 'state_unavailable',
        verdict: 'state_unavailable',
      },
    ]);
    const silent = withCommit({ ...last, inputs: null, inputs_code: 'inputs_unavailable' });
    expect([failed(silent), open(silent), open({ ...PACKET, policy: null })]).toEqual([
      [],
      { inputs: 'inputs_unavailable', verdict: 'inputs_unavailable' },
      { policy: 'policy_unknown', verdict: 'policy_unknown' },
    ]);
    const unhashed = {
      ...last,
      inputs: null,
      inputs_code: 'inputs_unavailable',
      checkpoint: {
        ...last.checkpoint,
        gate: last.checkpoint.gate && { ...last.checkpoint.gate, inputs_sha256: '0'.repeat(64) },
      },
    } as const;
    expect([failed(withCommit(unhashed)), open(withCommit(unhashed))]).toEqual([
      [],
      { id: 'hash_unavailable', inputs: 'inputs_unavailable', verdict: 'inputs_unavailable' },
    ]);
    const bare = packed('bare', undefined, { release: null });
    const alone: Packet = {
      ...PACKET,
      commit_id: bare.commit_id,
      release: null,
      state: { code: 'no_state', sha256: null },
      before: null,
      commits: [bare],
      policy: null,
    };
    const { ok, checks } = replayPacket(alone, loggedOf(alone));
    expect([ok, checks.filter(({ outcome }) => outcome === 'none').map(({ code }) => code)]).toEqual([
      true,
      ['no_state', 'no_gate', 'no_release'],
    ]);
  });

  it.each([
    ['its gate inputs', 'inputs_missing', withCommit({ ...last, inputs: null, inputs_code: null })],
    [
      'its gate inputs, said never to have been',
      'no_inputs',
      withCommit({ ...last, inputs: null, inputs_code: 'no_inputs' }),
    ],
    ['its policy', 'policy_unknown', { ...PACKET, policy: null }],
    [
      'its state, said to be gone',
      'state_unavailable',
      { ...PACKET, state: { code: 'state_unavailable', sha256: null } },
    ],
    ['its state, said never to have been', 'no_state', { ...PACKET, state: { code: 'no_state', sha256: null } }],
  ] satisfies (readonly [string, string, Packet])[])(
    'is not proved once somebody took away %s',
    (_what, code, packet) => {
      const { ok, outcome, checks } = replayPacket(packet, loggedOf(packet));
      expect([ok, outcome, checks.filter((one) => one.outcome === 'not_made').map((one) => one.code)]).toEqual([
        false,
        'incomplete',
        expect.arrayContaining([code]),
      ]);
    },
  );

  it('is proved only by a log that holds its commits where it says', () => {
    expect(replayPacket(PACKET, null)).toMatchObject({ ok: false, outcome: 'incomplete' });
    expect(replayPacket(PACKET, { commits: new Map(), steps: new Map() })).toMatchObject({
      ok: false,
      outcome: 'incomplete',
    });
    const of = (logged: Logged) => {
      const { commits, steps } = loggedOf(PACKET);
      return replayPacket(PACKET, { commits: new Map(commits).set(last.commit_id, logged), steps });
    };
    const hash = last.proof.recorded_hash;
    expect(of({ commit_id: last.commit_id, recorded_hash: hash }).ok).toBe(true);
    for (const forged of [
      { commit_id: first.commit_id, recorded_hash: hash },
      { commit_id: last.commit_id, recorded_hash: 'b'.repeat(64) },
    ])
      expect(of(forged).checks.find(({ outcome }) => outcome === 'differs')?.code).toBe('PACKET_PROOF_DIFFERS');
  });
});

describe('the way back in a replay packet', () => {
  const [older, newer] = [packed('older', { limit: 100 }), packed('newer', { limit: 10 })];
  const merged = packed('merged', { done: true }, { parents: [refOf(newer), refOf(older)], gate });
  const effectRef: CommitRef = { run_id: 'run-1', commit_id: 'mut_1' };
  const acted = packed('acted', { done: true }, { parents: [effectRef], gate });
  const stepOf = ({ checkpoint, proof }: PackedCommit): WalkStep => ({
    hasState: checkpoint.state !== null,
    parents: checkpoint.parents,
    seq: proof.seq,
  });
  /** What the log holds of the run: the effect was made from the newer. */
  const steps = new Map<string, WalkStep>([
    ...[older, newer, merged, acted].map((commit) => [commit.commit_id, stepOf(commit)] as const),
    ['mut_1', { hasState: false, parents: [refOf(newer)], seq: 0 }],
  ]);
  const packet = (target: PackedCommit, from: PackedCommit, more: Partial<Packet> = {}): Packet => ({
    ...PACKET,
    commit_id: target.commit_id,
    state: { code: null, sha256: hashOf({ done: true }) },
    before: {
      commit_id: from.commit_id,
      is_too_far: false,
      code: null,
      sha256: hashOf(from === older ? { limit: 100 } : { limit: 10 }),
    },
    commits: [from, target],
    ...more,
  });
  const made = (from: PackedCommit, mutation_id = 'mut_1') => [{ mutation_id, parents: [refOf(from)] }];
  const unequal = (one: Packet, logged: LoggedRun | null) => {
    const { outcome, checks } = replayPacket(one, logged);
    const found = checks.filter(({ check }) => check === 'before' || check === 'verdict');
    return [
      outcome,
      ...found.filter((check) => check.outcome !== 'equal').map(({ check, code }) => `${check} ${code}`),
    ];
  };

  it.each([
    ['the newer of two parents was left out of', packet(merged, older)],
    ['an effect is said to be made from an older commit in', packet(acted, older, { effects: made(older) })],
    ['a commit is said to be an effect in', packet(merged, older, { effects: made(older, newer.commit_id) })],
  ])('differs from the log where %s it', (_what, one) => {
    expect(unequal(one, loggedOf(one, steps))[1]).toBe('before PACKET_BEFORE_DIFFERS');
  });

  it('names an effect whose parents are not those in the log, also where the state before is the same', () => {
    const one = packet(acted, newer, { effects: [{ mutation_id: 'mut_1', parents: [refOf(newer), refOf(older)] }] });
    expect(replayPacket(one, loggedOf(one, steps)).checks.find(({ outcome }) => outcome === 'differs')).toMatchObject({
      code: 'PACKET_BEFORE_DIFFERS',
      replayed: expect.stringContaining('mut_1 was made from others'),
    });
  });

  it('is not judged where it leads through what nothing proves: a parent that is missing, an effect that no log shows', () => {
    const open = (code: string) => ['incomplete', `before ${code}`, `verdict ${code}`];
    const one = packet(acted, older, { effects: made(older) });
    expect([
      unequal(packet(merged, older), null),
      unequal(one, null),
      unequal(one, loggedOf(one)),
      unequal(packet(merged, older), { commits: new Map(), steps: new Map() }),
    ]).toEqual([open('parent_missing'), open('no_log'), open('not_in_log'), open('parent_missing')]);
  });

  it('is not judged without a log where two commits with a state are told apart by the places they name', () => {
    const open = ['incomplete', 'before no_log', 'verdict no_log'];
    const both = packet(merged, newer, { commits: [older, newer, merged] });
    const swapped = [older, { ...newer, proof: { ...newer.proof, seq: 0 } }, merged];
    expect([unequal(both, null), unequal(packet(merged, older, { commits: swapped }), null)]).toEqual([open, open]);
  });

  it('that leaves out an older parent, or one that was never recorded, is equal by the log', () => {
    const honest = withAdmitting({ limit: 100 });
    expect(unequal(honest.packet, loggedOf(honest.packet, honest.steps))).toEqual(['equal']);
  });

  /** A merge of a newer state that admits it, an older one, and a parent that nobody recorded; as packets were made ever since. */
  function withAdmitting(state: Json): { readonly packet: Packet; readonly steps: LoggedRun['steps'] } {
    const [before, now] = [packed('before', { limit: 1 }), packed('now', state)];
    const effect: CommitRef = { run_id: 'run-1', commit_id: 'mut_2' };
    const never: CommitRef = { run_id: 'run-1', commit_id: 'mut_never' };
    const elsewhere: CommitRef = { run_id: 'run-2', commit_id: 'cp_elsewhere' };
    const target = packed('target', { done: true }, { parents: [effect, refOf(before), never, elsewhere], gate });
    const effects = [{ mutation_id: 'mut_2', parents: [refOf(now)] }];
    return {
      packet: {
        ...packet(target, now, { effects }),
        before: { commit_id: now.commit_id, is_too_far: false, code: null, sha256: hashOf(state) },
      },
      steps: new Map<string, WalkStep>([
        [before.commit_id, stepOf(before)],
        [now.commit_id, stepOf(now)],
        ['mut_2', { hasState: false, parents: [refOf(now)], seq: 0 }],
      ]),
    };
  }
});

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A ledger and a registry that answer, where they are there at all, and a folder. */
function services(entries: readonly object[] = [], isOffline = false) {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-packet-'));
  folders.push(folder);
  const { call, ...rest } = desk(
    ({ pathname }) =>
      isOffline
        ? undefined
        : Response.json(
            pathname.endsWith('/packet') ? { ...PACKET, policy: null } : { items: entries, next_cursor: null },
          ),
    isOffline ? { folder, environment: {} } : { folder },
  );
  const write = (content: unknown): void => {
    writeFileSync(join(folder, 'p.json'), typeof content === 'string' ? content : JSON.stringify(content));
  };
  return {
    ...rest,
    call: (...args: readonly string[]) => call('lineage', ...args),
    write,
    file: join(folder, 'p.json'),
  };
}
const entry = (version: number, body: string, more: object = {}): object => ({
  kind: 'policy_bundle',
  name: 'orders',
  tenant: 'acme',
  version,
  digest: sha256Hex(body),
  body,
  retired: false,
  ...more,
});

describe('recourse lineage packet', () => {
  it('writes a file that only its owner reads, with the policy that admitted the commit; nothing is overwritten', async () => {
    const { call, paths, file, note, out } = services([
      entry(9, `${BODY} `),
      entry(3, BODY, { tenant: '*', retired: true }),
    ]);
    expect([await call('packet', last.commit_id, '--out', 'p.json'), paths(), statSync(file).mode & 0o777]).toEqual([
      0,
      [`/v1/commits/${last.commit_id}/packet`, '/v1/entries/policy_bundle?name=orders&limit=10'],
      0o600,
    ]);
    expect(await call('replay-packet', 'p.json')).toBe(8);
    expect(out()).toMatch(
      new RegExp(`${last.commit_id} differs nowhere, and was not checked as a whole: 11 equal, 0 differ, 3 not made$`),
    );
    expect([await call('packet', last.commit_id, '--out', 'p.json'), note()]).toEqual([
      64,
      expect.stringContaining('FILE_UNWRITABLE'),
    ]);
  });

  it('says that it holds the version that stands, where the registry has no other', async () => {
    const { call, out } = services([entry(8, `${BODY} `, { tenant: '*' }), entry(9, `${BODY}  `)]);
    expect(await call('packet', last.commit_id)).toBe(0);
    expect(JSON.parse(out())).toMatchObject({ policy: { version: 9, admitted_it: false } });
  });
});

describe('recourse lineage replay-packet', () => {
  it('asks nobody, and ends with found where something differs, by code', async () => {
    const { call, paths, write, out } = services([], true);
    write({ ...PACKET, release: { ...RELEASE, model: 'm2' } });
    expect([await call('replay-packet', 'p.json'), paths()]).toEqual([1, []]);
    expect(out()).toMatch(
      /\nPACKET_RELEASE_DIFFERS: recorded .*"m1".*, replayed .*"m2"[^]*does not replay: 10 equal, 1 differ, 3 not made$/,
    );
    const script = services([], true);
    script.write(PACKET);
    expect(await script.call('replay-packet', 'p.json', '--json')).toBe(8);
    expect(JSON.parse(script.out())).toMatchObject({ ok: false, outcome: 'incomplete', commit_id: last.commit_id });
  });

  it.each([
    ['{', 'PACKET_INVALID'],
    [{ ...PACKET, format: 'other/1' }, '/format'],
    [{ ...PACKET, commits: [{ ...last, chunks: ['%'] }] }, '/commits/0/chunks/0'],
    [{ ...PACKET, commits: [first] }, 'does not hold the commit'],
    [{ ...PACKET, commits: [last, last] }, 'twice'],
  ])('refuses a bad file: %#', async (content, said) => {
    const { call, write, note } = services([], true);
    write(content);
    expect([await call('replay-packet', 'p.json'), note()]).toEqual([
      64,
      expect.stringMatching(new RegExp(`PACKET_INVALID[^]*${said === 'PACKET_INVALID' ? '' : said}`)),
    ]);
  });

  it('refuses a file that is not there', async () => {
    const { call, note } = services([], true);
    expect([await call('replay-packet', 'none.json'), note()]).toEqual([
      64,
      expect.stringContaining('FILE_UNREADABLE'),
    ]);
  });
});
