// The whole system with its console, on the stack of the suite, and the cases that people decide about.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { planSystem, startProcesses, startTestStack } from '@recourse/dev-stack';
import type { Processes, SystemOptions, SystemPlan } from '@recourse/dev-stack';
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { sha256Hex } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { createProducer, createSignals } from '@recourse/sdk';
import type { Action, Producer, Signals } from '@recourse/sdk';
import { root } from '../../scripts/lib/paths.mjs';

export type Facts = Readonly<Record<string, unknown>>;
export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly tenant?: string;
}
export type Side = 'registry' | 'ledger' | 'orchestrator' | 'budget' | 'notifier' | 'provider';

export const TENANT = 'demo';
export const MIRA: Person = { subject: 'mira', roles: ['approver', 'operator'] };
export const RAVI: Person = { subject: 'ravi', roles: ['contract_editor'] };
export const LEELA: Person = { subject: 'leela', roles: ['budget_owner'] };
/** Says that something went wrong, and gains nothing by it. */
const REPORTER: Person = { subject: 'rosa', roles: ['reporter'] };

const PATIENCE_MS = 60_000;
const POLL_MS = 100;

const AMOUNT = { amount_minor: 120_000, currency: 'INR' } as const;

const ACTION = {
  tenant: TENANT,
  agentId: 'refund-agent',
  stepId: 'refund',
  capability: 'payments.issue_refund',
  assumptionRefs: [],
} as const;

/** What tells one refund from another. */
function namesOf(
  order: string,
  runId: string,
): Pick<Action, 'callId' | 'subjectRef' | 'args' | 'effectKey' | 'idempotencyKey'> {
  const effectKey = `eff_${sha256Hex(`${runId} ${order}`)}`;
  return {
    callId: `call-${order}`,
    subjectRef: order,
    args: { order, ...AMOUNT },
    effectKey,
    idempotencyKey: `key-${effectKey}`,
  };
}

export interface Case {
  readonly runId: string;
  readonly mutationId: string;
  readonly stepId: string;
}

export class System {
  #made = 0;

  private constructor(
    readonly plan: SystemPlan,
    readonly processes: Processes,
    readonly said: { readonly producer: Producer; readonly signals: Signals },
    private readonly close: () => Promise<void>,
  ) {}

