import { describe, expect, it } from '@jest/globals';
import type { Checkpoint, CommitRef, Payload } from '@recourse/messages';
import fc from 'fast-check';
import { commitIdOf, isCommitId, sortedParents } from './commit-id.js';

const sealed = (payload: Payload): Payload => ({
  ...payload,
  encoding: 'sealed',
  key_id: 'k1',
  body: Buffer.from('sealed'),
  sha256: Buffer.alloc(32, 9),
});
const bytes = (size: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((each) => Buffer.from(each));
const payload = fc.record({
  content_type: fc.string(),
  encoding: fc.constant('plain' as const),
  key_id: fc.constant(null),
  body: bytes(8),
  sha256: bytes(32),
});
const parent: fc.Arbitrary<CommitRef> = fc.record({ run_id: fc.string(), commit_id: fc.string() });
const parents = fc.uniqueArray(parent, {
  maxLength: 5,
  selector: ({ run_id, commit_id }) => JSON.stringify([run_id, commit_id]),
});
const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
  tenant: fc.string(),
  run_id: fc.string(),
  agent_id: fc.string(),
  initiator: fc.option(fc.string()),
  objective: fc.option(fc.string()),
  step_id: fc.string(),
  produced_by: fc.string(),
  subject_ref: fc.option(fc.string()),
  parents,
  assumption_refs: fc.uniqueArray(fc.string(), { maxLength: 4 }),
  gate: fc.option(
    fc.record({
      bundle: fc.string(),
      bundle_version: fc.nat(),
      bundle_digest: bytes(32),
      verdict: fc.constant('admitted' as const),
      inputs_sha256: bytes(32),
      inputs: fc.option(payload),
    }),
  ),
  release: fc.option(
    fc.record({
      prompt: fc.string(),
      model: fc.string(),
      policy: fc.string(),
      tools: fc.string(),
      context: fc.string(),
      eval: fc.string(),
      memory: fc.string(),
    }),
  ),
  state: fc.option(
    fc.record({
      kind: fc.constantFrom('whole' as const, 'delta' as const),
      base_id: fc.option(fc.string()),
      content_type: fc.string(),
      size_bytes: fc.nat(),
      chunk_sha256s: fc.array(bytes(32), { minLength: 1, maxLength: 3 }),
      body: fc.option(payload),
    }),
  ),
  committed_at: fc.nat(),
});

/** A checkpoint that differs in one field of its own, or of a part; null where the part is not there. */
const CHANGES: Readonly<Record<string, (from: Checkpoint) => Checkpoint | null>> = {
  tenant: (from) => ({ ...from, tenant: `${from.tenant}x` }),
  run_id: (from) => ({ ...from, run_id: `${from.run_id}x` }),
  agent_id: (from) => ({ ...from, agent_id: `${from.agent_id}x` }),
  initiator: (from) => ({ ...from, initiator: from.initiator === null ? '' : null }),
  objective: (from) => ({ ...from, objective: from.objective === null ? '' : null }),
  step_id: (from) => ({ ...from, step_id: `${from.step_id}x` }),
  produced_by: (from) => ({ ...from, produced_by: `${from.produced_by}x` }),
  subject_ref: (from) => ({ ...from, subject_ref: from.subject_ref === null ? '' : null }),
  parents: (from) => ({ ...from, parents: [...from.parents, { run_id: 'another', commit_id: 'one'.repeat(9) }] }),
  assumption_refs: (from) => ({ ...from, assumption_refs: [...from.assumption_refs, 'x'.repeat(20)] }),
  committed_at: (from) => ({ ...from, committed_at: from.committed_at + 1 }),
  'gate.bundle': ({ gate, ...from }) =>
    gate === null ? null : { ...from, gate: { ...gate, bundle: `${gate.bundle}x` } },
  'gate.bundle_version': ({ gate, ...from }) =>
    gate === null ? null : { ...from, gate: { ...gate, bundle_version: gate.bundle_version + 1 } },
  'gate.bundle_digest': ({ gate, ...from }) =>
    gate === null ? null : { ...from, gate: { ...gate, bundle_digest: flipped(gate.bundle_digest) } },
  'gate.verdict': ({ gate, ...from }) => (gate === null ? null : { ...from, gate: { ...gate, verdict: 'refused' } }),
  'gate.inputs': ({ gate, ...from }) =>
    gate === null ? null : { ...from, gate: { ...gate, inputs_sha256: flipped(gate.inputs_sha256) } },
  gate: ({ gate, ...from }) => (gate === null ? null : { ...from, gate: null }),
  'release.eval': ({ release, ...from }) =>
    release === null ? null : { ...from, release: { ...release, eval: `${release.eval}x` } },
  'state.base_id': ({ state, ...from }) =>
    state === null ? null : { ...from, state: { ...state, base_id: `${state.base_id ?? ''}x` } },
  'state.kind': ({ state, ...from }) =>
    state === null ? null : { ...from, state: { ...state, kind: state.kind === 'whole' ? 'delta' : 'whole' } },
  'state.chunks': ({ state, ...from }) =>
    state === null ? null : { ...from, state: { ...state, chunk_sha256s: state.chunk_sha256s.map(flipped) } },
  'state.order': ({ state, ...from }) =>
    state === null
      ? null
      : { ...from, state: { ...state, chunk_sha256s: [...state.chunk_sha256s, Buffer.alloc(32, 1)] } },
};

