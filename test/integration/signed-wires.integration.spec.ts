// Where wires are strict, access to the broker is no authority: a client that may write anywhere changes nothing.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChainReader, genesisHead } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { createKafka, partitionForKey, signingFrom, testKeys } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import type { Producer } from '@recourse/sdk';
import { ADMINISTRATOR, EXECUTIONS, itemsOf, PARTITIONS, startSystem, TENANT, until } from './system.testing.js';
import type { System } from './system.testing.js';

const START_MS = 400_000;
const CALL_MS = 60_000;
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
const LOG = 'recourse.mutations';
const keys = testKeys({
  ...Object.fromEntries(SERVICES.map((name) => [name, { role: 'service' as const, names: [name] }])),
  planner: { role: 'producer', names: ['agent:planner'], tenants: [TENANT] },
  elsewhere: { role: 'producer', names: ['agent:planner'], tenants: ['other'] },
});
const folder = mkdtempSync(join(tmpdir(), 'recourse-keys-'));
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const keyringFile = fileOf('keyring.json', keys.text);
const placesOf = (id: string) => ({
  wires: 'strict' as const,
  keyringFile,
  signingKeyFile: fileOf(id, keys.pem(id)),
  signingKeyId: id,
});

let system: System;

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
}, START_MS);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, CALL_MS);

function as(id: string): Kafka {
  const signing = signingFrom(placesOf(id), { ownerOf: ownerOfLog, clock: systemClock });
  return createKafka({ brokers: [...system.stack.kafka.brokers], clientId: id, signing });
}

/** A client that asks nobody what its key may say: not of ours. */
function heedless(kafka: Kafka): Kafka {
  return {
    ...kafka,
    wireProducer: async () => {
      const { send, close } = await kafka.wireProducer();
      return { send, close };
    },
  };
}

const stranger = (): Kafka => createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'stranger' });

async function tellAs(kafka: Kafka, run: string): Promise<void> {
  const producer: Producer = await createProducer({ kafka, codecs: system.codecs, source: 'agent:planner' });
  await producer.toolExecuted(
    {
      tenant: TENANT,
      runId: run,
      agentId: 'agent:planner',
      initiator: 'asha',
      objective: 'keep notes',
      stepId: 'step',
      callId: `call-${run}`,
      capability: 'notes.write',
      contractDigest: null,
      effectKey: `eff_${run}`,
      idempotencyKey: `key-${run}`,
      subjectRef: 'note/1',
      args: { text: run },
      assumptionRefs: [],
    },
    {
      outcome: 'succeeded',
      committedAt: Date.now(),
      result: null,
      priorValue: null,
      externalTransactionRef: null,
      errorKind: null,
    },
  );
  await producer.close();
}

async function recorded(run: string): Promise<number> {
  const { body } = await system.get('ledger', `/v1/mutations?run_id=${run}`);
  return Array.isArray(body['items']) ? body['items'].length : 0;
}

async function eventually(run: string): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  while ((await recorded(run)) === 0) {
    if (Date.now() > giveUpAt) throw new Error(`${run} was never recorded`);
    await systemClock.sleep(200);
  }
}

const metrics = async (): Promise<string> => (await fetch(`${system.plan.urls.ledger}/metrics`)).text();

describe('a client that may write anywhere', () => {
  it(
    'is not believed on a wire without a key that may say so, and holds up nobody who has one',
    async () => {
      await tellAs(stranger(), 'signed-1');
      await expect(tellAs(as('elsewhere'), 'signed-1')).rejects.toMatchObject({ code: 'KEY_NOT_BELIEVED' });
      await tellAs(heedless(as('elsewhere')), 'signed-1');
      await system.send(EXECUTIONS, 'signed-2', Buffer.from('no frame'));
      await tellAs(as('planner'), 'signed-2');
      await eventually('signed-2');
      await tellAs(as('planner'), 'signed-3');
      await eventually('signed-3');
      expect(await recorded('signed-1')).toBe(0);
      const told = await metrics();
      for (const reason of ['SIGNATURE_MISSING', 'SPEAKER_MISMATCH'])
        expect(told).toMatch(new RegExp(`^recourse_records_refused_total\\{.*reason="${reason}".*\\} [1-9]`, 'm'));
    },
    CALL_MS,
  );

  it(
    'appends to no log: what follows the head is void, and its owner goes on',
    async () => {
      const partition = partitionForKey(Buffer.from('signed-4'), PARTITIONS);
      const { seq, hash } = await headOf(partition);
      const body = { seq: seq + 1, prev_hash: hash, decided_at: Date.now(), cursors: [], reacted_seq: 0 };
      await system.codecs.prepareWriter(LOG);
      const raw = await stranger().logProducer();
      await raw.send(LOG, partition, [
        { key: Buffer.from('progress'), value: system.codecs.encode(LOG, 'Progress', body) },
      ]);
      await raw.close();
      await tellAs(as('planner'), 'signed-4');
      await eventually('signed-4');
      expect((await headOf(partition)).seq).toBeGreaterThan(seq);
      expect(await metrics()).toMatch(/^recourse_log_records_unvouched_total\{.*\} [1-9]/m);
    },
    CALL_MS,
  );
});

describe('what an agent sends and nobody can read', () => {
  it(
    'holds up no person who undoes its run, and the answer says that it is there',
    async () => {
      await tellAs(as('planner'), 'signed-5');
      await eventually('signed-5');
      const wire = await as('planner').wireProducer();
      await wire.send(EXECUTIONS, [{ key: Buffer.from('signed-5'), value: Buffer.from('no frame') }]);
      await wire.close();
      await until('it is parked', async () => {
        const parked = itemsOf(await system.get('ledger', `/v1/parked?log=${LOG}&limit=100`, ADMINISTRATOR));
        return parked.some(({ record_key: key }) => key === 'signed-5') ? true : null;
      });
      const undo = { run_id: 'signed-5', mutation_ids: [], reason: 'its notes are wrong' };
      expect(await system.post('ledger', '/v1/undos', undo, {})).toMatchObject({
        status: 201,
        body: { run_id: 'signed-5', parked: 1 },
      });
    },
    CALL_MS,
  );
});

/** Head of a partition of the ledger's log, by what its owner signed. */
async function headOf(partition: number): Promise<Head> {
  const reader = await as('planner').rawReader();
  const chain = new ChainReader(
    genesisHead({ logId: system.plan.logId, topic: LOG, partition, partitionCount: PARTITIONS }),
    system.codecs.fingerprintOf,
  );
  const { high } = await reader.range(LOG, partition);
  for (let offset = 0; offset < high;) {
    const { records, nextOffset } = await reader.read(LOG, partition, offset);
    for (const record of records) {
      if (record.value !== null) await system.codecs.load(record.value.readInt32BE(1));
      chain.read(record);
    }
    offset = nextOffset;
  }
  await reader.close();
  return chain.head;
}