  static async start(more: Pick<SystemOptions, 'envOf'> = {}): Promise<System> {
    const stack = await startTestStack({ withSchemas: true });
    const dataDir = mkdtempSync(join(tmpdir(), 'recourse-console-'));
    const plan = await planSystem(stack, {
      dataDir,
      withNotifier: true,
      withConsole: true,
      subscribedAs: 'loyalty',
      ...more,
    });
    const processes = await startProcesses(plan.processes, { logDir: dataDir });
    const kafka = createKafka({ brokers: [...stack.kafka.brokers], clientId: 'console-spec' });
    const codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl }));
    const producer = await createProducer({ kafka, codecs, source: 'spec' });
    const signals = await createSignals({ kafka, codecs, source: 'critic' });
    return new System(plan, processes, { producer, signals }, async () => {
      await producer.close();
      await signals.close();
      await processes.stop();
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  stop(): Promise<void> {
    return this.close();
  }

  get console(): string {
    return this.plan.urls.console;
  }

  async get(side: Side, path: string, person: Person = MIRA): Promise<Facts> {
    const answer = await fetch(`${this.plan.urls[side]}${path}`, { headers: await this.headers(person) });
    return (await answer.json()) as Facts; // every answer of ours is an object
  }

  async post(side: Side, path: string, body: object, person: Person = MIRA): Promise<Facts> {
    const answer = await fetch(`${this.plan.urls[side]}${path}`, {
      method: 'POST',
      headers: { ...(await this.headers(person)), 'content-type': 'application/json', 'idempotency-key': this.word() },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${String(answer.status)} ${await answer.text()}`);
    return (await answer.json()) as Facts;
  }

  /** What the story registers, for cases before it. */
  async registerContracts(): Promise<void> {
    await this.post('registry', '/v1/entries/policy_bundle', REFUND_POLICY, RAVI);
    for (const contract of CONTRACTS) await this.post('registry', '/v1/contracts', contract, RAVI);
  }

  /** A refund that the provider made, as its agent reports it. `initiator` null: nobody answers for it, so two have to agree. */
  async refund(
    more: {
      readonly initiator?: string | null;
      readonly objective?: string;
      readonly capability?: string;
      readonly order?: string;
      /** Called after its order unless told. */
      readonly run?: string;
      /** What it relies on. */
      readonly relies?: readonly string[];
    } = {},
  ): Promise<Omit<Case, 'stepId'>> {
    const { order = `console-${this.word()}`, run: runId = `run-${order}` } = more;
    const refund = await this.post('provider', '/refunds', { order, ...AMOUNT });
    const { initiator = 'asha', objective = 'give the money back', capability = ACTION.capability, relies = [] } = more;
    const found = await until('the contract', async () => {
      const { digest } = await this.get('registry', `/v1/contracts/${capability}`);
      return typeof digest === 'string' ? digest : null;
    });
    const refundId = String(refund['refund_id']);
    await this.said.producer.toolExecuted(
      {
        ...ACTION,
        ...{ runId, initiator, objective, capability, assumptionRefs: relies },
        contractDigest: Buffer.from(found, 'hex'),
        ...namesOf(order, runId),
      },
      {
        outcome: 'succeeded',
        result: { refund_id: refundId, order, ...AMOUNT, status: 'settled' },
        priorValue: null,
        externalTransactionRef: refundId,
        errorKind: null,
        committedAt: Date.now(),
      },
    );
    const mutation = await until('the mutation', async () => {
      const [row] = itemsOf(await this.get('ledger', `/v1/mutations?run_id=${encodeURIComponent(runId)}`));
      return row?.['recoverability'] === 'reversal_available' ? row : null;
    });
    return { runId, mutationId: String(mutation['mutation_id']) };
  }

  /** A refund that somebody says should not stand: it waits for people. */
  async waiting(more: Parameters<System['refund']>[0] = {}): Promise<Case> {
    const refund = await this.refund(more);
    await this.post(
      'ledger',
      '/v1/triggers',
      { run_id: refund.runId, mutation_id: refund.mutationId, reason: 'the goods were sent after all' },
      REPORTER,
    );
    const step = await until('the review', async () => {
      const [row] = itemsOf(await this.get('orchestrator', `/v1/reviews?run_id=${refund.runId}`));
      return row?.['phase'] === 'awaiting_approval' ? row : null;
    });
    return { ...refund, stepId: String(step['step_id']) };
  }

  /** What somebody outside says of an assumption: it is false. */
  async says(ref: string): Promise<void> {
    await this.said.producer.assumptionInvalidated({
      tenant: TENANT,
      ref,
      sourceKind: 'observation',
      statement: { status: 'shipped' },
      statedAt: Date.now(),
    });
  }

  /** Drills the worker of the example as an operator does, at the command line. */
  async drill(): Promise<void> {
    const cli = join(root, 'apps/cli/bin/recourse.mjs');
    const module = join(root, 'examples/drifted-refund/dist/drill.js');
    const { authorization = '' } = await this.headers(MIRA);
    const { urls, processes } = this.plan;
    const out = processes.find(({ name }) => name === 'console')?.env?.['RECOURSE_CONSOLE_DRILLS_FILE'] ?? '';
    const args = [
      '--contracts-url',
      urls.registry,
      '--token',
      authorization.slice('Bearer '.length),
      'drill',
      'payments',
    ];
    await promisify(execFile)(process.execPath, [cli, ...args, '--module', module, '--out', out], {
      env: { PATH: process.env['PATH'], PROVIDER_URL: urls.provider },
    });
  }

  word(): string {
    this.#made += 1;
    return `${String(process.pid)}-${String(this.#made)}`;
  }

  private async headers({ subject, roles, tenant = TENANT }: Person): Promise<Readonly<Record<string, string>>> {
    const answer = await fetch(`${this.plan.urls.issuer}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ subject, tenant, roles }),
    });
    const { access_token: token } = (await answer.json()) as { readonly access_token: string };
    return { authorization: `Bearer ${token}` };
  }
}

export function itemsOf(body: Facts): readonly Facts[] {
  return (body['items'] ?? []) as readonly Facts[]; // a list answer is {items, next_cursor}
}

/** Errors: when it did not come in time. */
export async function until<T>(what: string, look: () => Promise<T | null>, withinMs = PATIENCE_MS): Promise<T> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline;) {
    const found = await look().catch(() => null);
    if (found !== null) return found;
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
  throw new Error(`${what} did not come within ${String(withinMs)} ms`);
}
