// The real edges of all services, in process: their controllers, guards and checks, over ports in memory.
import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadConfig } from '@recourse/config';
import { mapPayloads, MemoryDatabase, withCommonKinds } from '@recourse/event-log';
import type { Doc } from '@recourse/event-log';
import {
  accessOf,
  Limits,
  createAuthenticate,
  createEdge,
  directoryIn,
  keysOfFile,
  ServiceModule,
} from '@recourse/service';
import type { LimitRates, PageQuery, PlacedRow, ServiceContext, ServiceSpec, Submission } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';
import { serviceSpec as accountant } from '../../apps/budget-accountant/src/app.module.js';
import { CONFIG as ACCOUNTANT } from '../../apps/budget-accountant/src/config.js';
import { serviceSpec as registry } from '../../apps/contract-registry/src/app.module.js';
import { serviceSpec as ledger } from '../../apps/mutation-ledger/src/app.module.js';
import { CONFIG as LEDGER } from '../../apps/mutation-ledger/src/config.js';
import { DeliveriesController } from '../../apps/notifier/src/http/deliveries.controller.js';
import { ItemsController } from '../../apps/notifier/src/http/items.controller.js';
import { ANSWERS as NOTIFIER_ANSWERS } from '../../apps/notifier/src/generated/answers.js';
import { NOTIFIER_CONTEXT } from '../../apps/notifier/src/http/notifier-context.js';
import type { NotifierContext } from '../../apps/notifier/src/http/notifier-context.js';
import { MemoryNotifierStore } from '../../apps/notifier/src/store/notifier-store.memory.js';
import { serviceSpec as orchestrator } from '../../apps/recovery-orchestrator/src/app.module.js';
import { CONFIG as ORCHESTRATOR } from '../../apps/recovery-orchestrator/src/config.js';

const ISSUER = { issuer: 'urn:recourse:spec', audience: 'recourse' };
const HEALTH = { live: true, ready: true, started: true, detail: {} };
const BODY_BYTES_MAX = 200_000;

/** What is other than in a development stack. */
export interface EdgesOptions {
  readonly rates?: LimitRates;
  /** The OpenAPI pages want a token. */
  readonly isDocsKept?: boolean;
  readonly arriveWithinMs?: number;
}

interface Surroundings extends EdgesOptions {
  readonly folder: string;
}

/** A route as the OpenAPI document of its service has it, e.g. `POST /v1/steps/:id/approve`. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly row: string;
  /** Members of its query. */
  readonly query: readonly string[];
  /** What a body of it is, as a JSON schema. */
  readonly body: BodySchema | undefined;
}

/** What is looked at of a JSON schema. */
export interface BodySchema {
  readonly type?: string;
  readonly maxItems?: number;
  readonly items?: BodySchema;
  readonly properties?: Readonly<Record<string, BodySchema>>;
}

/** An operation of an OpenAPI document. */
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> };
}

/** One service's edge. */
export interface Edge {
  readonly name: ServiceSpec['name'];
  readonly app: NestFastifyApplication;
  readonly routes: readonly Route[];
  /** Commands that went through, in order. */
  readonly submitted: Submission[];
}

/** Every edge, and who asks at them. */
export class Edges {
  private constructor(
    private readonly folder: string,
    private readonly key: CryptoKey,
    readonly all: readonly Edge[],
  ) {}

  static async open(options: EdgesOptions = {}): Promise<Edges> {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-edges-'));
    const { privateKey, publicKey } = await generateKeyPair('EdDSA');
    writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys: [await exportJWK(publicKey)] }));
    writeFileSync(join(folder, 'key'), 'k'.repeat(64), { mode: 0o600 });
    const specs = [
      registry(),
      ledger(loadConfig(LEDGER, environment(folder))),
      orchestratorIn(folder),
      accountantIn(folder),
    ];
    const around = { ...options, folder };
    const services = await Promise.all(specs.map((spec) => serviceEdge(spec, around)));
    return new Edges(folder, privateKey, [...services, await notifierEdge(around)]);
  }

  async token(tenant: string, roles: readonly string[], subject = 'dana'): Promise<string> {
    const signed = new SignJWT({ tenant, roles: [...roles] }).setProtectedHeader({ alg: 'EdDSA' }).setSubject(subject);
    const { issuer, audience } = ISSUER;
    return signed.setIssuer(issuer).setAudience(audience).setIssuedAt().setExpirationTime('1h').sign(this.key);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(({ app }) => app.close()));
    rmSync(this.folder, { recursive: true });
  }
}

/** Nothing listens at the database: reads of SQL fail at once, and only after they were let through. */
function environment(folder: string): Record<string, string> {
  return {
    RECOURSE_KAFKA_BROKERS: '127.0.0.1:1',
    RECOURSE_REGISTRY_URL: 'http://127.0.0.1:1',
    RECOURSE_LOG_ID: 'spec',
    RECOURSE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    RECOURSE_KEY_STORE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    RECOURSE_HTTP_PORT: '0',
    RECOURSE_JWKS_FILE: join(folder, 'jwks.json'),
    RECOURSE_JWT_ISSUER: ISSUER.issuer,
    RECOURSE_JWT_AUDIENCE: ISSUER.audience,
    RECOURSE_EDGE_KEY_FILE: join(folder, 'key'),
    RECOURSE_LEASE_KEY_FILE: join(folder, 'key'),
  };
}

