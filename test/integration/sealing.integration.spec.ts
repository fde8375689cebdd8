// What agents and tools tell of people is in clear on wires only: secrets are planted in every payload, and looked for in
// every log, database and process log. Destroying a key erases what it sealed and leaves the chain as it was (docs/design/topics.md).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run as recourse } from '@recourse/cli';
import { forwardDigest, plainPayload } from '@recourse/contract';
import { createKafka } from '@recourse/kafka';
import { TOPICS } from '@recourse/messages';
import { createWorker, happened, MemoryClaimStore, MemoryPositionStore, systemClock } from '@recourse/sdk';
import type { Tool, Worker } from '@recourse/sdk';
import { Client } from 'pg';
import {
  ADMINISTRATOR,
  ASSUMPTIONS,
  EDITOR,
  executed,
  EXECUTIONS,
  INITIATOR,
  itemsOf,
  OPERATOR,
  runOn,
  startSystem,
  TENANT,
  until,
} from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const OBSERVE = 'payments.get_refund';
const REVERSE = 'payments.reverse_refund';
const REFUND = 'payments.issue_refund';
/** What is planted, by where it comes in. No two contain each other. */
const SECRETS = {
  args: 'planted-in-args-7d1f',
  result: 'planted-in-result-7d1f',
  prior: 'planted-in-prior-value-7d1f',
  statement: 'planted-in-statement-7d1f',
  observed: 'planted-in-observation-7d1f',
  reconciled: 'planted-in-reconciliation-7d1f',
  unframed: 'planted-in-unframed-bytes-7d1f',
  truncated: 'planted-in-truncated-avro-7d1f',
  foreign: 'planted-on-a-foreign-partition-7d1f',
  trigger: 'planted-in-a-trigger-7d1f',
  forward: 'planted-in-a-question-7d1f',
} as const;
const SUBJECT = 'customer/7d1f';
const AGENT = { subject: 'svc:refunds', roles: ['agent'] };

let system: System;
let worker: Worker;
let digest: Buffer;
const refunds = new Map<string, string>();

const observe: Tool = (args, { phase, idempotencyKey }) => {
  const { refund_id } = args as { readonly refund_id?: string };
  if (phase === 'reconcile' && refund_id === undefined)
    return Promise.resolve(
      happened(
        { refund_id: `re_${idempotencyKey}`, status: 'settled', note: SECRETS.reconciled },
        `re_${idempotencyKey}`,
      ),
    );
  return Promise.resolve({
    refund_id: refund_id ?? null,
    status: refunds.get(String(refund_id)) ?? 'settled',
    note: SECRETS.observed,
  });
};
const reverse: Tool = (args) => {
  const { refund_id } = args as { readonly refund_id?: string };
  refunds.set(String(refund_id), 'reversed');
  return Promise.resolve({ refund_id: refund_id ?? null, status: 'reversed', note: SECRETS.observed });
};

async function register(name: string): Promise<Buffer> {
  // A contract of ours is a JSON object.
  const contract = {
    ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts),
    version: undefined,
  };
  const answer = await system.post('registry', '/v1/contracts', contract, { person: EDITOR, key: name });
  if (answer.status !== 201) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
  return Buffer.from(String((await system.get('registry', `/v1/contracts/${name}`, EDITOR)).body['digest']), 'hex');
}

const framed = (
  run: string,
  action: Parameters<typeof executed>[1] = {},
  outcome: Parameters<typeof executed>[2] = {},
): Buffer =>
  system.codecs.encode(
    EXECUTIONS,
    'ToolExecuted',
    executed(
      run,
      {
        capability: REFUND,
        contractDigest: digest,
        subjectRef: SUBJECT,
        args: { order_id: '4711', amount_minor: 1_000, currency: 'INR', note: SECRETS.args },
        ...action,
      },
      outcome,
    ),
  );

