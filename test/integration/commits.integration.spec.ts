// Commits on real parts: a fall over partitions up to its bound, gates run again, a successor bundle, states given up (issue 6; E9, E13 to E16, E27, E28, E37).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run as recourse } from '@recourse/cli';
import { plainPayload } from '@recourse/contract';
import { commitIdOf, cutState } from '@recourse/lineage';
import type { Json } from '@recourse/kernel';
import type { Checkpoint, CommitRef, Gate } from '@recourse/messages';
import { ADMINISTRATOR, EDITOR, OPERATOR, itemsOf, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const BOUND_MS = 15_000;
let system: System;

beforeAll(async () => {
  system = await startSystem({
    envOf: {
      'mutation-ledger': {
        RECOURSE_SOURCE_TRUST: 'off',
        RECOURSE_ROLLBACK_BOUND_MS: String(BOUND_MS),
        RECOURSE_SOFT_ROLLBACK_MS: '1000',
        RECOURSE_JANITOR_MS: '200',
      },
    },
  });
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

interface More {
  readonly parents?: readonly CommitRef[];
  readonly refs?: readonly string[];
  readonly state?: Json;
  readonly gate?: Gate;
}

/** Tells a commit, and waits until it is on record. */
async function committed(
  run: string,
  stepId: string,
  { parents = [], refs = [], state, gate }: More = {},
): Promise<CommitRef> {
  const cut = state === undefined ? null : cutState(state, () => randomBytes(16));
  const checkpoint: Checkpoint = {
    tenant: TENANT,
    run_id: run,
    agent_id: 'agent-7',
    initiator: null,
    objective: null,
    step_id: stepId,
    produced_by: `call-${stepId}`,
    subject_ref: 'order/1',
    parents,
    assumption_refs: refs,
    gate: gate ?? null,
    release: null,
    state: cut?.state ?? null,
    committed_at: Date.now(),
  };
  const id = commitIdOf(checkpoint);
  await system.producer.checkpointTaken({ commitId: id, checkpoint });
  for (const [index, chunk] of (cut?.chunks ?? []).entries())
    await system.producer.stateChunk({ tenant: TENANT, runId: run, commitId: id, index, chunk });
  await until(`the commit ${stepId}`, async () => ((await commitOf(id))['commit_id'] === id ? true : null));
  return { run_id: run, commit_id: id };
}

const commitOf = async (id: string, query = ''): Promise<Facts> =>
  (await system.get('ledger', `/v1/commits/${id}${query}`)).body;
const is = ({ commit_id: id }: CommitRef, standing: string): Promise<true> =>
  until(`${id} ${standing}`, async () => ((await commitOf(id))['standing'] === standing ? true : null));
const triggered = async ({ run_id, commit_id }: CommitRef): Promise<void> => {
  const { status, body } = await system.post(
    'ledger',
    '/v1/triggers',
    { run_id, mutation_id: commit_id, reason: 'the source was wrong' },
    { person: OPERATOR, key: commit_id },
  );
  if (status >= 300) throw new Error(JSON.stringify(body));
};

/** A gate that admitted on these inputs. */
async function gateOf(bundle: string, gate: Json): Promise<Gate> {
  const { digest, version } = (await system.get('registry', `/v1/entries/policy_bundle/${bundle}`)).body;
  const inputs = plainPayload({ salt: randomBytes(16).toString('hex'), gate });
  return {
    bundle,
    bundle_version: Number(version),
    bundle_digest: Buffer.from(String(digest), 'hex'),
    verdict: 'admitted',
    inputs_sha256: inputs.sha256,
    inputs,
  };
}

async function register(name: string, when: string): Promise<void> {
  const entry = {
    owner: 'risk',
    doc: 'What may be committed.',
    admission: [{ name: 'limit', when, reason: 'too much' }],
    recovery: [],
  };
  const { status, body } = await system.post(
    'registry',
    '/v1/entries/policy_bundle',
    { name, entry },
    { person: EDITOR, key: `${name}-${when}` },
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
}

describe('commits on real parts', () => {
  it('fall over partitions; what is older than the bound goes to a person, who has it in a list', async () => {
    const [a, b, c] = [runOn(0), runOn(1), runOn(0)];
    const root = await committed(a, 'read');
    const old = await committed(b, 'plan', { parents: [root] });
    await pause(BOUND_MS);
    const young = await committed(c, 'act', { parents: [old] });
    const free = await committed(c, 'else');
    await triggered(root);
    await Promise.all([is(root, 'rolled_back'), is(old, 'beyond'), is(young, 'rolled_back'), is(free, 'stands')]);
    const [left] = await until('the item of a person', async () => {
      const found = itemsOf(await system.get('ledger', '/v1/rollbacks?phase=beyond'));
      return found.length > 0 ? found : null;
    });
    expect(left).toMatchObject({ mutation_id: old.commit_id, run_id: b });
    const answer = await system.post(
      'ledger',
      `/v1/rollbacks/${String(left?.['rollback_id'])}/review`,
      { verdict: 'rolled_back', reason: 'it rests on it all the same' },
      { person: OPERATOR },
    );
    expect(answer.status).toBe(200);
    await is(old, 'rolled_back');
    expect(itemsOf(await system.get('ledger', '/v1/rollbacks?phase=beyond'))).toEqual([]);
  }, 180_000);

  it('are reattached where their gate admits them without what fell, and fall where it does not', async () => {
    await register('orders', 'gate.total < 100 && !("broken" in state)');
    const run = runOn(0);
    const first = await committed(run, 'plan', { state: { plan: 'a' } });
    const offender = await committed(run, 'book', { parents: [first], state: { plan: 'a', broken: true } });
    const gate = await gateOf('orders', { total: 50 });
    const free = await committed(run, 'note', { parents: [offender], gate, state: { note: 1 } });
    const other = await committed(runOn(1), 'report', { parents: [offender] });
    await triggered(offender);
    await Promise.all([is(offender, 'rolled_back'), is(other, 'rolled_back')]);
    await until('the new parent', async () =>
      JSON.stringify((await commitOf(free.commit_id))['parents']) ===
      JSON.stringify([{ run_id: run, commit_id: first.commit_id }])
        ? true
        : null,
    );
    expect((await commitOf(free.commit_id))['standing']).toBe('stands');
    const resume = (await system.get('ledger', `/v1/runs/${run}/resume`)).body;
    expect(resume).toMatchObject({ checkpoint: first, state: { plan: 'a' }, rolled_back: [offender.commit_id] });
  }, 180_000);

  it('are looked at again when their bundle has a successor, and fall where it refuses them', async () => {
    await register('limits', 'gate.total < 100');
    const [run, other] = [runOn(0), runOn(1)];
    const small = await committed(run, 'small', { gate: await gateOf('limits', { total: 10 }) });
    const large = await committed(other, 'large', { gate: await gateOf('limits', { total: 90 }) });
    const after = await committed(run, 'after', { parents: [large] });
    await register('limits', 'gate.total < 50');
    await Promise.all([is(large, 'rolled_back'), is(after, 'rolled_back')]);
    expect((await commitOf(small.commit_id))['standing']).toBe('stands');
    const jobs = await until('the jobs done', async () => {
      const found = itemsOf(await system.get('ledger', '/v1/reevaluations'));
      return found.length === 2 && found.every(({ phase }) => phase === 'closed') ? found : null;
    });
    expect(jobs.reduce((all, job) => all + Number(job['refused']), 0)).toBe(1);
  }, 180_000);

  it('give up the state of what was rolled back once its interval is over; a large state comes back whole until then', async () => {
    const state = { text: 'a secret of a customer '.repeat(20_000) };
    const one = await committed(runOn(1), 'large', { state });
    const whole = await until('the whole state', async () => {
      const found = await commitOf(one.commit_id, '?state=true');
      return found['state_code'] === null ? found : null;
    });
    expect(whole['state']).toEqual(state);
    await triggered(one);
    const gone = await until('the end of its state', async () => {
      const found = await commitOf(one.commit_id, '?state=true');
      return found['hardened'] === 'rolled_back' ? found : null;
    });
    expect(gone).toMatchObject({
      state: null,
      state_code: 'state_unavailable',
      standing: 'rolled_back',
      checkpoint: { step_id: 'large' },
    });
  }, 180_000);

  it('are taken away in packets, and replay to equal decisions where no service is', async () => {
    await register('away', 'gate.total < state.limit');
    const run = runOn(1);
    const first = await committed(run, 'read', {
      state: { limit: 100, text: 'a secret of a customer '.repeat(20_000) },
    });
    const noted = await committed(run, 'note', { parents: [first] });
    const last = await committed(run, 'act', {
      parents: [noted],
      gate: await gateOf('away', { total: 50 }),
      state: { limit: 1 },
    });
    await until('the whole state', async () =>
      (await commitOf(first.commit_id, '?state=true'))['state_code'] === null ? true : null,
    );
    const folder = mkdtempSync(join(tmpdir(), 'recourse-packet-'));
    const said: string[] = [];
    const terminal = {
      out: (text: string) => {
        said.push(text);
      },
      note: (text: string) => {
        said.push(text);
      },
      isInteractive: false,
      ask: () => Promise.resolve(''),
    };
    const environment = {
      RECOURSE_LEDGER_URL: system.plan.urls.ledger,
      RECOURSE_CONTRACTS_URL: system.plan.urls.registry,
      RECOURSE_TOKEN: await system.token(OPERATOR),
    };
    const made = await recourse(['lineage', 'packet', last.commit_id, '--out', 'packet.json'], {
      terminal,
      environment,
      folder,
      fetch,
    });
    const dumped = await recourse(['audit', 'dump', 'dump'], {
      terminal,
      environment: {
        RECOURSE_KAFKA_BROKERS: system.stack.kafka.brokers.join(','),
        RECOURSE_REGISTRY_URL: system.stack.registryUrl,
        RECOURSE_LOG_ID: system.plan.logId,
      },
      folder,
      fetch,
    });
    const replayed = await recourse(['lineage', 'replay-packet', 'packet.json', '--dump', 'dump', '--json'], {
      terminal,
      environment: {},
      folder,
      fetch: () => Promise.reject(new Error('offline')),
    });
    rmSync(folder, { recursive: true, force: true });
    expect([made, dumped, replayed, said.at(-1)]).toEqual([0, 0, 0, expect.stringContaining('"ok": true')]);
    const { checks } = JSON.parse(said.at(-1) ?? '') as {
      readonly checks: readonly { readonly outcome: string; readonly code: string | null }[];
    };
    expect(checks.filter(({ outcome }) => outcome !== 'equal').map(({ code }) => code)).toEqual(['no_release']);
  }, 180_000);

  it('that are wrong stand in the list of what is parked, with what is wrong and what to do', async () => {
    const run = runOn(0);
    const checkpoint: Checkpoint = {
      tenant: TENANT,
      run_id: run,
      agent_id: 'agent-7',
      initiator: null,
      objective: null,
      step_id: 'forged',
      produced_by: 'call',
      subject_ref: null,
      parents: [],
      assumption_refs: [],
      gate: null,
      release: null,
      state: null,
      committed_at: Date.now(),
    };
    await system.producer.checkpointTaken({ commitId: `cp_${'0'.repeat(64)}`, checkpoint });
    const parked = await until(
      'what is parked',
      async () =>
        itemsOf(await system.get('ledger', '/v1/parked?log=recourse.mutations&limit=500', ADMINISTRATOR)).find(
          (one) => one['reason'] === 'COMMIT_ID_MISMATCH',
        ) ?? null,
    );
    expect(String(parked['detail'])).toContain(commitIdOf(checkpoint));
  }, 120_000);
});
