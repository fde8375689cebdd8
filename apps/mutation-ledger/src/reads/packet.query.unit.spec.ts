// Replay packets as the ledger makes them: the steps a commit builds on, their bytes, and what is not kept any more (D58).
import { describe, expect, it } from '@jest/globals';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { checkpointIn, commitIdOf } from '@recourse/lineage';
import type { Packet } from '@recourse/lineage';
import type { Payload } from '@recourse/messages';
import { bundleRegistered, chunk, commit, committed, gateOf, rollback, spread } from '../core/commits.testing.js';
import type { Told } from '../core/commits.testing.js';
import type { Commit } from '../rules/commit/commit.messages.js';
import { executed, ledger, NOW, refund } from '../core/ledger.testing.js';
import type { Ledger } from '../core/ledger.testing.js';
import { mutationIdOf } from '../core.js';
import { packetOf, packetParts } from './packet.query.js';
import type { Shown } from './resume.query.js';

const hashOf = (state: Json): string => sha256Hex(canonicalJson(state));
/** The packet of a commit, as it goes over HTTP. */
function packetFor({ run }: Ledger, { id }: Told, shown: (commit: Commit) => Commit = (one) => one): Packet {
  const commits = run.rows('commit').map(({ doc }) => shown(doc as Commit));
  const rows = {
    commits,
    mutations: run.rows('mutation').map(({ doc }) => doc as never),
    chunks: run.rows('state_chunk').map(({ doc }) => doc as never),
  };
  const target = commits.find((one) => one.commit_id === id)!;
  return JSON.parse(
    JSON.stringify(packetOf(target, packetParts(target, rows), rows, { log: 'recourse.mutations', partition: 2 })),
  ) as Packet; // what was a packet is one
}
const idsIn = ({ commits }: Packet): ReadonlySet<string> => new Set(commits.map(({ commit_id: id }) => id));

