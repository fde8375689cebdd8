// An agent whose steps are commits, on real parts: one step falls, it goes on before it with the evidence, and takes another way (E4, E11, E12, E33).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { systemClock } from '@recourse/kernel';
import {
  createCheckpoints,
  createDetector,
  HttpResume,
  resume,
  triggerTeller,
  MemoryRollbackTriggers,
} from '@recourse/sdk';
import type { Resumed } from '@recourse/sdk';
import { counted, DELIVERY_BUNDLE, RULES } from '../../examples/resumable-agent/src/watch.js';
import { startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const EDITOR: Person = { subject: 'mira', roles: ['contract_editor', 'operator'] };
const AGENT: Person = { subject: 'svc:delivery', roles: ['agent'] };
const ORDER = '7';
let system: System;

beforeAll(async () => {
  system = await startSystem({ envOf: { 'mutation-ledger': { RECOURSE_SOURCE_TRUST: 'off' } } });
  const { status, body } = await system.post(
    'registry',
    '/v1/entries/policy_bundle',
    { name: 'delivery', entry: DELIVERY_BUNDLE },
    { person: EDITOR, key: 'delivery' },
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

/** One start of the agent, as a process of its own. */
async function driven(): Promise<Facts> {
  const { stack, plan } = system;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      'examples/resumable-agent/dist/live.main.js',
      stack.kafka.brokers.join(','),
      stack.registryUrl,
      plan.urls.ledger,
      plan.urls.registry,
      ORDER,
    ],
    {
      encoding: 'utf8',
      env: { ...process.env, RECOURSE_TOKEN: await system.token(AGENT), RECOURSE_TENANT: TENANT },
      timeout: 60_000,
    },
  );
  if (status !== 0) throw new Error(stderr);
  // The example prints what it did on its last line.
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Facts;
}

const resumed = async (): Promise<Resumed> =>
  resume(new HttpResume({ url: system.plan.urls.ledger, token: () => system.token(AGENT) }), {
    tenant: TENANT,
    runId: `delivery-${ORDER}`,
  });

describe('an agent whose steps are commits', () => {
  let commits: readonly string[] = [];

  it('has each step on record, with its state', async () => {
    const first = await driven();
    commits = first['checkpoints'] as readonly string[];
    expect(first).toMatchObject({ resumedWith: [], refused: [], plan: { warehouse: 'east', carrier: 'bicycle' } });
    // Asked once: what was acknowledged is in the answer.
    expect(await resumed()).toMatchObject({
      checkpoint: { commit_id: commits.at(-1) },
      state: first['plan'],
      stateUnavailable: null,
      evidence: [],
      rolledBack: [],
    });
    expect(await driven()).toMatchObject({ resumedWith: ['address', 'warehouse', 'carrier'], checkpoints: [] });
  }, 120_000);

  it('is answered with the step that was acknowledged right before, each time', async () => {
    const run = {
      tenant: TENANT,
      runId: 'delivery-at-once',
      agentId: 'delivery',
      initiator: null,
      objective: 'ask at once',
    };
    const source = new HttpResume({ url: system.plan.urls.ledger, token: () => system.token(AGENT) });
    const checkpoints = createCheckpoints({ producer: system.producer, clock: systemClock, run });
    const state = { done: [] as number[] };
    for (let step = 1; step <= 20; step += 1) {
      state.done.push(step);
      const told = await checkpoints.record({ stepId: String(step), producedBy: 'delivery', state });
      const { checkpoint, state: found } = await resume(source, run);
      expect([checkpoint?.commit_id, found]).toEqual([told.admitted ? told.commitId : null, state]);
    }
  }, 120_000);

  it('goes on before the step that fell, and takes another way', async () => {
    const detector = createDetector({
      rules: RULES,
      tell: triggerTeller({ producer: system.producer, rollbacks: new MemoryRollbackTriggers() }),
    });
    await detector.see(counted(TENANT, 'east', 0, Date.now()));
    const at = await until(
      'the fall',
      async () => {
        const found = await resumed();
        return found.rolledBack.length === 2 ? found : null;
      },
      60_000,
    );
    expect([at.checkpoint?.commit_id, at.state]).toEqual([commits[0], { order: ORDER, address: 'Mill Lane 3' }]);
    expect(new Set(at.rolledBack)).toEqual(new Set(commits.slice(1)));
    expect(at.evidence.map(({ evidence }) => evidence.ref)).toContain('warehouse/east#stocked');
    expect(at.evidence.map(({ evidence }) => evidence.statement)).toContainEqual(
      expect.objectContaining({ rule: 'stocked', observed: { args: { warehouse: 'east' }, result: { left: 0 } } }),
    );
    expect(await driven()).toMatchObject({
      resumedWith: ['address'],
      refused: ['warehouse east: POLICY_REFUSED'],
      plan: { warehouse: 'west', carrier: 'van' },
    });
  }, 120_000);
});
