// The reads of the accountant over HTTP, on a real PostgreSQL that holds what a story of inputs left.
import 'reflect-metadata';
import type { Provider, Type } from '@nestjs/common';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import { accessOf, createEdge, Limits, PostgresDatabase, ServiceModule } from '@recourse/service';
import type { Principal, ServiceContext } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import type { CoreHarness } from '@recourse/testing';
import { BUDGETS_LOG, budgetsCore } from '../core.js';

const CORE = budgetsCore();
const LOGS = [{ log: BUDGETS_LOG, kinds: withCommonKinds(CORE.kinds) }];
const HEAD = {
  seq: 1,
  hash: Buffer.alloc(32, 1),
  offset: 1,
  decidedAt: 1,
  cursors: [],
  reactedSeq: 0,
  reactedOffset: 0,
};

/** What an answer is. */
export interface Answer {
  readonly status: number;
  readonly body: { readonly items: readonly Readonly<Record<string, unknown>>[] };
}

export interface Projected {
  /** A bearer token here is `tenant role`. */
  get(path: string, token?: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface ProjectedOptions {
  /** Of the database. */
  readonly name: string;
  readonly desk: CoreHarness;
  readonly controllers: readonly Type[];
  readonly providers: (url: string) => readonly Provider[];
  readonly view?: ServiceContext['view'];
}

/** Projects what the desk holds, and answers reads over it. */
export async function projected({ name, desk, controllers, providers, view }: ProjectedOptions): Promise<Projected> {
  const stack = await sharedTestStack();
  const address = await createDatabase(stack, name, name, 'secret');
  const database = await PostgresDatabase.open({ url: address.url }, LOGS);
  const changes = desk.rows().map((row) => ({ op: 'put', row }) as const);
  await database.stores.partition(BUDGETS_LOG, 0).project(null, HEAD, changes);
  const context = { ...contextOf(database), ...(view === undefined ? {} : { view }) };
  const app = await createEdge(
    'budget-accountant',
    ServiceModule.forService(context, controllers, providers(address.url)),
    { bodyBytesMax: 200_000, docs: 'token' },
  );
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return {
    get: async (path, token = 'acme viewer') => {
      const answer = await app.inject({ method: 'GET', url: path, headers: { authorization: `Bearer ${token}` } });
      return { status: answer.statusCode, body: answer.json() };
    },
    close: async () => {
      await app.close();
      await database.close();
      await dropDatabase(stack, name);
      await stack.stop();
    },
  };
}

function contextOf(database: PostgresDatabase): ServiceContext {
  return {
    definition: {
      name: 'budget-accountant',
      cores: [CORE],
      commandTopic: 'recourse.budget-commands',
      commandLog: BUDGETS_LOG,
    },
    host: {
      page: (query) => database.page(query),
      commandRow: () => Promise.resolve(null),
      partition: (log, partition) => database.partition(log, partition),
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
    },
    edge: { submit: () => Promise.reject(new Error('reads submit nothing')), lookUp: () => Promise.resolve(null) },
    projection: { isReached: () => Promise.resolve(true) },
    metrics: new Metrics(),
    partitionCount: () => Promise.resolve(1),
    onError: () => undefined,
    keys: { destroy: () => Promise.resolve(0), destroyUnits: () => Promise.resolve(0) },
    shown: (docs) => Promise.resolve(docs),
    limits: new Limits(),
    access: accessOf('budget-accountant'),
    authenticate: (authorization): Promise<Principal> => {
      const [tenant = '', role = ''] = (authorization ?? '').split(' ').slice(1);
      return Promise.resolve({ subject: 'dana', tenant, roles: [role] });
    },
  };
}
