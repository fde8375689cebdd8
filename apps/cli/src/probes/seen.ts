// What the probes look at: read once, over the public HTTP surface of the services, as whoever asks.
//
// Boundary: reads only. Two requests carry no token and a forged one: a guarded edge refuses both, and nothing is kept of them.
import type { Contract } from '@recourse/contract';
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc, EdgeClient } from '@recourse/sdk';
import { SERVICES } from '../config.js';
import type { Service } from '../config.js';
import { standingIn } from '../contracts/standing.js';
import { endpointsOf } from '../endpoints.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

/** Something that was read, or why it was not. */
export type Fact<T> =
  | { readonly ok: true; readonly value: T; /** There is more than was read. */ readonly isCut: boolean }
  | { readonly ok: false; readonly why: string };

/** A version of a contract that stands. */
export interface Standing {
  readonly name: string;
  readonly tenant: string;
  readonly version: number;
  /** Who registered it, and who confirmed it where it was weaker. */
  readonly by: string;
  readonly confirmed_by: string | null;
  readonly contract: Contract;
}

/** What each edge answers to a stranger: HTTP status and code. */
export type Refusals = Readonly<Record<string, string>>;

export interface Seen {
  readonly contracts: Fact<readonly Standing[]>;
  readonly charters: Fact<readonly Doc[]>;
  readonly sources: Fact<readonly Doc[]>;
  readonly bundles: Fact<readonly Doc[]>;
  readonly subscriptions: Fact<readonly Doc[]>;
  readonly effects: Fact<readonly Doc[]>;
  readonly assumptions: Fact<readonly Doc[]>;
  readonly triggerSources: Fact<readonly Doc[]>;
  readonly trends: Fact<readonly Doc[]>;
  readonly exposure: Fact<Doc>;
  readonly consumers: Fact<Doc>;
  readonly effectReasons: Fact<Doc>;
  readonly clock: Fact<number>;
  readonly steps: Fact<readonly Doc[]>;
  readonly tasks: Fact<readonly Doc[]>;
  readonly incidents: Fact<readonly Doc[]>;
  readonly recoveryReport: Fact<Doc>;
  readonly budgets: Fact<readonly Doc[]>;
  readonly reservations: Fact<readonly Doc[]>;
  readonly endpoints: Fact<readonly Doc[]>;
  readonly items: Fact<readonly Doc[]>;
  /** Services whose edge says that they are ready, and how their loops stand. */
  readonly ready: Fact<Readonly<Record<string, boolean>>>;
  readonly metrics: Fact<Readonly<Record<string, boolean>>>;
  readonly parked: Fact<readonly Doc[]>;
  readonly withoutToken: Fact<Refusals>;
  readonly withForgedToken: Fact<Refusals>;
  readonly withBadQuery: Fact<Refusals>;
}

/** Rows of one list at the most. */
const ROWS_MAX = 10_000;
/** No issuer of anybody's signs with nothing. */
const FORGED = `${[{ alg: 'none' }, { sub: 'nobody', roles: ['administrator'] }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')}.`;
const A_LIST: Readonly<Record<(typeof SERVICES)[number], string>> = {
  contracts: '/v1/contracts',
  ledger: '/v1/mutations',
  recoveries: '/v1/steps',
  budgets: '/v1/budgets',
};

/** Reads everything. Errors: none: what cannot be read is a fact, too. */
export async function look(session: Session): Promise<Seen> {
  const list = (service: Service, path: string, query: Doc = {}): Promise<Fact<readonly Doc[]>> =>
    fact(async () => {
      const { items, more } = await session
        .service(service)
        .list(path, { tenant: session.tenant, ...(query as Record<string, string>) }, ROWS_MAX);
      return { value: items, isCut: more };
    });
  const report = (service: Service, path: string): Promise<Fact<Doc>> =>
    fact(async () => ({ value: await session.service(service).get(path, { tenant: session.tenant }), isCut: false }));
  return {
    ...(await registrySeen(list)),
    ...(await ledgerSeen(list, report)),
    ...(await recoveriesSeen(list, report)),
    budgets: await list('budgets', '/v1/budgets'),
    reservations: await list('budgets', '/v1/reservations'),
    endpoints: await fact(async () => ({
      value: await endpointsOf(session),
      isCut: false,
    })),
    items: await list('notifier', '/v1/items'),
    ...(await edgesSeen(session)),
  };
}

type Lists = (service: Service, path: string, query?: Doc) => Promise<Fact<readonly Doc[]>>;
type Reports = (service: Service, path: string) => Promise<Fact<Doc>>;