describe('the packet of a commit', () => {
  const on = ledger();
  on.entries.append('orders', bundleRegistered('orders', []));
  const large = commit('large', { whole: { text: 'x'.repeat(400_000), n: 0 } });
  const delta = commit('delta', { parents: [large.ref], delta: [large.id, { n: 1 }] });
  const noted = commit('noted', { parents: [delta.ref] });
  const effect = refund({ event_id: 'ev-between', derived_from: [noted.ref], assumption_refs: [] });
  const between = { run_id: effect.run_id, commit_id: mutationIdOf(effect) };
  const gated = commit('gated', {
    parents: [between, { run_id: 'run-9', commit_id: 'elsewhere' }],
    whole: { done: true },
    gate: gateOf('orders', { total: 1 }),
  });
  const apart = commit('apart', { whole: { other: true } });
  for (const input of [
    committed(large),
    chunk(large, 0),
    chunk(large, 1),
    chunk(large, 2),
    committed(delta),
    committed(noted),
    executed(effect),
    committed(gated),
    committed(apart),
  ])
    on.run.when(input, NOW);
  const packet = packetFor(on, gated);

  it('holds the commits that its state and the state its gate saw build on, the steps between, and no others', () => {
    expect([idsIn(packet), packet.effects]).toEqual([
      new Set([large.id, delta.id, noted.id, gated.id]),
      [{ mutation_id: between.commit_id, parents: [noted.ref] }],
    ]);
    expect(idsIn(packetFor(on, delta))).toEqual(new Set([large.id, delta.id]));
    expect(packetFor(on, delta)).toMatchObject({
      before: null,
      state: { sha256: hashOf({ text: 'x'.repeat(400_000), n: 1 }) },
    });
  });

  it('hashes to the ids, with every chunk, the gate inputs, and the place of each record', () => {
    for (const one of packet.commits) expect(commitIdOf(checkpointIn(one.checkpoint))).toBe(one.commit_id);
    for (const { chunks, checkpoint } of packet.commits)
      expect(chunks?.map((text) => sha256Hex(Buffer.from(text, 'base64'))) ?? null).toEqual(
        checkpoint.state?.chunk_sha256s ?? null,
      );
    const target = packet.commits.find(({ commit_id: id }) => id === gated.id)!;
    expect(sha256Hex(Buffer.from(target.inputs!, 'base64'))).toBe(target.checkpoint.gate?.inputs_sha256);
    expect(target.proof).toMatchObject({
      partition: 2,
      seq: expect.any(Number),
      recorded_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(packet).toMatchObject({
      state: { code: null, sha256: hashOf({ done: true }) },
      before: {
        commit_id: delta.id,
        is_too_far: false,
        code: null,
        sha256: hashOf({ text: 'x'.repeat(400_000), n: 1 }),
      },
    });
  });

  it('goes back through what was recorded before it alone: its gate did not see a parent that came late', () => {
    const log = ledger();
    log.entries.append('orders', bundleRegistered('orders', []));
    const [early, late] = [commit('early', { whole: { n: 1 } }), commit('late', { whole: { n: 2 } })];
    const gate = gateOf('orders', { total: 1 });
    const merged = commit('merged', { parents: [late.ref, early.ref], whole: { n: 3 }, gate });
    for (const one of [early, merged, late]) log.run.when(committed(one), NOW);
    const made = packetFor(log, merged);
    expect([made.before?.commit_id, idsIn(made)]).toEqual([early.id, new Set([early.id, merged.id])]);
  });

  it('holds nothing that was erased or cannot be opened, and says so', () => {
    const sealed = packetFor(on, gated, (one) => {
      const { gate, state } = one.checkpoint;
      const unopened = { encoding: 'sealed', key_id: 'k' } as const;
      return {
        ...one,
        checkpoint: {
          ...one.checkpoint,
          gate: gate === null || gate.inputs === null ? gate : { ...gate, inputs: { ...gate.inputs, ...unopened } },
          state: state === null || state.body === null ? state : { ...state, body: { ...state.body, ...unopened } },
        },
      };
    });
    expect(sealed.commits.find(({ commit_id: id }) => id === gated.id)).toMatchObject({
      inputs: null,
      inputs_code: 'inputs_unavailable',
      chunks: null,
      state_code: 'state_unavailable',
    });
    expect(sealed).toMatchObject({
      state: { code: 'state_unavailable', sha256: null },
      before: { code: 'state_unavailable', sha256: null },
    });
  });

  it('hashes to the ids also where rows are sealed, with the hashes of the sealed bytes in the place of those that were told', () => {
    const sealed = Buffer.from('sealed bytes');
    const other = Buffer.alloc(32, 9);
    const shownFor = (isErased: boolean) =>
      packetFor(on, gated, (one) => {
        const { gate, state } = one.checkpoint;
        const seal = (payload: Payload): Shown => ({
          ...payload,
          encoding: 'sealed',
          key_id: 'k',
          body: sealed,
          sha256: other,
          ...(isErased ? {} : { content: payload.body }),
        });
        return {
          ...one,
          checkpoint: {
            ...one.checkpoint,
            gate:
              gate === null || gate.inputs === null
                ? gate
                : { ...gate, inputs: seal(gate.inputs), inputs_sha256: other },
            state:
              state === null || state.body === null
                ? state
                : { ...state, body: seal(state.body), chunk_sha256s: [other] },
          },
        };
      });
    expect(shownFor(false)).toEqual(packet);
    expect(
      shownFor(true)
        .commits.filter(({ commit_id: id, checkpoint }) => commitIdOf(checkpointIn(checkpoint)) !== id)
        .map(({ inputs_code, state_code }) => [inputs_code, state_code]),
    ).toContainEqual(['inputs_unavailable', 'state_unavailable']);
  });

  it('of a commit whose state was given up still holds its id and verdict, and does not say that its gate had no inputs', () => {
    const kept = ledger({ keeping: { fullFidelityMs: 1_000, softRollbackMs: 100 } });
    kept.entries.append('orders', bundleRegistered('orders', []));
    const one = commit('gone', { whole: { a: 1 }, gate: gateOf('orders', { total: 1 }) });
    kept.run.when(committed(one), NOW);
    spread(kept.run, kept.fallen, rollback(one), NOW + 1);
    kept.run.whenDue(NOW + 2_000);
    const gone = packetFor(kept, one);
    expect(gone).toMatchObject({
      state: { code: 'state_unavailable', sha256: null },
      before: { commit_id: null, code: null },
      commits: [
        { commit_id: one.id, chunks: null, state_code: 'state_unavailable', inputs_code: 'inputs_unavailable' },
      ],
    });
    expect(commitIdOf(checkpointIn(gone.commits[0]!.checkpoint))).toBe(one.id);
  });
});
