import { describe, expect, it } from '@jest/globals';
import { readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { ManualClock } from '@recourse/kernel';
import { CHUNK_BYTES, CHUNKS_MAX, commitIdOf, DEPTH_MAX } from '@recourse/lineage';
import { MemoryEntries } from '../entries/entries.memory.js';
import { MemoryProducer } from '../producer/producer.memory.js';
import type { ToldCheckpoint } from '../producer/producer.js';
import { GATE_BYTES_MAX, gateInputs } from './checkpoint.decisions.js';
import { createCheckpoints } from './checkpoints.js';
import type { CheckpointsOptions } from './checkpoints.js';
import type { CheckpointStep } from './checkpoint.messages.js';
import { MemoryResume } from './resume.memory.js';
import { resume } from './resume.js';

const RUN = { tenant: 'acme', runId: 'run-1', agentId: 'planner', initiator: 'asha', objective: 'deliver order 1' };
const RELEASE = { prompt: 'p1', model: 'm1', policy: 'po1', tools: 't1', context: 'c1', eval: 'e1', memory: 'me1' };
const PAID: CheckpointStep = { stepId: 'plan', producedBy: 'planner', assumptionRefs: ['order/1#paid'] };
const NOT_CONTRADICTED = {
  owner: 'ops',
  doc: 'd',
  admission: [
    { name: 'fresh', when: '!("order/1#paid" in gate.contradicted)', reason: 'the order is not paid' },
    { name: 'small', when: 'gate.pens < 10', reason: 'too many pens' },
  ],
  recovery: [],
};

function stage(more: Partial<CheckpointsOptions> = {}) {
  const [producer, entries, clock] = [new MemoryProducer(), new MemoryEntries(), new ManualClock(1_000)];
  entries.register('policy_bundle', 'acme', 'delivery', NOT_CONTRADICTED);
  const options: CheckpointsOptions = {
    producer,
    entries,
    clock,
    run: RUN,
    saltOf: () => Buffer.alloc(16, 7),
    ...more,
  };
  const told = (): readonly ToldCheckpoint[] =>
    producer.told.flatMap((each) => (each.type === 'CheckpointTaken' ? [each.taken] : []));
  return {
    producer,
    entries,
    clock,
    options,
    told,
    checkpoints: createCheckpoints(options),
    source: new MemoryResume(producer),
  };
}

const gated = (pens: number): CheckpointStep => ({ ...PAID, gate: { bundle: 'delivery', inputs: { pens } } });

describe('a checkpoint', () => {
  it('is told under the hash of its checkpoint, each on the one before', async () => {
    const { checkpoints, told } = stage();
    for (const stepId of ['a', 'b'])
      await checkpoints.record({ ...PAID, stepId, parents: [{ run_id: 'run-0', commit_id: 'mut_1' }] });
    const [first, second] = told();
    expect(first?.checkpoint).toMatchObject({
      tenant: 'acme',
      run_id: 'run-1',
      agent_id: 'planner',
      initiator: 'asha',
      step_id: 'a',
      assumption_refs: ['order/1#paid'],
      parents: [{ run_id: 'run-0', commit_id: 'mut_1' }],
      committed_at: 1_000,
    });
    expect(second?.checkpoint.parents).toEqual([
      { run_id: 'run-0', commit_id: 'mut_1' },
      { run_id: 'run-1', commit_id: first?.commitId },
    ]);
    expect(told().map(({ commitId }) => commitId)).toEqual(told().map(({ checkpoint }) => commitIdOf(checkpoint)));
    expect(checkpoints.last).toEqual({ run_id: 'run-1', commit_id: second?.commitId });
  });

  it('waits for the one before it, however they are asked for', async () => {
    const { checkpoints, told } = stage();
    await Promise.all(['a', 'b', 'c'].map((stepId) => checkpoints.record({ ...PAID, stepId })));
    const ids = told().map(({ commitId }) => commitId);
    expect(told().map(({ checkpoint }) => checkpoint.parents.map(({ commit_id }) => commit_id))).toEqual([
      [],
      [ids[0]],
      [ids[1]],
    ]);
  });

  it("that was not acknowledged is nobody's parent", async () => {
    let isDown = true;
    const { producer, options, told } = stage();
    const checkpoints = createCheckpoints({
      ...options,
      producer: {
        assumptionDeclared: () => Promise.resolve(''),
        stateChunk: (chunk) => producer.stateChunk(chunk),
        checkpointTaken: (taken) => (isDown ? Promise.reject(new Error('no broker')) : producer.checkpointTaken(taken)),
      },
    });
    await expect(checkpoints.record(PAID)).rejects.toThrow('no broker');
    isDown = false;
    expect(await checkpoints.record(PAID)).toMatchObject({ admitted: true });
    expect(told()[0]?.checkpoint.parents).toEqual([]);
  });

  it('carries its release as a ref, and says once what that is', async () => {
    const { checkpoints, told, producer } = stage({ run: { ...RUN, release: RELEASE } });
    for (const stepId of ['a', 'b']) await checkpoints.record({ ...PAID, stepId });
    expect(told().map(({ checkpoint }) => [checkpoint.release, checkpoint.assumption_refs.length])).toEqual([
      [RELEASE, 2],
      [RELEASE, 2],
    ]);
    expect(producer.told.filter(({ type }) => type === 'AssumptionDeclared')).toHaveLength(1);
  });
});

describe('the gate of a checkpoint (E3)', () => {
  it('admits, and what it read and which version of the bundle said so are part of the checkpoint', async () => {
    const { checkpoints, told, entries } = stage();
    entries.register('policy_bundle', '*', 'delivery', { ...NOT_CONTRADICTED, admission: [] });
    entries.register('policy_bundle', 'acme', 'delivery', NOT_CONTRADICTED);
    expect(await checkpoints.record(gated(3))).toMatchObject({ admitted: true, isGated: true });
    const gate = told()[0]?.checkpoint.gate;
    expect(gate).toMatchObject({
      bundle: 'delivery',
      bundle_version: 2,
      verdict: 'admitted',
      bundle_digest: await entriesDigest(entries),
    });
    expect(readPayload(gate!.inputs!)).toEqual({
      salt: '07'.repeat(16),
      gate: { pens: 3, contradicted: [], evidence: [] },
    });
    expect(gate?.inputs_sha256).toEqual(gate?.inputs?.sha256);
  });

  it('refuses, and nothing is told', async () => {
    const { checkpoints, told, entries } = stage();
    expect(await checkpoints.record(gated(10))).toMatchObject({
      admitted: false,
      code: 'POLICY_REFUSED',
      reason: expect.stringContaining('small: too many pens'),
    });
    expect(await checkpoints.record({ ...PAID, gate: { bundle: 'delivery', inputs: {} } })).toMatchObject({
      admitted: false,
      code: 'POLICY_UNDECIDED',
    });
    expect(await checkpoints.record({ ...PAID, gate: { bundle: 'none', inputs: {} } })).toMatchObject({
      admitted: false,
      code: 'POLICY_UNKNOWN',
    });
    expect(
      await checkpoints.record({
        ...PAID,
        gate: { bundle: 'delivery', inputs: { pens: 1, long: 'x'.repeat(40_000) } },
      }),
    ).toMatchObject({ admitted: false, code: 'GATE_TOO_LARGE' });
    entries.isAway = true;
    expect(await checkpoints.record(gated(3))).toMatchObject({ admitted: false, code: 'REGISTRY_UNAVAILABLE' });
    expect([told(), checkpoints.last]).toEqual([[], null]);
  });

  it('is marked as missing where a step names none, or the step is refused', async () => {
    const { checkpoints, told, options } = stage();
    expect(await checkpoints.record(PAID)).toMatchObject({ admitted: true, isGated: false });
    expect(told()[0]?.checkpoint.gate).toBeNull();
    expect(await createCheckpoints({ ...options, isGateRequired: true }).record(PAID)).toMatchObject({
      admitted: false,
      code: 'GATE_REQUIRED',
    });
    const { entries: _entries, ...without } = options;
    expect(await createCheckpoints(without).record(gated(3))).toMatchObject({
      admitted: false,
      code: 'REGISTRY_UNAVAILABLE',
    });
  });

  it('reads the state the step goes on from', async () => {
    const { checkpoints, entries } = stage();
    entries.register('policy_bundle', 'acme', 'once', {
      owner: 'o',
      doc: 'd',
      admission: [{ name: 'once', when: '!("warehouse" in state)', reason: 'chosen already' }],
      recovery: [],
    });
    const step: CheckpointStep = { ...PAID, gate: { bundle: 'once', inputs: {} }, state: { warehouse: 'east' } };
    expect([await checkpoints.record(step), await checkpoints.record(step)]).toMatchObject([
      { admitted: true },
      { admitted: false, code: 'POLICY_REFUSED' },
    ]);
  });

  it('has the evidence that made a checkpoint fall: the same step is refused when the run goes on (E12)', async () => {
    const { checkpoints, source, options, told } = stage();
    await checkpoints.record({ ...PAID, stepId: 'begin', assumptionRefs: [], state: {} });
    expect(await checkpoints.record({ ...gated(3), state: { planned: true } })).toMatchObject({ admitted: true });
    source.rollBack(told()[1]!.commitId, {
      kind: 'verifier',
      source: 'bank',
      ref: 'order/1#paid',
      statement: { paid: false },
      stated_at: 2_000,
    });
    const from = await resume(source, RUN);
    expect([from.checkpoint?.commit_id, from.state]).toEqual([told()[0]?.commitId, {}]);
    const again = createCheckpoints({ ...options, from });
    expect(await again.record({ ...gated(3), state: { planned: true } })).toMatchObject({
      admitted: false,
      code: 'POLICY_REFUSED',
      reason: expect.stringContaining('the order is not paid'),
    });
    await again.record({ ...PAID, stepId: 'ask', state: { asked: true } });
    expect(told().at(-1)?.checkpoint).toMatchObject({
      parents: [{ commit_id: told()[0]?.commitId }],
      state: { kind: 'whole' },
    });
  });
});

const evidence = {
  kind: 'verifier',
  source: 'bank',
  ref: 'order/1#paid',
  statement: { paid: false },
  stated_at: 2_000,
} as const;

describe('a fact that is true again', () => {
  it('speaks against nothing any more, and what was said of it is still told (E12)', async () => {
    const { checkpoints, producer, source, options, told } = stage();
    await checkpoints.record(gated(3));
    source.rollBack(told()[0]!.commitId, evidence);
    const again = async (): Promise<unknown> =>
      createCheckpoints({ ...options, from: await resume(source, RUN) }).record(gated(3));
    expect(await again()).toMatchObject({ code: 'POLICY_REFUSED' });
    await producer.assumptionReaffirmed({ tenant: 'acme', ref: 'order/1#paid', statement: {}, statedAt: 3_000 });
    expect(await again()).toMatchObject({ admitted: true });
    expect(readPayload(told().at(-1)!.checkpoint.gate!.inputs!)).toMatchObject({
      gate: { contradicted: [], evidence: [{ ref: 'order/1#paid', ref_stands: true }] },
    });
  });

  it('is one that somebody says is true: where nobody can say, it stays contradicted', () => {
    const fallen = { commit_id: 'cmt_1', rollback_id: 'rb_1', evidence };
    for (const stands of [[null], [false], [true, null], [true, false]])
      expect(
        gateInputs(
          {},
          stands.map((ref_stands) => ({ ...fallen, ref_stands })),
        ),
      ).toMatchObject({ contradicted: ['order/1#paid'] });
    expect(gateInputs({}, [{ ...fallen, ref_stands: true }])).toMatchObject({ contradicted: [] });
  });
});

describe('what fell of a run', () => {
  it('contradicts what it did, however much it is: what the gate is not told of the oldest is counted', () => {
    const of = (at: number) => ({
      commit_id: `cmt_${String(at)}`,
      rollback_id: 'rb_1',
      evidence: { ...evidence, ref: `order/${String(at)}#paid`, stated_at: at },
      ref_stands: false,
    });
    const gate = gateInputs(
      {},
      Array.from({ length: 102 }, (_, at) => of(at)),
    );
    expect(gate['contradicted']).toHaveLength(102);
    expect(gate['evidence']).toMatchObject({ 0: { commit_id: 'cmt_2' }, 99: { commit_id: 'cmt_101' }, length: 100 });
    expect(gate['evidence_left_out']).toBe(2);
    expect(gateInputs({}, [of(1)])).not.toHaveProperty('evidence_left_out');
  });

  it.each([250, 500, 800])(
    '%d times leaves room for what the caller gives: refs are all told, evidence as it fits',
    (count) => {
      const gate = gateInputs(
        {},
        Array.from({ length: count }, (_, at) => ({
          commit_id: `cmt_${'a'.repeat(32)}`,
          rollback_id: 'rb_1',
          evidence: {
            ...evidence,
            ref: `order/${String(100_000 + at)}#paid`,
            statement: { paid: false, by: 'desk-7', at: 'noon' },
          },
          ref_stands: false,
        })),
      );
      expect(gate['contradicted']).toHaveLength(count);
      const told = gate['evidence'] as readonly unknown[]; // a list of what was said
      expect(told.length + Number(gate['evidence_left_out'])).toBe(count);
      expect(JSON.stringify(gate).length).toBeLessThan(GATE_BYTES_MAX - 3_000);
    },
  );

  it('is told oldest first, in whatever order the record names what fell', async () => {
    const { checkpoints, source, told } = stage();
    for (const stepId of ['a', 'b', 'c']) await checkpoints.record({ stepId, producedBy: 'planner' });
    const [a, b, c] = told().map(({ commitId }) => commitId);
    source.rollBack(c!, { ...evidence, stated_at: 1_000 });
    source.rollBack(b!, { ...evidence, stated_at: 3_000 });
    source.rollBack(a!, { ...evidence, stated_at: 2_000 });
    const { evidence: said } = await resume(source, RUN);
    expect(said.map(({ commit_id }) => commit_id)).toEqual([c, a, b]);
  });
});

async function entriesDigest(entries: MemoryEntries): Promise<Buffer | undefined> {
  const answer = await entries.standing('policy_bundle', 'acme');
  return answer.kind === 'read' ? answer.entries.find(({ tenant }) => tenant === 'acme')?.digest : undefined;
}

describe('the state of a checkpoint', () => {
  const kinds = (told: readonly ToldCheckpoint[]): readonly (string | undefined)[] =>
    told.map(({ checkpoint }) => checkpoint.state?.kind);
  const long = 'x'.repeat(200);

  it('is told whole, then as what changed, and whole again after as many deltas as may be (E22)', async () => {
    const { checkpoints, told, source } = stage();
    const states = Array.from({ length: DEPTH_MAX + 3 }, (_, at): Json => ({ long, at }));
    for (const state of states) await checkpoints.record({ ...PAID, state });
    expect(kinds(told())).toEqual(['whole', ...Array.from({ length: DEPTH_MAX }, () => 'delta'), 'whole', 'delta']);
    expect(
      told()
        .slice(0, 3)
        .map(({ checkpoint }) => checkpoint.state?.base_id),
    ).toEqual([null, told()[0]?.commitId, told()[1]?.commitId]);
    expect((await resume(source, RUN)).state).toEqual(states.at(-1));
  });

  it('is told whole where a delta saves nothing, or no delta says it', async () => {
    const { checkpoints, told } = stage();
    for (const state of [{ a: 1 }, { b: 2 }, [1], { long, gone: 1 }, { long, gone: null }])
      await checkpoints.record({ ...PAID, state });
    expect(kinds(told())).toEqual(['whole', 'whole', 'whole', 'whole', 'whole']);
  });

  it('builds on the newest state told, past checkpoints without one', async () => {
    const { checkpoints, told, source } = stage();
    await checkpoints.record({ ...PAID, state: { long, at: 1 } });
    await checkpoints.record(PAID);
    expect((await resume(source, RUN)).stateUnavailable).toBe('no_state');
    await checkpoints.record({ ...PAID, state: { long, at: 2 } });
    expect([kinds(told()), told()[2]?.checkpoint.state?.base_id, (await resume(source, RUN)).state]).toEqual([
      ['whole', undefined, 'delta'],
      told()[0]?.commitId,
      { long, at: 2 },
    ]);
  });

  it('comes in chunks after its checkpoint where one record does not hold it', async () => {
    const { checkpoints, producer, source } = stage();
    const state = { text: 'y'.repeat(2 * CHUNK_BYTES) };
    await checkpoints.record({ ...PAID, state });
    expect(producer.told.map((each) => (each.type === 'StateChunk' ? each.chunk.index : each.type))).toEqual([
      'CheckpointTaken',
      0,
      1,
      2,
    ]);
    expect((await resume(source, RUN)).state).toEqual(state);
  });

  it('is refused where it is larger than chunks may hold', async () => {
    const { checkpoints, told } = stage();
    expect(await checkpoints.record({ ...PAID, state: 'z'.repeat(CHUNKS_MAX * CHUNK_BYTES) })).toMatchObject({
      admitted: false,
      code: 'STATE_TOO_LARGE',
    });
    expect(told()).toEqual([]);
  });

  it('has another salt each time unless one is given, so equal states have different ids', async () => {
    const { saltOf: _salt, ...options } = stage().options;
    const ids = await Promise.all(
      [1, 2].map(async () => createCheckpoints(options).record({ ...PAID, state: { a: 1 } })),
    );
    expect(new Set(ids.map((answer) => (answer.admitted ? answer.commitId : null))).size).toBe(2);
  });
});

describe('an agent that keeps one object and changes it', () => {
  it('has each of its states told as it was when it was recorded', async () => {
    const { checkpoints, told, source } = stage();
    const state = { done: {} as Record<string, boolean>, invoices: [] as string[], long: 'x'.repeat(200) };
    for (const invoice of ['a', 'b', 'c']) {
      state.invoices.push(invoice);
      state.done[invoice] = true;
      await checkpoints.record({ ...PAID, stepId: invoice, state });
    }
    expect(told().map(({ checkpoint }) => checkpoint.state?.kind)).toEqual(['whole', 'delta', 'delta']);
    expect((await resume(source, RUN)).state).toEqual({
      done: { a: true, b: true, c: true },
      invoices: ['a', 'b', 'c'],
      long: state.long,
    });
  });

  it('may go on with it while what it recorded waits for its turn', async () => {
    const { checkpoints, told, source, entries } = stage();
    entries.register('policy_bundle', 'acme', 'any', { owner: 'o', doc: 'd', admission: [], recovery: [] });
    const run = {
      state: { at: 1 },
      refs: ['order/1#paid'],
      parent: { run_id: 'run-0', commit_id: 'mut_1' },
      pens: [1],
    };
    const gate = { bundle: 'any', inputs: { pens: run.pens } };
    const { state, refs: assumptionRefs, parent } = run;
    const step: CheckpointStep = { ...PAID, state, assumptionRefs, parents: [parent], gate };
    const recording = [checkpoints.record(step), checkpoints.record(step)];
    state.at = 2;
    assumptionRefs.push('order/2#paid');
    parent.commit_id = 'mut_2';
    run.pens.push(2);
    await Promise.all(recording);
    for (const { checkpoint } of told()) {
      expect(checkpoint.assumption_refs).toEqual(['order/1#paid']);
      expect(checkpoint.parents).toContainEqual({ run_id: 'run-0', commit_id: 'mut_1' });
      expect(readPayload(checkpoint.gate!.inputs!)).toMatchObject({ gate: { pens: [1] } });
    }
    expect([told().length, (await resume(source, RUN)).state]).toEqual([2, { at: 1 }]);
  });

  it('has the release told that decided when it was recorded', async () => {
    const release = { ...RELEASE };
    const { checkpoints, told } = stage({ run: { ...RUN, release } });
    const recording = checkpoints.record(PAID);
    release.prompt = 'p2';
    await recording;
    await checkpoints.record(PAID);
    expect(told().map(({ checkpoint }) => checkpoint.release?.prompt)).toEqual(['p1', 'p2']);
  });

  it('may go on with the state it was given to resume from: the gate reads it as it was', async () => {
    const { checkpoints, entries, source, options } = stage();
    entries.register('policy_bundle', 'acme', 'once', {
      owner: 'o',
      doc: 'd',
      admission: [{ name: 'once', when: '!("warehouse" in state)', reason: 'chosen already' }],
      recovery: [],
    });
    await checkpoints.record({ ...PAID, state: { address: 'home' } });
    const from = await resume(source, RUN);
    const again = createCheckpoints({ ...options, from });
    const state = from.state as Record<string, Json>;
    state['warehouse'] = 'east';
    expect(await again.record({ ...PAID, state, gate: { bundle: 'once', inputs: {} } })).toMatchObject({
      admitted: true,
    });
    expect((await resume(source, RUN)).state).toEqual({ address: 'home', warehouse: 'east' });
  });

  it('is told that a state is no JSON, and may record another', async () => {
    const { checkpoints, told } = stage();
    for (const at of [Number.NaN, new Map([['a', 1]]), new Set(), new Response('a')] as unknown as Json[])
      await expect(checkpoints.record({ ...PAID, state: { at } })).rejects.toThrow(/no JSON: .* at \/state\/at/u);
    expect([await checkpoints.record({ ...PAID, state: { at: 1 } }), told().length]).toMatchObject([
      { admitted: true },
      1,
    ]);
  });
});