function flipped(hash: Buffer): Buffer {
  return Buffer.from(hash.map((byte, index) => (index === 0 ? byte ^ 1 : byte)));
}

describe('the id of a commit', () => {
  it('is the word, and 64 hex digits', () => {
    fc.assert(fc.property(checkpoint, (from) => isCommitId(commitIdOf(from))));
    expect(
      ['mut_1', `cp_${'A'.repeat(64)}`, `cp_${'0'.repeat(63)}`, `xcp_${'0'.repeat(64)}`].filter(isCommitId),
    ).toEqual([]);
  });

  it.each(Object.keys(CHANGES))('changes with %s (E5)', (name) => {
    fc.assert(
      fc.property(checkpoint, (from) => {
        const other = CHANGES[name]!(from);
        return other === null || commitIdOf(other) !== commitIdOf(from);
      }),
    );
  });

  it('does not depend on the order in which parents and refs were named, nor on naming one twice', () => {
    fc.assert(
      fc.property(
        checkpoint,
        (from) =>
          commitIdOf({
            ...from,
            parents: [...from.parents, ...from.parents].reverse(),
            assumption_refs: [...from.assumption_refs, ...from.assumption_refs].reverse(),
          }) === commitIdOf(from),
      ),
    );
  });

  it('stays when payloads are sealed or erased', () => {
    fc.assert(
      fc.property(checkpoint, fc.boolean(), (from, isErased) => {
        const [gate, state] = [from.gate, from.state];
        const hidden = (each: Payload | null): Payload | null => (each === null || isErased ? null : sealed(each));
        return (
          commitIdOf({
            ...from,
            gate: gate === null ? null : { ...gate, inputs: hidden(gate.inputs) },
            state: state === null ? null : { ...state, body: hidden(state.body) },
          }) === commitIdOf(from)
        );
      }),
    );
  });

  it('commits to the path from the root: another ancestor, however far, makes another id (E23)', () => {
    const path = (root: Checkpoint, steps: readonly Checkpoint[]): string =>
      steps.reduce(
        (id, step) => commitIdOf({ ...step, parents: [...step.parents, { run_id: root.run_id, commit_id: id }] }),
        commitIdOf(root),
      );
    fc.assert(
      fc.property(
        checkpoint,
        fc.array(checkpoint, { minLength: 1, maxLength: 5 }),
        (root, steps) => path(root, steps) !== path({ ...root, produced_by: `${root.produced_by}x` }, steps),
      ),
    );
  });
});

describe('parents', () => {
  it('are each once, in one order', () => {
    fc.assert(
      fc.property(parents, (each) => {
        expect(sortedParents([...each, ...each].reverse())).toEqual(sortedParents(each));
      }),
    );
    expect(
      sortedParents([
        { run_id: 'b', commit_id: '1' },
        { run_id: 'a', commit_id: '2' },
        { run_id: 'b', commit_id: '1' },
      ]),
    ).toEqual([
      { run_id: 'a', commit_id: '2' },
      { run_id: 'b', commit_id: '1' },
    ]);
  });
});