async function mutationOf(run: string, isIt: (mutation: Facts) => boolean = () => true): Promise<Facts> {
  return until(`the mutation of ${run}`, async () => {
    const [mutation] = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`));
    return mutation !== undefined && isIt(mutation) ? mutation : null;
  });
}

async function parked(reason: string, log = 'recourse.mutations'): Promise<Facts> {
  return until(
    `a record parked for ${reason}`,
    async () =>
      itemsOf(await system.get('ledger', `/v1/parked?log=${log}&limit=500`, ADMINISTRATOR)).find(
        (item) => item['reason'] === reason,
      ) ?? null,
  );
}

const RUNS = { undone: runOn(0, 'undone'), uncertain: runOn(1, 'uncertain'), stated: runOn(0, 'stated') };

/** Tells everything that can hold something of a person, and waits until it stands. */
async function tell(): Promise<void> {
  const ref = 'order/4711#not_shipped';
  await system.send(
    EXECUTIONS,
    RUNS.undone,
    framed(
      RUNS.undone,
      {},
      {
        result: { refund_id: `re-${RUNS.undone}`, status: 'settled', note: SECRETS.result },
        priorValue: { card: SECRETS.prior },
      },
    ),
  );
  await system.send(
    EXECUTIONS,
    RUNS.uncertain,
    framed(RUNS.uncertain, {}, { outcome: 'uncertain', result: null, externalTransactionRef: null }),
  );
  await system.send(
    ASSUMPTIONS,
    ref,
    system.codecs.encode(ASSUMPTIONS, 'AssumptionDeclared', {
      event_id: 'e1',
      tenant: TENANT,
      ref,
      run_id: null,
      source: 'spec',
      statement: plainPayload({ note: SECRETS.statement }),
      stated_at: Date.now(),
    }),
  );
  await system.send(EXECUTIONS, runOn(0, 'noise'), Buffer.from(`no record but ${SECRETS.unframed}`), 0);
  const cut = runOn(0, 'cut');
  await system.send(EXECUTIONS, cut, framed(cut, { args: { note: SECRETS.truncated } }).subarray(0, -40), 0);
  await system.send(
    EXECUTIONS,
    RUNS.stated,
    framed(RUNS.stated, { args: { order_id: '1', amount_minor: 1, currency: 'INR', note: SECRETS.foreign } }),
    1,
  );
  await Promise.all([
    parked('UNFRAMED'),
    parked('TRUNCATED'),
    mutationOf(RUNS.stated),
    mutationOf(RUNS.uncertain, ({ execution_state }) => execution_state === 'succeeded'),
  ]);
  await ask();
  await undo(String((await mutationOf(RUNS.undone))['mutation_id']));
}

/** People are asked before an effect. */
async function ask(): Promise<void> {
  const action = {
    tenant: TENANT,
    runId: RUNS.undone,
    effectKey: 'eff_asked',
    capability: REFUND,
    contractDigest: digest.toString('hex'),
    subjectRef: SUBJECT,
    args: { order_id: '4711', amount_minor: 1, currency: 'INR', note: SECRETS.forward },
  };
  const { status, body } = await system.post(
    'orchestrator',
    '/v1/forward-approvals',
    {
      run_id: action.runId,
      effect_key: action.effectKey,
      capability: REFUND,
      contract_digest: action.contractDigest,
      subject_ref: SUBJECT,
      initiator: INITIATOR.subject,
      objective: 'settle ticket 99',
      agent_id: 'refund-agent',
      mode: 'human',
      action_digest: forwardDigest(action),
      args: action.args,
      rehearsal: { note: SECRETS.forward },
    },
    { person: AGENT },
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** A person triggers the rollback and another approves it; a worker reverses the refund. */
async function undo(mutationId: string): Promise<void> {
  await system.post(
    'ledger',
    '/v1/triggers',
    { run_id: RUNS.undone, mutation_id: mutationId, reason: SECRETS.trigger },
    { person: OPERATOR },
  );
  const step = await until(
    'the step',
    async () =>
      itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${RUNS.undone}`)).find(
        ({ phase }) => phase === 'awaiting_approval',
      ) ?? null,
  );
  await system.post(
    'orchestrator',
    `/v1/steps/${String(step['step_id'])}/approve`,
    { action_digest: step['action_digest'], reason: 'agreed' },
    { person: OPERATOR },
  );
  await mutationOf(RUNS.undone, ({ recoverability }) => recoverability === 'compensated');
}

beforeAll(async () => {
  system = await startSystem();
  await register(OBSERVE);
  await register(REVERSE);
  digest = await register(REFUND);
  worker = createWorker({
    kafka: createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'worker' }),
    codecs: system.codecs,
    adapter: 'payments',
    tools: { [OBSERVE]: observe, [REVERSE]: reverse },
    clock: systemClock,
    claimStore: new MemoryClaimStore(),
    positions: new MemoryPositionStore(),
    workerId: 'worker-1',
    groupId: 'workers',
    callTimeoutMs: 2_000,
  });
  await worker.start();
  await tell();
}, 400_000);
afterAll(async () => {
  await worker.stop();
  await system.stop();
}, 60_000);

