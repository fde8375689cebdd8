// The example's processes on a real broker and registry: a leg is worked, through a kill -9 of the worker's provider.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs, recordOf } from '@recourse/messages';
import type { Codecs, LegReported, LegRequested } from '@recourse/messages';
import { RESULTS_TOPIC } from '@recourse/sdk';
import { GET_REFUND, REVERSE_REFUND } from './common/contracts.js';
import { ask } from './common/http.js';

const REQUESTS = 'recourse.tool-requests.payments';
const TOPICS = [REQUESTS, RESULTS_TOPIC, 'recourse.assumption-events', 'recourse.tool-executions'];
const PARTITIONS = 6;
const stack = process.env['RECOURSE_TEST_STACK'];
const onStack = stack === undefined || stack === '' ? describe.skip : describe;

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
}

onStack('the processes of the example', () => {
  // Written by the runner of the suites.
  const facts = JSON.parse(stack ?? '{}') as {
    readonly kafka: { readonly brokers: readonly string[] };
    readonly registryUrl: string;
  };
  const run = `run-${String(process.pid)}-${String(Date.now())}`;
  const children: ChildProcess[] = [];
  let root = '';
  let kafka: Kafka;
  let codecs: Codecs;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'drifted-refund-'));
    kafka = createKafka({ brokers: facts.kafka.brokers, clientId: 'spec' });
    codecs = createCodecs(createSchemaRegistry({ url: facts.registryUrl }));
    const admin = await kafka.admin();
    const missing: string[] = [];
    for (const topic of TOPICS) if ((await admin.partitionCount(topic)) === null) missing.push(topic);
    await admin.ensureTopics(missing.map((name) => ({ name, partitions: PARTITIONS })));
    await admin.close();
    for (const topic of TOPICS) await codecs.prepareWriter(topic, { register: true });
  });
  afterAll(async () => {
    children.forEach((child) => child.kill('SIGKILL'));
    await rm(root, { recursive: true, force: true });
  });

  async function start(name: string, more: Readonly<Record<string, string>> = {}): Promise<Started> {
    const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'dist', `${name}.main.js`)], {
      env: {
        ...process.env,
        DATA_DIR: join(root, name),
        RECOURSE_KAFKA_BROKERS: facts.kafka.brokers.join(','),
        RECOURSE_REGISTRY_URL: facts.registryUrl,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const port = await new Promise<number>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        resolve((JSON.parse(chunk.toString()) as { readonly listening: number }).listening);
      });
      child.once('exit', (code) => {
        reject(new Error(`${name} ended with ${String(code)}`));
      });
    });
    return { child, url: `http://127.0.0.1:${String(port)}` };
  }

  async function request(leg: LegRequested): Promise<void> {
    const wire = await kafka.wireProducer();
    await wire.send(REQUESTS, [{ key: Buffer.from(leg.run_id), value: codecs.encode(REQUESTS, 'LegRequested', leg) }]);
    await wire.close();
  }

  async function reportOf(legId: string): Promise<LegReported> {
    const reader = await kafka.rawReader();
    const admin = await kafka.admin();
    const partitions = (await admin.partitionCount(RESULTS_TOPIC)) ?? 0;
    try {
      for (;;) {
        for (let partition = 0; partition < partitions; partition += 1) {
          for (let { low, high } = await reader.range(RESULTS_TOPIC, partition); low < high;) {
            const { records } = await reader.read(RESULTS_TOPIC, partition, low);
            for (const { value, offset } of records) {
              await codecs.load(value?.readInt32BE(1) ?? 0);
              const report = recordOf(RESULTS_TOPIC, codecs.decodeSync(value))?.body;
              if (report?.leg_id === legId) return report;
              low = offset + 1;
            }
          }
        }
        await new Promise((resolve) => {
          setTimeout(resolve, 100);
        });
      }
    } finally {
      await reader.close();
      await admin.close();
    }
  }

  const legOf = (legId: string, refundId: string, more: Partial<LegRequested> = {}): LegRequested => ({
    leg_id: legId,
    kind: 'compensate',
    tenant: 'demo',
    run_id: run,
    attempt: 1,
    lease_id: 'lease',
    not_after: Date.now() + 20_000,
    reconcile_first: false,
    for_observer: false,
    reason: 'agent_effect_compensation',
    steps: [
      {
        step_id: `step-${legId}`,
        call_timeout_ms: 2_000,
        agent_id: 'agent',
        subject_ref: null,
        external_transaction_ref: refundId,
        key_lifetime_ms: 60_000,
        reconcile_capability: GET_REFUND,
        stale_capability: GET_REFUND,
        stale_condition: 'observed.status == "settled"',
        stale_compares: null,
        verify_capability: GET_REFUND,
        success_condition: 'observed.status == "reversed"',
        verify_max_attempts: 2,
        verify_delay_ms: 50,
        calls_done: 0,
        call: {
          call_id: `rev_${legId}`,
          run_id: run,
          adapter_id: 'payments',
          capability: REVERSE_REFUND,
          args: plainPayload({ refund_id: refundId }),
          approval_mode: 'delegated',
          policy_ref: null,
          idempotency_key: `rev_${legId}`,
          reverses_mutation_ref: 'mut',
          then: [],
        },
      },
    ],
    ...more,
  });

  it('reverse a refund once, refuse a late leg, and notice a provider that undoes nothing', async () => {
    const provider = await start('payment-provider');
    await start('worker', { PROVIDER_URL: provider.url, WORKER_ID: run });
    const issue = async (key: string): Promise<string> =>
      String(
        (
          await ask(`${provider.url}/refunds`, {
            method: 'POST',
            body: { order: key, amount_minor: 100, currency: 'INR' },
            headers: { 'idempotency-key': key },
          })
        ).body['refund_id'],
      );
    const [first, second] = [await issue('a'), await issue('b')];

    await request(legOf(`${run}-1`, first));
    expect(await reportOf(`${run}-1`)).toMatchObject({ worker_id: run, steps: [{ outcome: 'verified' }] });
    await request(legOf(`${run}-2`, second, { not_after: Date.now() - 1 }));
    expect(await reportOf(`${run}-2`)).toMatchObject({ steps: [{ outcome: 'refused_late' }] });
    await ask(`${provider.url}/faults`, { method: 'POST', body: { mode: 'phantom_undo', times: 1 } });
    await request(legOf(`${run}-3`, second));
    expect(await reportOf(`${run}-3`)).toMatchObject({
      steps: [{ outcome: 'unverified', error_kind: 'NOT_OBSERVED' }],
    });

    const { body } = await ask(`${provider.url}/effects`);
    expect(body['effects']).toMatchObject([
      { kind: 'refund' },
      { kind: 'refund' },
      { kind: 'reversal', refund_id: first, requests: 1 },
    ]);
  }, 60_000);

  it('keep what they acknowledged through kill -9, and tell again what they had not told', async () => {
    const warehouse = await start('warehouse');
    expect((await ask(`${warehouse.url}/orders`, { method: 'POST', body: { order: run } })).body).toMatchObject({
      status: 'open',
      told: { opened: true },
    });
    expect((await ask(`${warehouse.url}/orders/${run}/ship`, { method: 'POST', body: {} })).body).toMatchObject({
      status: 'shipped',
      told: { shipped: true },
    });
    warehouse.child.kill('SIGKILL');
    const again = await start('warehouse');
    expect((await ask(`${again.url}/orders/${run}`)).body).toMatchObject({
      status: 'shipped',
      carrier: 'BlueDart',
      told: { opened: true, shipped: true },
    });
  }, 60_000);
});
