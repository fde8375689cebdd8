import { describe, expect, it } from '@jest/globals';
import type { Checkpoint } from '@recourse/messages';
import { commitIdOf, isCommitId } from './commit-id.js';
import { cutState, isChunk, joinState } from './state-chunks.js';

const CHECKPOINT: Checkpoint = {
  tenant: 'acme', run_id: 'run-1', agent_id: 'planner', initiator: null, objective: null, step_id: 'plan', produced_by: 'call-1', subject_ref: null, parents: [], assumption_refs: ['a#b', 'c#d'],
  gate: null, release: null, state: null, committed_at: 1_000,
};
const told = (more: Partial<Checkpoint> = {}): Checkpoint => ({ ...CHECKPOINT, ...more });
const child = (parent: Checkpoint): Checkpoint => told({ step_id: 'act', parents: [{ run_id: parent.run_id, commit_id: commitIdOf(parent) }] });
const salt = (): Buffer => Buffer.alloc(16, 7);

describe('the id of a commit', () => {
  it('is the hash of what was committed: the same content has the same id, any other another', () => {
    expect(isCommitId(commitIdOf(told()))).toBe(true);
    expect(commitIdOf(told({ assumption_refs: ['c#d', 'a#b', 'a#b'] }))).toBe(commitIdOf(told()));
    const others = [told({ step_id: 'other' }), told({ committed_at: 1_001 }), told({ tenant: 'beta' }), told({ run_id: 'run-2' }), told({ assumption_refs: [] }), told({ state: cutState({ n: 1 }, salt).state })];
    expect(new Set([told(), ...others].map(commitIdOf)).size).toBe(others.length + 1);
  });

  it('commits to the path from the root: another ancestor, another id', () => {
    const path = (root: Checkpoint): string => commitIdOf(child(child(child(root))));
    expect(path(told())).toBe(path(told()));
    expect(path(told({ produced_by: 'call-2' }))).not.toBe(path(told()));
  });

  it('stays when its state is sealed or erased, and is another for another state', () => {
    const { state } = cutState({ stock: 3 }, salt);
    const id = commitIdOf(told({ state }));
    expect(commitIdOf(told({ state: { ...state, body: null } }))).toBe(id);
    expect(commitIdOf(told({ state: cutState({ stock: 4 }, salt).state }))).not.toBe(id);
  });
});

describe('a state in chunks', () => {
  it('comes back as it was, and takes no chunk it was not told of', () => {
    const content = { text: 'x'.repeat(400_000), n: 1 };
    const { state, chunks } = cutState(content, salt);
    expect(chunks.length).toBeGreaterThan(1);
    expect(joinState(chunks.map(({ body }) => body))).toEqual(content);
    expect(chunks.map((chunk, index) => isChunk(chunk, state.chunk_sha256s[index]))).toEqual(chunks.map(() => true));
    const [first] = chunks;
    expect(first !== undefined && isChunk(first, state.chunk_sha256s[1])).toBe(false);
  });
});
