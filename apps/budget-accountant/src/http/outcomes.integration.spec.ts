// The report of outcomes over HTTP on a real PostgreSQL, for two tenants.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { entryView } from '@recourse/contract';
import { createPool, tableOf } from '@recourse/service';
import { harness, logged, memoryView } from '@recourse/testing';
import { outcome } from '../budgets.autonomy.testing.js';
import { refundView, RUN, TENANT } from '../budgets.testing.js';
import { BUDGETS_LOG, budgetsCore } from '../core.js';
import { OutcomeQueries } from '../reads/outcome-queries.js';
import { OutcomesController } from './outcomes.controller.js';
import { projected } from './projected.integration.testing.js';
import type { Answer, Projected } from './projected.integration.testing.js';

/** A compensation in the run of the outcomes, which costs 700. */
function compensated() {
  const member = {
    compensation_id: 'cmp_1',
    effect_key: 'rev_mut_1',
    reverses_mutation_id: 'mut_1',
    capability: 'wire.send_money',
    contract_digest: null,
    reversal_class: 'irreversible',
    args: { content_type: 'application/json' },
    value: { amount_minor: 700, currency: 'USD' },
    consequence: [{ amount_minor: 700, currency: 'USD' }],
    subject_ref: null,
    execution_state: 'succeeded',
    agent_id: 'agent-7',
    initiator: null,
  };
  return logged('recourse.mutations', 'CompensationsExecuted', { tenant: TENANT, run_id: RUN, members: [member] }, 5, {
    partition: 3,
  });
}

const STORY = [
  outcome('a', { succeeded: true, csat_permille: 900, revenue: { amount_minor: 5_000, currency: 'EUR' } }),
  outcome('b', { grounded: false, succeeded: false, ended_at: 2_000 }),
  outcome('c', { csat_permille: 600, ended_at: 3_000, run_id: 'run_2' }),
  outcome('d', { version: 'v2', accepted: false, cache_lookups: 0, cache_hits: 0, run_id: null }),
  outcome('e', { workflow_id: 'mails', intent: null, version: null, cost: null, run_id: null, accepted: false }),
  outcome('f', { tenant: 'globex', cost: { amount_minor: 1, currency: 'USD' } }, 'globex'),
  compensated(),
];

const WAITS_WITHIN_MS = 60_000;
let desk: Projected;
let database = '';

beforeAll(async () => {
  const told = harness(budgetsCore(), { views: { contracts: refundView().view, entries: memoryView(entryView) } });
  for (const input of STORY) told.when(input, 10_000);
  desk = await projected({
    name: `outcomes_${String(process.pid)}`,
    desk: told,
    controllers: [OutcomesController],
    providers: (url) => {
      database = url;
      return [
        { provide: OutcomeQueries, useFactory: () => new OutcomeQueries(createPool({ url, connectionsMax: 2 })) },
      ];
    },
  });
}, 400_000);

afterAll(() => desk.close(), 60_000);

function get(query = '', token = 'acme viewer'): Promise<Answer> {
  return desk.get(`/v1/reports/outcomes${query}`, token);
}

describe('the report of outcomes', () => {
  it('has what work cost, what came of it, and what recoveries cost beside it (D40 to D42, D66)', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body.items).toHaveLength(3);
    expect(body.items[0]).toMatchObject({
      tenant: 'acme',
      workflow_id: 'refunds',
      intent: 'refund',
      version: 'v1',
      outcomes: 3,
      trusted: 2,
      total_tokens: 300,
      retry_token_ratio: 0.1,
      eval_overhead_ratio: 0.2,
      cache_hit_rate: 0.25,
      success_rate: 0.5,
      conversion_rate: null,
      deflection_rate: null,
      csat: 0.75,
      money: [
        {
          currency: 'EUR',
          cost_minor: null,
          revenue_minor: 5_000,
          recovery_cost_minor: null,
          cost_per_trusted_outcome_minor: null,
        },
        {
          currency: 'USD',
          cost_minor: 36,
          revenue_minor: null,
          recovery_cost_minor: 700,
          cost_per_trusted_outcome_minor: 18,
        },
      ],
    });
  });

  it('says null, not 0, where there is nothing to divide by (D41)', async () => {
    const [v2] = (await get('?release=v2')).body.items;
    expect(v2).toMatchObject({ outcomes: 1, trusted: 0, cache_hit_rate: null, success_rate: null, csat: null });
    expect(v2?.['money']).toEqual([
      {
        currency: 'USD',
        cost_minor: 12,
        revenue_minor: null,
        recovery_cost_minor: null,
        cost_per_trusted_outcome_minor: null,
      },
    ]);
    expect((await get('?workflow_id=mails')).body.items).toMatchObject([{ intent: null, version: null, money: [] }]);
  });

  it('is of a time range: from an instant, up to another', async () => {
    expect((await get('?from=2000&to=3000')).body.items).toMatchObject([{ outcomes: 1, trusted: 0, version: 'v1' }]);
    expect((await get('?from=x')).status).toBe(400);
  });

  it('is of the tenant that asks', async () => {
    expect((await get('', 'globex viewer')).body.items).toMatchObject([{ tenant: 'globex', outcomes: 1 }]);
    expect((await get('?tenant=globex')).status).toBe(403);
    expect((await get('', 'acme nobody')).status).toBe(403);
  });

  it('has counts and money of one moment, whatever is counted between them (D41)', async () => {
    const pool = createPool({ url: database, connectionsMax: 2 });
    const client = await pool.connect();
    const costs = tableOf(BUDGETS_LOG, 'recovery_costs');
    // Other databases of this server have locks of their own.
    const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${costs}'::regclass
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const isWaiting = async (): Promise<boolean> => (await pool.query(waiting)).rows.length > 0;
    await client.query('BEGIN');
    // Counts are read before this table is.
    await client.query(`LOCK TABLE ${costs} IN ACCESS EXCLUSIVE MODE`);
    const asked = get('', 'globex viewer');
    for (const deadlineAt = Date.now() + WAITS_WITHIN_MS; !(await isWaiting());)
      if (Date.now() > deadlineAt) throw new Error(`nobody waits for ${costs}`);
    await client.query(`DELETE FROM ${tableOf(BUDGETS_LOG, 'outcomes')} WHERE tenant = 'globex'`);
    await client.query('COMMIT');
    client.release();
    await pool.end();
    expect((await asked).body.items).toMatchObject([{ outcomes: 1, money: [{ currency: 'USD', cost_minor: 1 }] }]);
    expect((await get('', 'globex viewer')).body.items).toEqual([]);
  });
});
