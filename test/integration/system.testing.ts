// The four services as processes on a stack of their own, with what a spec needs to feed them and to ask them.
//
// Boundary: starts and stops; sends raw bytes to any partition; asks over HTTP with tokens of the development issuer.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planSystem, startProcesses, startTestStack } from '@recourse/dev-stack';
import type { DevStack, Processes, SystemOptions, SystemPlan } from '@recourse/dev-stack';
import { createKafka, createSchemaRegistry, partitionForKey } from '@recourse/kafka';
import { sha256Hex } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs, ToolExecuted } from '@recourse/messages';
import { createProducer, executedBody } from '@recourse/sdk';
import type { Action, ActionOutcome, Producer } from '@recourse/sdk';
import { ToldAnswers } from '@recourse/testing';
import { importJWK, SignJWT } from 'jose';
import type { JWK } from 'jose';

export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly tenant?: string;
}
export type Side = 'registry' | 'ledger' | 'orchestrator' | 'budget' | 'notifier';
const SERVICES = [
  ['registry', 'contract-registry'],
  ['ledger', 'mutation-ledger'],
  ['orchestrator', 'recovery-orchestrator'],
  ['budget', 'budget-accountant'],
  ['notifier', 'notifier'],
] as const satisfies readonly (readonly [Side, string])[];
export type Facts = Readonly<Record<string, unknown>>;
export interface Reply {
  readonly status: number;
  readonly body: Facts;
}

export const TENANT = 'acme';
export const EXECUTIONS = 'recourse.tool-executions';
export const ASSUMPTIONS = 'recourse.assumption-events';
export const PARTITIONS = 2;
export const EDITOR: Person = { subject: 'ravi', roles: ['contract_editor'] };
export const OPERATOR: Person = { subject: 'mira', roles: ['approver', 'operator', 'payload_reader'] };
export const INITIATOR: Person = { subject: 'asha', roles: ['approver'] };
export const ADMINISTRATOR: Person = { subject: 'root', roles: ['administrator'], tenant: '*' };
/** What is erased is forgotten soon: nobody here waits a minute. */
const KEY_BELIEVED_MS = '5000';
const POLL_MS = 150;
const PATIENCE_MS = 30_000;
const REQUEST_TIMEOUT_MS = 20_000;

/** Everything of one test run. */
export interface System {
  readonly stack: DevStack;
  readonly plan: SystemPlan;
  readonly processes: Processes;
  readonly codecs: Codecs;
  readonly producer: Producer;
  readonly get: (side: Side, path: string, person?: Person) => Promise<Reply>;
  readonly post: (
    side: Side,
    path: string,
    body: object,
    more: { readonly person?: Person; readonly token?: string; readonly key?: string },
  ) => Promise<Reply>;
  readonly token: (person: Person) => Promise<string>;
  /** A token under the issuer's own key, of whatever audience. */
  readonly forgeToken: (person: Person, audience: string) => Promise<string>;
  /** Sends bytes as they are; without a partition to the one their key belongs to. */
  readonly send: (topic: string, key: string, value: Buffer, partition?: number) => Promise<void>;
  /** What the documents say of the answers of each side: whatever `get` and `post` are answered is held against it. */
  readonly told: ReadonlyMap<Side, ToldAnswers>;
  readonly stop: () => Promise<void>;
}

export interface SystemNeeds extends Pick<SystemOptions, 'adapters' | 'envOf'> {
  /** On a stack that asks everybody who they are, with strict wires. */
  readonly secure?: boolean;
  /** Starts an auditor and its witness beside the services. */
  readonly withAuditor?: boolean;
  /** Starts the notifier too, with these endpoints. */
  readonly notifier?: { readonly webhooksFile: string; readonly env?: Readonly<Record<string, string>> };
}

/** Starts stack and services, with request topics for more adapters than `payments` and with more settings. Errors: the first part that does not become ready, with its log. */
export async function startSystem({
  adapters = [],
  envOf = {},
  secure = false,
  withAuditor = false,
  notifier,
}: SystemNeeds = {}): Promise<System> {
  const stack = await startTestStack({ secure, withSchemas: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'recourse-system-'));
  try {
    const told =
      notifier === undefined
        ? {}
        : { withNotifier: true, webhooksFile: notifier.webhooksFile, notifierEnv: notifier.env ?? {} };
    const plan = await planSystem(stack, {
      dataDir,
      partitions: PARTITIONS,
      withExample: false,
      withAuditor,
      adapters,
      envOf,
      serviceEnv: { RECOURSE_PATIENCE_MS: '8000', RECOURSE_KEY_BELIEVED_MS: KEY_BELIEVED_MS },
      ...told,
    });
    const processes = await startProcesses(plan.processes, { logDir: stack.logDir, book: stack.book });
    return await reach(stack, plan, processes, dataDir);
  } catch (cause) {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
    throw cause;
  }
}

