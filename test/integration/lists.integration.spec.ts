// Every filter of every list, on a real PostgreSQL: whatever a person asks for, few more rows are looked at than are answered. What
// reads whole tables keeps the connections of lists from everybody else.
import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import type { DatabaseAddress, TestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import type { ColumnSpec, ColumnValue, KindSpec } from '@recourse/event-log';
import { pageStatement, PostgresDatabase, shapeOf, tableOf } from '@recourse/service';
import type { ListSpec, Query } from '@recourse/service';
import { Client } from 'pg';
import { budgetsCore } from '../../apps/budget-accountant/src/core.js';
import { AutonomyListsController } from '../../apps/budget-accountant/src/http/autonomy.controller.js';
import { BudgetListsController } from '../../apps/budget-accountant/src/http/budgets.controller.js';
import { assumptionsCore } from '../../apps/mutation-ledger/src/assumptions.core.js';
import { mutationsCore } from '../../apps/mutation-ledger/src/core.js';
import { RollbackListsController } from '../../apps/mutation-ledger/src/http/admission.controller.js';
import {
  AssumptionListsController,
  MutationListsController,
} from '../../apps/mutation-ledger/src/http/mutations.controller.js';
import { ReconciliationListsController } from '../../apps/mutation-ledger/src/http/reconciliations.controller.js';
import { ReevaluationsController } from '../../apps/mutation-ledger/src/http/reevaluations.controller.js';
import { effectsQuery, pageQuery } from '../../apps/mutation-ledger/src/reads/mutation-statements.js';
import type { Filter } from '../../apps/mutation-ledger/src/reads/mutation-statements.js';
import { STANDINGS } from '../../apps/mutation-ledger/src/rows/commit.rows.js';
import { RECOVERIES_LOG } from '../../apps/recovery-orchestrator/src/core.js';
import { IncidentListsController } from '../../apps/recovery-orchestrator/src/http/incidents.controller.js';
import { RecoveryListsController } from '../../apps/recovery-orchestrator/src/http/recoveries.controller.js';
import { TaskListsController } from '../../apps/recovery-orchestrator/src/http/tasks.controller.js';
import { RECOVERY_KINDS } from '../../apps/recovery-orchestrator/src/rows/kinds.js';
import { timedQuery } from '../../apps/recovery-orchestrator/src/reads/recovery-statements.js';
import type { TimedPlace } from '../../apps/recovery-orchestrator/src/reads/recovery-statements.js';

const NAME = `lists_${String(process.pid)}`;
const LOGS = [mutationsCore(), assumptionsCore(), budgetsCore(), { log: RECOVERIES_LOG, kinds: RECOVERY_KINDS }].map(
  ({ log, kinds }) => ({ log, kinds: withCommonKinds(kinds) }),
);
const MUTATIONS = 'recourse.mutations';
const BUDGETS = 'recourse.budgets';
const LISTS = [
  MutationListsController,
  AssumptionListsController,
  RollbackListsController,
  ReconciliationListsController,
  ReevaluationsController,
  RecoveryListsController,
  IncidentListsController,
  TaskListsController,
  BudgetListsController,
  AutonomyListsController,
];
/** Rows of each table, all of one tenant. */
const ROWS = 20_000;
/** Rows that a page may look at which it does not answer. */
const LOOKED_AT_MAX = 50;
/** What columns hold whose values are few; every other one holds a value of its own in each row. */
const FEW: Readonly<Record<string, string>> = {
  tenant: 'bulk',
  execution_state: 'succeeded',
  standing: 'stands',
  status: 'succeeded',
};
/** Filters that are served by the tenant alone, since a tenant has few such rows: one a kind of task of an agent, one a version of a policy. */
const FEW_OF_A_TENANT = new Set(['autonomy task_kind', 'autonomy rung', 'autonomy frozen_by', 'reevaluations bundle']);

type Where = Readonly<Record<string, ColumnValue | readonly string[]>>;
type Filtered = readonly [name: string, query: Query];

let stack: TestStack;
let address: DatabaseAddress;
let database: PostgresDatabase;
let client: Client;

beforeAll(async () => {
  stack = await sharedTestStack();
  address = await createDatabase(stack, NAME, NAME, 'secret');
  database = await PostgresDatabase.open({ url: address.url }, LOGS);
  client = new Client({ connectionString: address.url });
  await client.connect();
  await client.query('SET synchronous_commit = off; SET enable_seqscan = off; SET jit = off');
  for (const logged of LOGS) {
    const { log, kinds } = logged;
    await client.query(
      `INSERT INTO ${tableOf(log, 'heads')} SELECT p, 1, '', 1, 1, 0, 0, '', $1 FROM generate_series(0, 2) p`,
      [shapeOf(logged)],
    );
    for (const spec of kinds) await fill(log, spec);
  }
}, 400_000);

afterAll(async () => {
  await client.end();
  await database.close();
  await dropDatabase(stack, NAME);
  await stack.stop();
}, 60_000);

async function fill(log: string, { table, columns, lasting }: KindSpec): Promise<void> {
  const hasLasting = (then: readonly string[]): readonly string[] => (lasting === undefined ? [] : then);
  const names = [
    'log_partition',
    'group_key',
    'row_key',
    ...columns.map(({ name }) => name),
    'doc',
    ...hasLasting(['lasting']),
  ];
  const values = ['n % 3', `'group-' || n`, `'row-' || n`, ...columns.map(valueOf), `'{}'`, ...hasLasting([`'{}'`])];
  const into = names.map((name) => `"${name}"`).join(', ');
  const name = tableOf(log, table);
  await client.query(
    `INSERT INTO ${name} (${into}) SELECT ${values.join(', ')} FROM generate_series(1, ${String(ROWS)}) n`,
  );
  await client.query(`ANALYZE ${name}`);
}

function valueOf({ name, type }: ColumnSpec): string {
  if (type === 'text') return name in FEW ? `'${FEW[name] ?? ''}'` : `'${name}-' || n`;
  return type === 'bigint' ? 'n' : 'false';
}

function specOf(log: string, kind: string): KindSpec {
  const spec = LOGS.find((one) => one.log === log)?.kinds.find((one) => one.kind === kind);
  if (spec === undefined) throw new Error(`no kind ${kind} in ${log}`);
  return spec;
}

function page(log: string, kind: string, where: Where): Query {
  return pageStatement(specOf(log, kind), { log, where: { tenant: 'bulk', ...where }, limit: 100 });
}

/** What no row has, of a column. */
function none(spec: KindSpec, column: string): ColumnValue {
  const type = spec.columns.find(({ name }) => name === column)?.type;
  if (type === 'boolean') return true;
  return type === 'bigint' ? -1 : 'none';
}

/** Every query member of a list, with what the list narrows itself. */
function filtersOf(
  log: string,
  path: string,
  { kind, where = {}, columns = {}, always = {}, one }: ListSpec,
): readonly Filtered[] {
  const spec = specOf(log, kind);
  const members = Object.entries(where).map(
    ([name, shape]) => [name, columns[name] ?? name, shape.safeParse(undefined).data] as const,
  );
  const given = Object.fromEntries(
    members.flatMap(([, column, usual]) => (usual === undefined ? [] : [[column, usual] as const])),
  );
  const rows = members.map(
    ([name, column]) =>
      [`${path} ${name}`, page(log, kind, { ...always, ...given, [column]: none(spec, column) })] as const,
  );
  return one === undefined ? rows : [...rows, [`${path}/:id`, page(log, kind, { [one.column]: 'none' })]];
}

/** Rows that the statement looked at, and answered. */
async function lookedAt({ text, values }: Query): Promise<number> {
  const { rows } = await client.query<{ readonly 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`,
    [...values],
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return plan === undefined ? NaN : removedIn(plan);
}

interface Plan {
  readonly 'Actual Loops': number;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

function removedIn(plan: Plan): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0, Plans = [] } = plan;
  const own = Plans.length === 0 ? plan['Actual Rows'] : 0;
  return Plans.reduce((sum, one) => sum + removedIn(one), (own + filtered + rechecked) * plan['Actual Loops']);
}

const commits = (where: Where): Query => page(MUTATIONS, 'commit', { standing: STANDINGS, ...where });
const effects = (filter: Filter, order: 'place' | 'updated'): Query =>
  effectsQuery({ filter: { tenant: 'bulk', ...filter }, order, limit: 100 });
/** Lists that have no table of their own, and what verbs find by. */
const OTHERS: readonly Filtered[] = [
  ['commits run_id', commits({ group_key: 'none' })],
  ['commits agent_id', commits({ agent_id: 'none' })],
  ['commits standing', commits({ standing: 'none' })],
  ['commits subject', commits({ subject_ref: 'none' })],
  ['commits bundle', commits({ bundle: 'none' })],
  ['commits of nobody', commits({ tenant: 'none' })],
  ...['commit_id', 'group_key'].map((name) => [`a commit by ${name}`, commits({ [name]: 'none' })] as const),
  ['chunks of a commit', page(MUTATIONS, 'state_chunk', { commit_id: ['none', 'no other'] })],
  ['compensations of nobody', page(MUTATIONS, 'compensation', { tenant: 'none' })],
  ...['group_key', 'reverses_mutation_id', 'execution_state', 'capability', 'compensation_id'].map(
    (name) =>
      [
        `compensations by ${name}`,
        page(MUTATIONS, 'compensation', { execution_state: ['succeeded', 'failed'], [name]: 'none' }),
      ] as const,
  ),
  ...['group_key', 'mutation_id', 'consumer', 'phase'].map(
    (name) => [`deliveries by ${name}`, page(MUTATIONS, 'delivery', { [name]: 'none' })] as const,
  ),
  ...['group_key', 'phase', 'undo_id'].map(
    (name) => [`undos by ${name}`, page(MUTATIONS, 'undo', { [name]: 'none' })] as const,
  ),
  ...['mutation_id', 'group_key'].map(
    (name) => [`a mutation by ${name}`, page(MUTATIONS, 'mutation', { [name]: 'none' })] as const,
  ),
  ...['rollback_id', 'group_key'].map(
    (name) => [`a rollback by ${name}`, page(MUTATIONS, 'rollback', { [name]: 'none' })] as const,
  ),
  ...(['step', 'forward'] as const).flatMap((kind) =>
    ['group_key', 'phase'].map(
      (name) =>
        [
          `reviews of ${kind} by ${name}`,
          timedQuery({ kind, where: { tenant: 'bulk', [name]: 'none' }, limit: 100 }),
        ] as const,
    ),
  ),
  ...['step_id', 'group_key'].map(
    (name) => [`a step by ${name}`, page(RECOVERIES_LOG, 'step', { [name]: 'none' })] as const,
  ),
  ...['approval_id', 'mutation_id'].map(
    (name) => [`a question by ${name}`, page(RECOVERIES_LOG, 'forward', { [name]: 'none' })] as const,
  ),
  ['an incident', page(RECOVERIES_LOG, 'incident', { incident_id: 'none' })],
  ...['reservation', 'autonomy', 'escalation'].map(
    (kind) => [`${kind} by its id`, page(BUDGETS, kind, { group_key: 'none' })] as const,
  ),
  ['agent-effects of nobody', effects({ tenant: 'none' }, 'place')],
  ['agent-effects of nobody by status', effects({ tenant: 'none', status: 'succeeded' }, 'updated')],
  ['agent-effects by status', effects({ status: 'failed' }, 'updated')],
  ['agent-effects by run', effects({ run_id: 'none' }, 'place')],
  ['agent-effects by tool', effects({ capability: 'none' }, 'place')],
  ['effects by capability', pageQuery({ filter: { tenant: 'bulk', capability: 'none' }, order: 'newest', limit: 100 })],
];
const FILTERS: readonly Filtered[] = [
  ...LISTS.flatMap(({ log, lists }) => Object.entries(lists).flatMap(([path, spec]) => filtersOf(log, path, spec))),
  ...OTHERS,
].filter(([name]) => !FEW_OF_A_TENANT.has(name));

describe('a list', () => {
  it.each(FILTERS)('narrowed as %s looks at few rows beside those it answers', async (_name, query) => {
    expect(await lookedAt(query)).toBeLessThan(LOOKED_AT_MAX);
  });

  it('of all effects is cut in each table by an order that an index has, and not sorted whole', async () => {
    expect(await lookedAt(effects({}, 'place'))).toBeLessThan(300);
    expect(await lookedAt(effects({ status: 'succeeded' }, 'updated'))).toBeLessThan(300);
  });

  /** Lets rows of a table be others while something is looked at. */
  const changed = async (kind: string, changes: string, look: () => Promise<void>): Promise<void> => {
    const name = tableOf(RECOVERIES_LOG, specOf(RECOVERIES_LOG, kind).table);
    await client.query('BEGIN');
    try {
      await client.query(`UPDATE ${name} SET ${changes}`);
      await client.query(`ANALYZE ${name}`);
      await look();
    } finally {
      await client.query('ROLLBACK');
    }
  };
  const PHASES = ['awaiting_approval', 'halted', 'manual', 'denied'];
  const inReview = `phase = (ARRAY['${PHASES.join("','")}'])[1 + deadline_at % 4]`;

  it('of all that waits for people is cut in each phase by an order that an index has, and not sorted whole', async () => {
    const where = { tenant: 'bulk', phase: PHASES };
    await changed('step', inReview, async () => {
      expect(await lookedAt(timedQuery({ kind: 'step', where, limit: 100 }))).toBeLessThan(500);
      const after = [10_000, 1, 'group-10000', 'row-10000'] as const;
      expect(await lookedAt(timedQuery({ kind: 'step', where, after, limit: 100 }))).toBeLessThan(500);
    });
    await changed('forward', `phase = 'awaiting'`, async () => {
      const asked = { tenant: 'bulk', phase: 'awaiting' };
      expect(await lookedAt(timedQuery({ kind: 'forward', where: asked, limit: 100 }))).toBeLessThan(200);
    });
  });

  it('of what waits for people has every row once, the soonest first, and last those that have no time', async () => {
    const few = `phase = (ARRAY['${PHASES.join("','")}'])[1 + deadline_at % 4], deadline_at = CASE WHEN deadline_at % 2 = 0 THEN deadline_at / 4 END WHERE deadline_at <= 20`;
    await changed('step', few, async () => {
      const seen: (readonly [at: number, row: string])[] = [];
      let after: TimedPlace | undefined;
      do {
        const { text, values } = timedQuery({
          kind: 'step',
          where: { tenant: 'bulk', phase: PHASES },
          after,
          limit: 3,
        });
        const { rows } = await client.query<Record<'at' | 'group_key' | 'row_key', string> & { log_partition: number }>(
          text,
          [...values],
        );
        const page = rows.slice(0, 3);
        seen.push(...page.map(({ at, row_key }) => [Number(at), row_key] as const));
        const last = rows.length > 3 ? page.at(-1) : undefined;
        after = last && [Number(last.at), last.log_partition, last.group_key, last.row_key];
      } while (after !== undefined);
      expect(new Set(seen.map(([, row]) => row)).size).toBe(20);
      expect(seen.length).toBe(20);
      const times = seen.map(([at]) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.filter((at) => at === Number.MAX_SAFE_INTEGER).length).toBe(10);
    });
  });
});