async function registrySeen(
  list: Lists,
): Promise<Pick<Seen, 'contracts' | 'charters' | 'sources' | 'bundles' | 'subscriptions'>> {
  const entries = (kind: string): Promise<Fact<readonly Doc[]>> =>
    list('contracts', `/v1/entries/${kind}`, { retired: 'false' });
  // All versions: where the newest is retired, an older one that is not binds nobody.
  const contracts = await list('contracts', '/v1/contracts');
  return {
    contracts: contracts.ok ? { ...contracts, value: standingIn(contracts.value).map(standing) } : contracts,
    charters: await entries('agent_charter'),
    sources: await entries('context_source'),
    bundles: await entries('policy_bundle'),
    subscriptions: await entries('subscription'),
  };
}

function standing(row: Doc): Standing {
  return {
    name: String(row['name']),
    tenant: String(row['tenant']),
    version: Number(row['version']),
    by: String(row['registered_by']),
    confirmed_by: typeof row['confirmed_by'] === 'string' ? row['confirmed_by'] : null,
    contract: docOf(row['contract']) as Contract, // the registry keeps nothing else under that name
  };
}

async function ledgerSeen(
  list: Lists,
  report: Reports,
): Promise<
  Pick<
    Seen,
    'effects' | 'assumptions' | 'triggerSources' | 'trends' | 'exposure' | 'consumers' | 'effectReasons' | 'clock'
  >
> {
  const horizon = await report('ledger', '/v1/horizon');
  const sources = await report('ledger', '/v1/sources');
  return {
    effects: await list('ledger', '/v1/mutations'),
    assumptions: await list('ledger', '/v1/assumptions'),
    triggerSources: rowsOf(sources, 'sources'),
    trends: await list('ledger', '/v1/trends'),
    exposure: await report('ledger', '/v1/reports/exposure'),
    consumers: await report('ledger', '/v1/reports/consumers'),
    effectReasons: await report('ledger', '/v1/reports/manual-reasons'),
    clock: horizon.ok ? { ...horizon, value: Number(horizon.value['as_of']) } : horizon,
  };
}

/** Rows that an answer has under a name, or as its items. */
function rowsOf(answer: Fact<Doc>, name: string): Fact<readonly Doc[]> {
  if (!answer.ok) return answer;
  const rows = answer.value[name] ?? answer.value['items'];
  return Array.isArray(rows)
    ? { ok: true, value: rows.map(docOf), isCut: answer.value['more'] === true }
    : { ok: false, why: `the answer has no ${name}` };
}

async function recoveriesSeen(
  list: Lists,
  report: Reports,
): Promise<Pick<Seen, 'steps' | 'tasks' | 'incidents' | 'recoveryReport'>> {
  return {
    steps: await list('recoveries', '/v1/steps'),
    tasks: await list('recoveries', '/v1/tasks'),
    incidents: await list('recoveries', '/v1/incidents'),
    recoveryReport: await report('recoveries', '/v1/reports/recoveries'),
  };
}

async function edgesSeen(
  session: Session,
): Promise<Pick<Seen, 'ready' | 'metrics' | 'parked' | 'withoutToken' | 'withForgedToken' | 'withBadQuery'>> {
  const each = <T>(
    ask: (service: (typeof SERVICES)[number]) => Promise<T>,
  ): Promise<Fact<Readonly<Record<string, T>>>> =>
    fact(async () => ({
      value: Object.fromEntries(await Promise.all(SERVICES.map(async (name) => [name, await ask(name)] as const))),
      isCut: false,
    }));
  const refusal = (client: (name: Service) => EdgeClient, more = ''): Promise<Fact<Refusals>> =>
    each(async (name) => {
      const { status, body } = await client(name).ask({ method: 'GET', path: `${A_LIST[name]}${more}` });
      return `${String(status)} ${typeof body['code'] === 'string' ? body['code'] : ''}`.trim();
    });
  return {
    ready: await each(
      async (name) => (await session.service(name).ask({ method: 'GET', path: '/health/ready' })).status === 200,
    ),
    metrics: await each(async (name) => {
      const { status, body } = await session.service(name).ask({ method: 'GET', path: '/metrics' });
      return status === 200 && String(body['detail']).startsWith('# ');
    }),
    parked: await fact(async () => {
      const lists = await Promise.all(SERVICES.map((name) => session.service(name).list('/v1/parked', {}, ROWS_MAX)));
      return { value: lists.flatMap(({ items }) => items), isCut: lists.some(({ more }) => more) };
    }),
    withoutToken: await refusal((name) => session.stranger(name, null)),
    withForgedToken: await refusal((name) => session.stranger(name, FORGED)),
    withBadQuery: await refusal((name) => session.service(name), '?limit=none&no_such_member=1'),
  };
}

/** What was read, or the code of what stood against it. */
async function fact<T>(read: () => Promise<{ readonly value: T; readonly isCut: boolean }>): Promise<Fact<T>> {
  try {
    return { ok: true, ...(await read()) };
  } catch (cause) {
    if (cause instanceof EdgeProblem || cause instanceof CliProblem) return { ok: false, why: cause.code };
    throw cause;
  }
}
