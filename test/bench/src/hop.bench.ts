// hop: from a statement of the world to a person's desk.
//
// Ours: AssumptionInvalidated is produced, and the review item it leads to is read over HTTP; everything idle, one at a
// time. Raw: one record through kafkajs from this process to another, same broker, same maxWait. In turns.
import { CONTRACTS, ISSUE_REFUND } from '@recourse/example-drifted-refund';
import { dropDatabase, planSystem, SERVICES, startProcesses } from '@recourse/dev-stack';
import type { SystemPlan } from '@recourse/dev-stack';
import { createProducer, effectKey, mutationId } from '@recourse/sdk';
import type { Action, Producer } from '@recourse/sdk';
import { join } from 'node:path';
import { TOPICS } from '@recourse/messages';
import { emptyTopics, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { openEcho } from './echo.js';
import { hopTimes } from './hop-times.js';
import type { Echo } from './echo.js';
import { benchKeys } from './signing.js';
import { Traffic } from './traffic.js';
import type { Measured } from './report.js';
import { median, percentile } from './rounds.js';
import { idle, until } from './waits.js';

/** What every input consumer of ours waits at the broker, milliseconds. */
const MAX_WAIT_MS = 100;
const TENANT = 'acme';
const ECHO_TOPIC = 'bench.hop';
/** Between two looks; each costs the orchestrator and the database a query, which a shorter wait would have them do instead of the recovery. */
const POLL_MS = 5;
const PATIENCE_MS = 30_000;
const LOOKS = { withinMs: PATIENCE_MS, pollMs: POLL_MS } as const;
const WARM_UPS = 5;
const COUNTED = 5;

const HOPS = [
  '1 assumption-events → ledger writes AssumptionStated',
  '2 assumptions → ledger writes MutationsFell',
  '3 mutations → orchestrator writes RecoveryPlanned',
  '4 projection into PostgreSQL',
  '5 GET /v1/reviews',
];

export interface HopSize {
  readonly samples: number;
}
export const HOP_FULL: HopSize = { samples: 150 };
export const HOP_QUICK: HopSize = { samples: 30 };

interface System {
  readonly plan: SystemPlan;
  readonly producer: Producer;
  readonly tokens: { readonly editor: string; readonly operator: string };
  readonly digest: Buffer;
}

/** On services with open wires, or with strict ones. */
export async function benchHop({ samples }: HopSize, { isSigned = false } = {}): Promise<Measured> {
  return withStack(async (bench) => {
    // A stack that the environment named may hold what others left.
    await emptyTopics(
      bench,
      TOPICS.map(({ name }) => name),
    );
    for (const service of SERVICES) await dropDatabase(bench.stack, `recourse_${service.replaceAll('-', '_')}`);
    say('starting the services');
    const keys = isSigned ? benchKeys(bench.folder) : null;
    const options = { dataDir: join(bench.folder, 'system'), withExample: false };
    const plan = await planSystem(bench.stack, keys === null ? options : { ...options, envOf: keys.envOf });
    const processes = await startProcesses(plan.processes, { logDir: join(bench.folder, 'logs') });
    const echo = await openEcho(bench, ECHO_TOPIC, MAX_WAIT_MS);
    const kafka = keys === null ? bench.kafka : keys.producing(bench.stack.kafka.brokers);
    const producer = await createProducer({ kafka, codecs: bench.codecs, source: 'bench' });
    try {
      const tokens = {
        editor: await tokenOf(plan, 'ravi', 'contract_editor'),
        operator: await tokenOf(plan, 'mira', 'operator'),
      };
      const digest = await registerContracts(plan, tokens.editor);
      return await measure(bench, { plan, producer, tokens, digest }, echo, samples);
    } finally {
      await producer.close();
      await echo.close();
      await processes.stop();
    }
  });
}

async function measure(bench: BenchStack, system: System, echo: Echo, samples: number): Promise<Measured> {
  for (let index = 0; index < WARM_UPS; index += 1) {
    await recover(system, await execute(system, -1 - index));
    await echo.hop();
  }
  const ours: number[] = [];
  const raw: number[] = [];
  for (let index = 0; index < samples; index += 1) {
    if (index % 30 === 0) say(`sample ${String(index + 1)} of ${String(samples)}`);
    const action = await execute(system, index);
    await idle(index);
    ours.push(await recover(system, action));
    await idle(index);
    raw.push(await echo.hop());
  }
  const times = await hopTimes(bench, (name) => /^(?:run_bench_|order\/)(\d+)/.exec(name)?.[1] ?? null);
  return measuredOf({ ours, raw, samples, times, ...(await countTraffic(bench, system, samples)) });
}

interface Hops {
  readonly ours: readonly number[];
  readonly raw: readonly number[];
  readonly samples: number;
  readonly times: readonly { readonly hop: string; readonly ms: number }[];
  readonly perExecution: PerCase;
  readonly perRecovery: PerCase;
}

function measuredOf({ ours, raw, samples, times, perExecution, perRecovery }: Hops): Measured {
  const [p99, rawP99] = [percentile(ours, 0.99), percentile(raw, 0.99)];
  return {
    figures: { hop_p50_ms: median(ours), hop_p99_ms: p99, hop_raw_p50_ms: median(raw), hop_raw_p99_ms: rawP99 },
    ratios: { hop_vs_raw_p50: median(ours) / median(raw), hop_vs_raw_p99: p99 / rawP99 },
    counts: {
      hop_samples: samples,
      hop_kafka_hops: 5,
      hop_log_records_per_execution: perExecution.records,
      hop_produce_requests_per_execution: perExecution.appends,
      hop_transactions_per_execution: perExecution.transactions,
      hop_log_records_per_recovery: perRecovery.records,
      hop_produce_requests_per_recovery: perRecovery.appends,
      hop_transactions_per_recovery: perRecovery.transactions,
    },
    gates: {
      hop_every_statement_reached_a_review: ours.length === samples && ours.every((ms) => ms < PATIENCE_MS),
      hop_every_raw_record_arrived: raw.every((ms) => Number.isFinite(ms) && ms > 0),
    },
    notes: [
      'hop: four services, issuer, broker, registry, PostgreSQL and the bench share the cores, all idle but for the one recovery',
      ...HOPS.map((hop) => `  ${hop}`),
      `  records of one recovery: ${perRecovery.types}`,
      '  from record to record, median:',
      ...times.map(({ hop, ms }) => `    ${hop.padEnd(44)} ${ms.toFixed(0).padStart(4)} ms`),
    ],
  };
}

/** Runs some executions and recoveries apart from the timed ones, and looks at what the logs and the databases gained. */
async function countTraffic(
  bench: BenchStack,
  system: System,
  first: number,
): Promise<{ readonly perExecution: PerCase; readonly perRecovery: PerCase }> {
  const traffic = await Traffic.open(bench);
  try {
    const before = await traffic.settled();
    const actions: Action[] = [];
    for (let index = 0; index < COUNTED; index += 1) actions.push(await execute(system, first + index));
    const executed = await traffic.settled();
    for (const action of actions) await recover(system, action);
    const recovered = await traffic.settled();
    return {
      perExecution: traffic.between(before, executed, COUNTED),
      perRecovery: traffic.between(executed, recovered, COUNTED),
    };
  } finally {
    await traffic.close();
  }
}

type PerCase = ReturnType<Traffic['between']>;

/** An execution that relies on a ref; resolves when the ledger says that it can be undone. */
async function execute(system: System, index: number): Promise<Action> {
  const action = actionOf(index, system.digest);
  await system.producer.toolExecuted(action, {
    outcome: 'succeeded',
    result: { refund_id: `rf_${String(index)}`, status: 'settled' },
    priorValue: null,
    externalTransactionRef: `rf_${String(index)}`,
    errorKind: null,
    committedAt: Date.now(),
  });
  const id = mutationId(TENANT, action.runId, action.effectKey);
  await until(
    `mutation ${id}`,
    async () =>
      (await get(`${system.plan.urls.ledger}/v1/mutations/${id}`, system.tokens.operator))['recoverability'] ===
      'reversal_available',
    LOOKS,
  );
  return action;
}

/** States that the ref no longer holds; milliseconds until the review item is read. */
async function recover(system: System, { runId, assumptionRefs }: Action): Promise<number> {
  const startedAt = performance.now();
  await system.producer.assumptionInvalidated({
    tenant: TENANT,
    ref: assumptionRefs[0] ?? '',
    statement: { status: 'shipped' },
    statedAt: Date.now(),
    sourceKind: 'observation',
  });
  await until(
    `review of ${runId}`,
    async () => {
      const { items } = await get(
        `${system.plan.urls.orchestrator}/v1/reviews?run_id=${runId}`,
        system.tokens.operator,
      );
      return Array.isArray(items) && items.length > 0;
    },
    LOOKS,
  );
  return performance.now() - startedAt;
}

function actionOf(index: number, digest: Buffer): Action {
  const runId = `run_bench_${String(index)}`;
  const args = { order: String(index), amount_minor: 100, currency: 'INR' };
  return {
    tenant: TENANT,
    runId,
    agentId: 'refund-agent',
    initiator: 'asha',
    objective: 'put things in place',
    stepId: 'refund',
    callId: `${runId}-refund`,
    capability: ISSUE_REFUND,
    contractDigest: digest,
    effectKey: effectKey({ step: 'refund', capability: ISSUE_REFUND, target: `order/${String(index)}`, args }),
    idempotencyKey: runId,
    subjectRef: null,
    args,
    assumptionRefs: [`order/${String(index)}#not_shipped`],
  };
}

/** Registers the example's contracts; answers with the digest the registry gave that of the refund. */
async function registerContracts(plan: SystemPlan, token: string): Promise<Buffer> {
  for (const contract of CONTRACTS) {
    await until(
      `contract ${contract.name}`,
      async () => {
        const { status } = await fetch(`${plan.urls.registry}/v1/contracts`, {
          method: 'POST',
          body: JSON.stringify(contract),
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'idempotency-key': `bench-${contract.name}`,
          },
        });
        if (status >= 400 && status < 500)
          throw new Error(`the registry refused ${contract.name} with ${String(status)}`);
        return status === 200 || status === 201;
      },
      LOOKS,
    );
  }
  const { digest } = await get(`${plan.urls.registry}/v1/contracts/${ISSUE_REFUND}`, token);
  return Buffer.from(String(digest), 'hex');
}

async function tokenOf({ urls }: SystemPlan, subject: string, role: string): Promise<string> {
  const response = await fetch(`${urls.issuer}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ subject, tenant: TENANT, roles: [role] }),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return token;
}

async function get(url: string, token: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const body: unknown = await response.json();
  // Every answer of ours is an object.
  return response.ok ? (body as Readonly<Record<string, unknown>>) : {};
}