/** Every record of a topic as its bytes: key, value, headers. */
async function bytesOf(topic: string): Promise<Buffer> {
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'scanner' });
  const [admin, reader] = [await kafka.admin(), await kafka.rawReader()];
  const found: Buffer[] = [];
  try {
    for (let partition = 0; partition < ((await admin.partitionCount(topic)) ?? 0); partition += 1) {
      const { high } = await reader.range(topic, partition);
      for (let offset = 0; offset < high;) {
        const { records } = await reader.read(topic, partition, offset);
        if (records.length === 0) break;
        for (const record of records) {
          found.push(
            ...Object.entries(record.headers).flatMap(([name, value]) => [Buffer.from(name), value]),
            record.key ?? Buffer.alloc(0),
            record.value ?? Buffer.alloc(0),
          );
          offset = record.offset + 1;
        }
      }
    }
  } finally {
    await Promise.all([admin.close(), reader.close()]);
  }
  return Buffer.concat(found);
}

/** Every row of a database as text; bytes as they are. */
async function rowsOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ readonly name: string }>(
      "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    const found: string[] = [];
    for (const { name } of tables)
      found.push(
        ...(await client.query<{ readonly row: string }>(`SELECT row_to_json(t)::text AS row FROM ${name} t`)).rows.map(
          ({ row }) => row,
        ),
      );
    return found.join('\n');
  } finally {
    await client.end();
  }
}

const foundIn = (bytes: Buffer): readonly string[] => Object.values(SECRETS).filter((secret) => bytes.includes(secret));
const foundInRows = (rows: string): readonly string[] =>
  Object.values(SECRETS).filter(
    (secret) => rows.includes(secret) || rows.includes(Buffer.from(secret).toString('hex')),
  );

describe('a secret that was planted in a payload', () => {
  it('is on a wire, where the scanner finds it', async () => {
    const wires = await Promise.all(TOPICS.filter(({ kind }) => kind === 'wire').map(({ name }) => bytesOf(name)));
    expect(new Set(wires.flatMap(foundIn))).toEqual(new Set(Object.values(SECRETS)));
  }, 120_000);

  it.each(TOPICS.filter(({ kind }) => kind !== 'wire').map(({ name }) => name))(
    'is in no record, key or header of %s',
    async (topic) => {
      expect(foundIn(await bytesOf(topic))).toEqual([]);
    },
    60_000,
  );

  it('is in no row of any service, nor in the key store', async () => {
    const { databases, keyStoreUrl } = system.plan;
    const rows = await Promise.all([...Object.values(databases).map(({ url }) => url), keyStoreUrl].map(rowsOf));
    expect(rows.map((text) => text.length).every((length) => length > 100)).toBe(true);
    expect(rows.flatMap(foundInRows)).toEqual([]);
  }, 60_000);

  it('is in no line that a process logged', () => {
    const { logDir } = system.stack;
    const logs = readdirSync(logDir)
      .filter((name) => /registry|ledger|orchestrator|accountant|issuer/.test(name))
      .map((name) => readFileSync(join(logDir, name)));
    expect(logs.length).toBeGreaterThan(3);
    expect(logs.flatMap(foundIn)).toEqual([]);
  });

  it('is shown to a payload reader alone, and who read it is in the log and in a list', async () => {
    const path = `/v1/mutations/${String((await mutationOf(RUNS.undone))['mutation_id'])}`;
    const asked = async (roles: readonly string[], subject: string): Promise<Facts> =>
      (await system.get('ledger', path, { subject, roles })).body;
    expect(
      foundIn(Buffer.from(JSON.stringify(await asked(['approver', 'operator', 'administrator'], 'nosy')))),
    ).toEqual([]);
    expect(await asked(['payload_reader'], 'reader-7d1f')).toMatchObject({
      execution: { args: { body: { note: SECRETS.args } } },
    });
    const auditor = { subject: 'nora', roles: ['auditor'] };
    expect(itemsOf(await system.get('ledger', '/v1/readings?reader=reader-7d1f', auditor))).toMatchObject([
      { tenant: TENANT, reader: 'reader-7d1f', route: `GET ${path}`, subjects: [SUBJECT] },
    ]);
    expect(itemsOf(await system.get('ledger', '/v1/readings?reader=nosy', auditor))).toEqual([]);
  });

  it('is shown to who may read the record, and was handed to the worker that acted on it', async () => {
    const mutation = await system.get(
      'ledger',
      `/v1/mutations/${String((await mutationOf(RUNS.undone))['mutation_id'])}`,
    );
    expect(mutation.body).toMatchObject({
      execution: {
        args: { encoding: 'sealed', body: { note: SECRETS.args } },
        result: { body: { note: SECRETS.result } },
        prior_value: { body: { card: SECRETS.prior } },
      },
    });
    expect(refunds.get(`re-${RUNS.undone}`)).toBe('reversed');
  });

  it('comes out of a record that was sent to its own partition', async () => {
    expect(await mutationOf(RUNS.stated)).toMatchObject({ execution: { args: { body: { note: SECRETS.foreign } } } });
  }, 60_000);
});

