// On real parts: a successor bundle rolls back the earlier commits it would have refused, and what a fall reaches beyond its bound
// is a person's (E13, E14, E28, E48).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';
import { EDITOR, EXECUTIONS, itemsOf, OPERATOR, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

let system: System;

/** How far back a successor and a fall reach: well beyond what recording two commits takes on a busy machine. */
const BOUND_MS = 15_000;

beforeAll(async () => {
  system = await startSystem({ envOf: { 'mutation-ledger': { RECOURSE_ROLLBACK_BOUND_MS: String(BOUND_MS) } } });
  await system.codecs.prepareWriter(EXECUTIONS, { register: false });
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

/** Digest of the first version, as the registry gave it. */
let firstDigest: Buffer | null = null;

/** A version of the bundle; it admits what is smaller. */
async function bundle(below: number): Promise<void> {
  const entry = {
    owner: 'risk',
    doc: 'What may be reserved.',
    admission: [{ name: 'small', when: `gate.amount < ${String(below)}`, reason: 'too much for one' }],
    recovery: [],
  };
  const { status, body: answer } = await system.post(
    'registry',
    '/v1/entries/policy_bundle',
    { name: 'reservations', entry },
    { person: EDITOR },
  );
  if (status !== 201) throw new Error(JSON.stringify(answer));
  firstDigest ??= Buffer.from(String(answer['digest']), 'hex');
}

/** A commit on record. */
async function committed(
  stepId: string,
  {
    amount,
    parents = [],
    partition = 0,
  }: { readonly amount?: number; readonly parents?: readonly CommitRef[]; readonly partition?: number },
): Promise<CommitRef> {
  const inputs = amount === undefined ? null : plainPayload({ salt: 'as long as it has to be', gate: { amount } });
  const checkpoint: Checkpoint = {
    tenant: TENANT,
    run_id: runOn(partition),
    agent_id: 'agent-7',
    initiator: null,
    objective: null,
    step_id: stepId,
    produced_by: `call-${stepId}`,
    subject_ref: null,
    parents,
    assumption_refs: [],
    release: null,
    state: null,
    committed_at: Date.now(),
    gate:
      inputs === null
        ? null
        : {
            bundle: 'reservations',
            bundle_version: 1,
            bundle_digest: firstDigest ?? Buffer.alloc(32),
            verdict: 'admitted',
            inputs_sha256: inputs.sha256,
            inputs,
          },
  };
  const { run_id, tenant } = checkpoint;
  const commit_id = commitIdOf(checkpoint);
  await system.send(
    EXECUTIONS,
    run_id,
    system.codecs.encode(EXECUTIONS, 'CheckpointTaken', {
      event_id: `evt-${stepId}`,
      tenant,
      run_id,
      commit_id,
      checkpoint,
    }),
  );
  await until('the commit', async () =>
    (await system.get('ledger', `/v1/commits/${commit_id}`)).status === 200 ? true : null,
  );
  return { run_id, commit_id };
}

const rollback = ({ run_id, commit_id }: CommitRef, phase: string): Promise<Facts> =>
  until(
    `a rollback ${phase}`,
    async () =>
      itemsOf(await system.get('ledger', `/v1/rollbacks?run_id=${run_id}&phase=${phase}`)).find(
        (one) => one['mutation_id'] === commit_id,
      ) ?? null,
  );

describe('a bundle that follows another', () => {
  it('rolls back what it would have refused, and shows how far it came', async () => {
    await bundle(1_000);
    const [small, large] = [
      await committed('small', { amount: 7 }),
      await committed('large', { amount: 700, partition: 1 }),
    ];
    await bundle(100);
    expect(await rollback(large, 'marked')).toMatchObject({
      evidence: { kind: 'policy_reevaluation', source: 'service:mutation-ledger' },
      deadline_at: null,
    });
    const jobs = await until('both jobs', async () => {
      const found = itemsOf(await system.get('ledger', '/v1/reevaluations?phase=closed'));
      return found.length === 2 ? found : null;
    });
    expect(
      jobs
        .map(({ bundle_version, looked_at, refused, unjudged }) => [bundle_version, looked_at, refused, unjudged])
        .sort(),
    ).toEqual([
      [2, 1, 0, 0],
      [2, 1, 1, 0],
    ]);
    expect(itemsOf(await system.get('ledger', `/v1/rollbacks?run_id=${small.run_id}`))).toEqual([]);
    expect((await system.get('ledger', '/v1/reports/rollbacks?by=source')).body).toMatchObject({
      items: [{ name: 'service:mutation-ledger', rollbacks: 1, compensated: 0, runs: 1 }],
    });
  }, 120_000);

  it('rolls back what is recorded under the earlier version once its jobs are over, and lets stand what it admits', async () => {
    const [small, large] = [
      await committed('late and small', { amount: 8, partition: 1 }),
      await committed('late and large', { amount: 800 }),
    ];
    expect(await rollback(large, 'marked')).toMatchObject({
      evidence: { kind: 'policy_reevaluation', source: 'service:mutation-ledger' },
    });
    expect((await system.get('ledger', `/v1/commits/${small.commit_id}`)).body['standing']).toBe('stands');
    expect(itemsOf(await system.get('ledger', '/v1/reevaluations')).map(({ phase }) => phase)).toEqual([
      'closed',
      'closed',
    ]);
  }, 120_000);
});

describe('a commit beyond the bound of a fall', () => {
  it('waits for a person, and falls on their word', async () => {
    const parent = await committed('parent', {});
    const child = await committed('child', { parents: [parent], partition: 1 });
    await new Promise((resolve) => {
      setTimeout(resolve, BOUND_MS + 200);
    });
    expect(
      (
        await system.post(
          'ledger',
          '/v1/triggers',
          { run_id: parent.run_id, mutation_id: parent.commit_id, reason: 'a wrong premise' },
          { person: { subject: 'rita', roles: ['reporter'] } },
        )
      ).status,
    ).toBe(201);
    expect(await rollback(parent, 'marked')).toMatchObject({ bound_at: expect.any(Number) });
    const item = await rollback(child, 'beyond');
    expect(item).toMatchObject({
      owner: 'role:approver',
      evidence: { kind: 'lineage', root: { mutation_id: parent.commit_id } },
    });
    const reviewed = await system.post(
      'ledger',
      `/v1/rollbacks/${String(item['rollback_id'])}/review`,
      { verdict: 'rolled_back', reason: 'it rests on nothing now' },
      { person: OPERATOR },
    );
    expect(reviewed).toMatchObject({ status: 200, body: { phase: 'opened', verdict: 'rolled_back' } });
    expect(await rollback(child, 'marked')).toMatchObject({
      evidence: { kind: 'human' },
      reviewed: { verdict: 'rolled_back' },
    });
    expect(
      (
        await system.post(
          'ledger',
          `/v1/rollbacks/${String(item['rollback_id'])}/review`,
          { verdict: 'stands', reason: 'too late' },
          { person: OPERATOR },
        )
      ).status,
    ).toBe(409);
  }, 120_000);
});