function orchestratorIn(folder: string): ServiceSpec {
  return orchestrator(loadConfig(ORCHESTRATOR, environment(folder)));
}

function accountantIn(folder: string): ServiceSpec {
  const { RECOURSE_LEASE_KEY_FILE: _noLeases, ...variables } = environment(folder);
  return accountant(loadConfig(ACCOUNTANT, variables));
}

const authenticateIn = (folder: string): ServiceContext['authenticate'] =>
  createAuthenticate({ ...ISSUER, keys: keysOfFile(join(folder, 'jwks.json')), directory: directoryIn(undefined) });

/** A thing of whatever kind, which belongs to globex. */
const THEIRS: PlacedRow = {
  partition: 0,
  kind: 'thing',
  group: 'g',
  key: 'k',
  dueAt: null,
  doc: {
    tenant: 'globex',
    run_id: 'run-1',
    recovery_id: 'r',
    step_id: 's',
    mutation_id: 'm',
    args: {
      content_type: 'text/plain',
      encoding: 'sealed',
      key_id: 'k',
      body: Buffer.alloc(40, 7),
      sha256: Buffer.alloc(32),
    },
  },
};
/** What its payload holds. */
export const OPENED = 'what the payload holds';

/** Rows as far as tenants go: what is asked for beyond globex's is not there. */
function page({ where }: PageQuery): Promise<{ rows: readonly PlacedRow[]; next: null }> {
  const named = where['tenant'];
  const isAsked = named === undefined || named === 'globex' || (Array.isArray(named) && named.includes('globex'));
  return Promise.resolve({ rows: isAsked ? [THEIRS] : [], next: null });
}

async function serviceEdge(spec: ServiceSpec, around: Surroundings): Promise<Edge> {
  const submitted: Submission[] = [];
  const context: ServiceContext = {
    definition: spec,
    limits: new Limits(around.rates),
    access: accessOf(spec.name),
    host: {
      health: () => HEALTH,
      page,
      commandRow: () => Promise.resolve(null),
      partition: (log, partition) =>
        new MemoryDatabase({ kinds: withCommonKinds([]), now: () => 1 }).partition(log, partition),
    },
    projection: { isReached: () => Promise.resolve(true) },
    edge: {
      submit: (submission) => {
        submitted.push(submission);
        return Promise.resolve({ httpStatus: submission.type.endsWith('RecordReading') ? 201 : 200, body: '{}' });
      },
      lookUp: () => Promise.resolve(null),
    },
    authenticate: authenticateIn(around.folder),
    keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
    shown: (docs) =>
      Promise.resolve(
        docs.map((doc) => mapPayloads(doc, (payload) => ({ ...payload, content: Buffer.from(OPENED) })) as Doc), // a doc stays one
      ),
    metrics: new Metrics(),
    partitionCount: () => Promise.resolve(6),
    onError: () => undefined,
  };
  const module = ServiceModule.forService(context, spec.controllers, spec.providers);
  return opened({
    name: spec.name,
    submitted,
    app: await createEdge(spec.name, module, { ...edgeOptions(around), answers: spec.answers }),
  });
}

async function notifierEdge(around: Surroundings): Promise<Edge> {
  const notifier: NotifierContext = {
    headsSignedAt: () => Promise.resolve(null),
    health: () => HEALTH,
    endpoints: [],
    followed: () => [],
    store: new MemoryNotifierStore(),
    now: () => 1,
    nonce: () => 'nonce',
  };
  const context = {
    definition: { name: 'notifier' },
    limits: new Limits(around.rates),
    access: accessOf('notifier'),
    host: { health: () => HEALTH },
    authenticate: authenticateIn(around.folder),
    metrics: new Metrics(),
    onError: () => undefined,
  };
  const providers = [{ provide: NOTIFIER_CONTEXT, useValue: notifier }];
  const module = ServiceModule.forEdge(context, [DeliveriesController, ItemsController], providers);
  return opened({
    name: 'notifier',
    submitted: [],
    app: await createEdge('notifier', module, { ...edgeOptions(around), answers: NOTIFIER_ANSWERS }),
  });
}

function edgeOptions({ isDocsKept = false, arriveWithinMs }: Surroundings): Parameters<typeof createEdge>[2] {
  return {
    bodyBytesMax: BODY_BYTES_MAX,
    docs: isDocsKept ? 'token' : 'public',
    ...(arriveWithinMs === undefined ? {} : { arriveWithinMs }),
  };
}

async function opened(edge: Omit<Edge, 'routes'>): Promise<Edge> {
  await edge.app.init();
  await edge.app.getHttpAdapter().getInstance().ready();
  const { paths = {} } = (await edge.app.inject({ method: 'GET', url: '/openapi.json' })).json<{
    paths?: Record<string, Record<string, Operation>>;
  }>();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      body: requestBody?.content['application/json']?.schema,
      query: parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])),
      method: method.toUpperCase(),
      path,
      row: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    })),
  );
  return { ...edge, routes };
}