describe('an erasure', () => {
  const erase = (body: object, person = { ...ADMINISTRATOR, tenant: TENANT }) =>
    system.post('ledger', '/v1/erasures', body, { person });

  it("is an administrator's, and of something that is named", async () => {
    expect(await erase({ subject: SUBJECT, reason: 'asked' }, { ...OPERATOR, tenant: TENANT })).toMatchObject({
      status: 403,
      body: { code: 'ROLE_REQUIRED' },
    });
    expect(await erase({ reason: 'asked' })).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
    expect(await erase({ subject: SUBJECT, reason: 'asked', tenant: 'globex' })).toMatchObject({
      status: 403,
      body: { code: 'TENANT_FOREIGN' },
    });
  });

  it('takes the data away for good, and leaves record, hashes and chain as they were', async () => {
    const before = await mutationOf(RUNS.undone);
    expect(await erase({ subject: SUBJECT, reason: 'the customer asked to be forgotten' })).toMatchObject({
      status: 200,
      body: { tenant: TENANT, subject: SUBJECT, keys_destroyed: 1 },
    });
    const after = await mutationOf(RUNS.undone);
    expect(foundIn(Buffer.from(JSON.stringify([after['execution'], after['ref']])))).toEqual([]);
    const steps = itemsOf(
      await until(
        "the orchestrator's belief in its keys to end",
        async () => {
          const reply = await system.get('orchestrator', `/v1/steps?run_id=${RUNS.undone}`);
          return JSON.stringify(reply.body).includes(SECRETS.observed) ? null : reply;
        },
        90_000,
      ),
    );
    expect(foundIn(Buffer.from(JSON.stringify(steps)))).toEqual([SECRETS.trigger]);
    // What a person typed as a reason is of the run, whose commit is not known yet where it is recorded.
    expect(await erase({ subject: `run/${RUNS.undone}`, reason: 'and the run with it' })).toMatchObject({
      status: 200,
      body: { keys_destroyed: 1 },
    });
    expect(foundIn(Buffer.from(JSON.stringify(await mutationOf(RUNS.undone))))).toEqual([]);
    const [was, is] = [before, after].map((mutation) => (mutation['execution'] as Facts)['args'] as Facts);
    expect([is?.['sha256'], is?.['key_id'], after['recorded_hash'], after['recoverability']]).toEqual([
      was?.['sha256'],
      was?.['key_id'],
      before['recorded_hash'],
      'compensated',
    ]);
  }, 150_000);

  it('is nothing an audit could tell from tampering: there is none', async () => {
    const out: string[] = [];
    const code = await recourse(['audit', 'verify', '--json'], {
      terminal: {
        out: (text) => {
          out.push(text);
        },
        note: (text) => {
          out.push(text);
        },
        isInteractive: false,
        ask: () => Promise.reject(new Error('nobody is asked')),
      },
      environment: {
        RECOURSE_KAFKA_BROKERS: system.stack.kafka.brokers.join(','),
        RECOURSE_REGISTRY_URL: system.stack.registryUrl,
        RECOURSE_LOG_ID: system.plan.logId,
      },
      folder: '.',
      fetch,
    });
    expect([code, out.join('\n')]).toEqual([0, expect.stringContaining('"ok": true')]);
  }, 60_000);

  it('is followed by a new key when more of the subject is told', async () => {
    const run = runOn(1, 'again');
    await system.send(EXECUTIONS, run, framed(run));
    expect(await mutationOf(run)).toMatchObject({ execution: { args: { body: { note: SECRETS.args } } } });
  }, 60_000);
});