async function reach(stack: DevStack, plan: SystemPlan, processes: Processes, dataDir: string): Promise<System> {
  const kafka = createKafka({ brokers: [...stack.kafka.brokers], clientId: 'spec', ...ownerAccess(stack) });
  const codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl }));
  const producer = await createProducer({ kafka, codecs, source: 'spec' });
  const token = tokensOf(plan.urls.issuer);
  return {
    stack,
    plan,
    processes,
    codecs,
    producer,
    token,
    ...askers(plan, token),
    forgeToken: (person, audience) => forged(join(dataDir, 'issuer', 'issuer-key.json'), person, audience),
    send: async (topic, key, value, partition = partitionForKey(Buffer.from(key), PARTITIONS)) => {
      const raw = await kafka.logProducer();
      const sent = await raw.send(topic, partition, [{ key: Buffer.from(key), value }]);
      await raw.close();
      if (sent.kind !== 'landed') throw new Error('the broker did not acknowledge', { cause: sent.cause });
    },
    stop: async () => {
      await producer.close();
      await processes.stop();
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whatever is answered with 2xx is as the document of its service says, or asking fails. */
function askers({ urls }: SystemPlan, token: System['token']): Pick<System, 'told' | 'get' | 'post'> {
  const told: System['told'] = new Map(SERVICES.map(([side, service]) => [side, new ToldAnswers(service)] as const));
  const asked = async (side: Side, path: string, init: RequestInit): Promise<Reply> => {
    const reply = await ask(`${urls[side]}${path}`, init);
    // What machines are told, as health, stands in no document.
    const document = path.startsWith('/v1/') ? told.get(side) : undefined;
    const problems = document?.problemsOf({ method: init.method ?? 'GET', path, ...reply }) ?? [];
    if (problems.length === 0) return reply;
    const words = `${side} answers what its document does not tell of:\n${problems.join('\n')}`;
    throw new Error(`${words}\n${JSON.stringify(reply.body)}`);
  };
  const post: System['post'] = async (side, path, body, { person, token: given, key }) =>
    asked(side, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${given ?? (await token(person ?? OPERATOR))}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
    });
  const get: System['get'] = async (side, path, person = OPERATOR) =>
    asked(side, path, { headers: { authorization: `Bearer ${await token(person)}` } });
  return { told, get, post };
}

interface OwnerSasl {
  readonly mechanism: 'plain';
  readonly username: string;
  readonly password: string;
}

/** Above the rules of a secure stack; nothing where nobody is asked. */
export function ownerAccess({ owner }: Pick<DevStack, 'owner'>): { readonly sasl?: OwnerSasl } {
  if (owner === null) return {};
  const password = readFileSync(owner.passwordFile, 'utf8').trim();
  return { sasl: { mechanism: 'plain', username: owner.name, password } };
}

async function ask(url: string, init: RequestInit): Promise<Reply> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const text = await answer.text();
  // Every answer of ours is a JSON object.
  return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Facts) };
}

/** Tokens by person; they live longer than any run. */
function tokensOf(issuer: string): (person: Person) => Promise<string> {
  const held = new Map<string, Promise<string>>();
  return (person) => {
    const id = JSON.stringify(person);
    const token =
      held.get(id) ??
      ask(`${issuer}/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ tenant: TENANT, ...person }),
      }).then(({ body }) => String(body['access_token']));
    held.set(id, token);
    return token;
  };
}

async function forged(keyFile: string, { subject, roles, tenant = TENANT }: Person, audience: string): Promise<string> {
  // Written by the development issuer.
  const secret = JSON.parse(readFileSync(keyFile, 'utf8')) as JWK;
  return new SignJWT({ tenant, roles: [...roles] })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer('https://issuer.recourse.test')
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importJWK(secret, 'EdDSA'));
}

/** Asks until an answer has what is looked for. Errors: when it did not come in time, with what was seen last. */
export async function until<T>(what: string, look: () => Promise<T | null>, withinMs = PATIENCE_MS): Promise<T> {
  const deadline = Date.now() + withinMs;
  let last: unknown = null;
  while (Date.now() < deadline) {
    try {
      const found = await look();
      if (found !== null) return found;
    } catch (cause) {
      last = cause;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
  throw new Error(`${what} did not come within ${String(withinMs)} ms`, { cause: last });
}

/** Rows of a list answer. */
export function itemsOf({ status, body }: Reply): readonly Facts[] {
  if (status !== 200) throw new Error(`the list was answered ${String(status)} ${String(body['code'])}`);
  // A list answer is {items, next_cursor}.
  return body['items'] as readonly Facts[];
}

let made = 0;
/** A run id nobody used, whose key belongs on a partition. */
export function runOn(partition: number, word = 'run'): string {
  for (;;) {
    made += 1;
    const id = `${word}-${String(process.pid)}-${String(made)}`;
    if (partitionForKey(Buffer.from(id), PARTITIONS) === partition) return id;
  }
}

const ACTION = {
  tenant: TENANT,
  agentId: 'refund-agent',
  initiator: INITIATOR.subject,
  objective: 'give the money back',
  stepId: 'refund',
  callId: 'call-1',
  capability: 'payments.issue_refund',
  contractDigest: null,
  subjectRef: null,
  args: { order: '4711', amount_minor: 1_000, currency: 'INR' },
  assumptionRefs: [],
} as const;

/** An execution as any producer could tell it. */
export function executed(
  runId: string,
  action: Partial<Action> = {},
  outcome: Partial<ActionOutcome> = {},
): ToolExecuted {
  const effectKey = `eff_${sha256Hex(runId)}`;
  return executedBody(
    'spec',
    { ...ACTION, runId, effectKey, idempotencyKey: `key-${effectKey}`, ...action },
    {
      outcome: 'succeeded',
      result: { refund_id: `re-${runId}`, status: 'settled' },
      priorValue: null,
      externalTransactionRef: `re-${runId}`,
      errorKind: null,
      committedAt: Date.now(),
      ...outcome,
    },
  );
}
