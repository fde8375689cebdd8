// Who names the handle of somebody else's effect, over a real broker and across partitions and tenants, gets nothing undone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CONTRACTS, ISSUE_REFUND, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { createKafka, signingFrom, testKeys } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import { executed, itemsOf, PARTITIONS, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const START_MS = 300_000;
const CALL_MS = 180_000;
const PATIENCE_MS = 60_000;
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
const PLATFORM_EDITOR: Person = { subject: 'ravi', roles: ['platform_editor'], tenant: '*' };
const keys = testKeys({
  ...Object.fromEntries(SERVICES.map((name) => [name, { role: 'service' as const, names: [name] }])),
  planner: { role: 'producer', names: ['planner'], tenants: [TENANT] },
  mallory: { role: 'producer', names: ['mallory'], tenants: [TENANT, 'globex'] },
});
const folder = mkdtempSync(join(tmpdir(), 'recourse-handles-'));
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const keyringFile = fileOf('keyring.json', keys.text);

let system: System;
let digest: Buffer;

beforeAll(async () => {
  const envOf = Object.fromEntries(
    SERVICES.map((name) => [
      name,
      {
        RECOURSE_WIRES: 'strict',
        RECOURSE_KEYRING_FILE: keyringFile,
        RECOURSE_SIGNING_KEY_FILE: fileOf(name, keys.pem(name)),
        RECOURSE_SIGNING_KEY_ID: name,
      },
    ]),
  );
  system = await startSystem({ envOf });
  const person = PLATFORM_EDITOR;
  const of = { ...REFUND_POLICY, tenant: '*' };
  expect((await system.post('registry', '/v1/entries/policy_bundle', of, { person, key: 'policy' })).status).toBe(201);
  for (const contract of CONTRACTS) {
    const { status } = await system.post(
      'registry',
      '/v1/contracts',
      { ...contract, tenant: '*' },
      { person, key: contract.name },
    );
    expect(status).toBeLessThan(300);
  }
  digest = await digestInForce();
}, START_MS);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, CALL_MS);

/** As the registry has it: it counts versions and names the owner, and both are part of what the digest is of. */
async function digestInForce(): Promise<Buffer> {
  const { body } = await system.get('registry', `/v1/contracts/${ISSUE_REFUND}`, PLATFORM_EDITOR);
  return Buffer.from(String(body['digest']), 'hex');
}

/** An agent's word that it made an effect with this handle. */
async function tell(agent: 'planner' | 'mallory', runId: string, handle: string, tenant = TENANT): Promise<void> {
  const signing = signingFrom(
    { wires: 'strict', keyringFile, signingKeyFile: fileOf(agent, keys.pem(agent)), signingKeyId: agent },
    { ownerOf: ownerOfLog, clock: systemClock },
  );
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: agent, signing });
  const producer = await createProducer({ kafka, codecs: system.codecs, source: agent });
  const { event_id: _id, ...body } = executed(runId, { tenant, agentId: agent, contractDigest: digest });
  await producer.toolExecuted(
    {
      tenant,
      runId,
      agentId: agent,
      initiator: 'asha',
      objective: 'give the money back',
      stepId: 'refund',
      callId: 'call-1',
      capability: ISSUE_REFUND,
      contractDigest: digest,
      effectKey: body.effect_key,
      idempotencyKey: body.idempotency_key,
      subjectRef: null,
      args: { order_id: '4711', amount_minor: 1_000, currency: 'INR' },
      assumptionRefs: [],
    },
    {
      outcome: 'succeeded',
      result: { refund_id: handle, status: 'settled' },
      priorValue: null,
      externalTransactionRef: handle,
      errorKind: null,
      committedAt: Date.now(),
    },
  );
  await producer.close();
}

const watcher = (tenant: string): Person => ({ subject: 'mira', roles: ['operator', 'reporter', 'viewer'], tenant });
const mutationOf = async (runId: string, tenant = TENANT): Promise<Facts | null> =>
  itemsOf(await system.get('ledger', `/v1/mutations?run_id=${runId}`, watcher(tenant)))[0] ?? null;

describe('the handle of somebody else’s effect', () => {
  it(
    'is theirs: who names it in any partition or tenant has nothing that a machine undoes, and they have theirs',
    async () => {
      const victim = runOn(0, 'victim');
      await tell('planner', victim, 're_77');
      await until(
        'the effect',
        async () => ((await mutationOf(victim))?.['recoverability'] === 'reversal_available' ? true : null),
        PATIENCE_MS,
      );
      const thieves = Array.from(
        { length: PARTITIONS },
        (_, partition) => [runOn(partition, 'thief'), TENANT] as const,
      );
      for (const [run, tenant] of [...thieves, [runOn(1, 'abroad'), 'globex'] as const]) {
        await tell('mallory', run, 're_77', tenant);
        const stolen = await until(
          'a person has it',
          async () => {
            const found = await mutationOf(run, tenant);
            return found?.['recoverability'] === 'manual_resolution_required' ? found : null;
          },
          PATIENCE_MS,
        );
        expect(stolen).toMatchObject({ reason: 'HANDLE_CLAIMED', claim: { standing: 'foreign' } });
        const trigger = { run_id: run, mutation_id: stolen['mutation_id'], reason: 'it was wrong' };
        const { status } = await system.post('ledger', '/v1/triggers', trigger, { person: watcher(tenant), key: run });
        expect(status).toBeLessThan(300);
        const step = await until(
          'its step',
          async () => itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}`, watcher(tenant)))[0] ?? null,
        );
        expect(step).toMatchObject({ phase: 'manual', reason: 'HANDLE_CLAIMED', call: null, attempt: 0 });
      }
      expect(await mutationOf(victim)).toMatchObject({
        recoverability: 'reversal_available',
        claim: { standing: 'own' },
      });
    },
    CALL_MS,
  );
});
