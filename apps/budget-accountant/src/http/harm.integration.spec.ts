// Expected harm over HTTP on a real PostgreSQL, for two tenants.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractBody, contractDigest, contractView, entryView, parseContract } from '@recourse/contract';
import { createPool } from '@recourse/service';
import { Metrics } from '@recourse/telemetry';
import { deriveId } from '@recourse/kernel';
import { fact, harness, logged, memoryView } from '@recourse/testing';
import { changed, command, INR, mutationOf, open, recorded, reservationOf, reserve } from '../budgets.testing.js';
import { RUN, TENANT } from '../budgets.testing.js';
import { budgetsCore } from '../core.js';
import { HarmQueries } from '../reads/harm-queries.js';
import { closingTotalsQuery } from '../reads/harm-statements.js';
import { Client } from 'pg';
import { HarmController } from './harm.controller.js';
import { projected } from './projected.integration.testing.js';
import type { Projected } from './projected.integration.testing.js';

/** A refund that no cap bounds, of which a tenth is debt, and whose recovery costs 100. */
function uncappedRefund() {
  const json = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object; // a contract is a JSON object
  const recovery_cost = { time_ms: 60_000, value: { amount_minor: 100, currency: INR } };
  const read = parseContract(JSON.stringify({ ...json, blast_radius: { scope: 'tenant' }, recovery_cost }));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const body = contractBody(read.contract);
  const digest = contractDigest(body);
  const view = memoryView(contractView);
  const { name } = read.contract;
  view.append(name, fact('ContractRegistered', { name, version: 1, tenant: '*', digest, body }));
  return { view, digest };
}
const { view, digest } = uncappedRefund();
const NOW = Date.now();
const MINUTE = 60_000;
const REFUND = { capability: 'payments.issue_refund' };
const done = (effect: string, amount: number, expiresAt: number) =>
  recorded(effect, amount, { ...REFUND, digest, expiresAt });

/** The refund of an effect was taken back; what did that is debited 70. */
function compensated(effect: string) {
  const member = {
    compensation_id: 'cmp_1',
    effect_key: `rev_${mutationOf(effect)}`,
    reverses_mutation_id: mutationOf(effect),
    capability: 'payments.reverse_refund',
    contract_digest: null,
    reversal_class: 'irreversible',
    args: { content_type: 'application/json' },
    value: { amount_minor: 70, currency: INR },
    consequence: [{ amount_minor: 70, currency: INR }],
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
  open('run', 30_000),
  ...['a', 'b', 'c', 'd'].map((effect, at) => reserve(effect, (at + 1) * 10_000, REFUND)),
  done('a', 10_000, NOW + 30 * MINUTE),
  done('b', 20_000, NOW + 300 * MINUTE),
  done('c', 30_000, NOW - MINUTE),
  done('d', 40_000, NOW + 3_000 * MINUTE),
  changed('d', 'compensation_verified'),
  compensated('d'),
  reserve('held', 500),
  command('ReserveBudget', {
    run_id: RUN,
    effect_key: 'asked',
    capability: 'wire.send_money',
    values: [{ amount_minor: 90_000, currency: INR }],
  }),
  reserve('foreign', 77, { who: { tenant: 'globex' } }),
];
const ESCALATION = deriveId('esc', reservationOf('asked'));

let desk: Projected;
let queries: HarmQueries;
let url: string;

beforeAll(async () => {
  const told = harness(budgetsCore(), { views: { contracts: view, entries: memoryView(entryView) } });
  for (const input of STORY) told.when(input, NOW);
  desk = await projected({
    name: `harm_${String(process.pid)}`,
    desk: told,
    controllers: [HarmController],
    providers: (address) => {
      url = address;
      queries = new HarmQueries(createPool({ url, connectionsMax: 2 }));
      return [{ provide: HarmQueries, useValue: queries }];
    },
    view: () => Promise.resolve(view),
  });
}, 400_000);

afterAll(() => desk.close(), 60_000);

describe('expected harm', () => {
  it('is debt that stands per agent and unit, with what recovery cost and is expected to (A4)', async () => {
    const { status, body } = await desk.get('/v1/reports/harm');
    expect(status).toBe(200);
    expect(body.items).toEqual([
      {
        tenant: 'acme',
        agent_id: 'agent-7',
        capability: null,
        currency: INR,
        reserved_minor: 500,
        open_minor: 3_000,
        beyond_minor: 3_070,
        moved_minor: 60_070,
        recovery_minor: 70,
        closes_first_at: NOW + 30 * MINUTE,
        // Two are open, and one of five effects that happened was taken back.
        recovery_at_most_minor: 200,
        recovery_expected_minor: 40,
      },
    ]);
  });

  it('is told per capability and per tenant, and of one of them', async () => {
    const { body } = await desk.get('/v1/reports/harm?by=capability');
    expect(body.items.map((row) => [row['capability'], row['open_minor'], row['recovery_minor']])).toEqual([
      ['payments.issue_refund', 3_000, 70],
      ['wire.send_money', 0, 0],
      ['payments.reverse_refund', 0, 0],
    ]);
    const tenant = await desk.get('/v1/reports/harm?by=tenant&capability=payments.issue_refund');
    expect(tenant.body.items).toMatchObject([
      { tenant: 'acme', agent_id: null, capability: null, beyond_minor: 3_000 },
    ]);
    expect((await desk.get('/v1/reports/harm?by=mood')).status).toBe(400);
  });

  it('is of the tenant that asks', async () => {
    const { body } = await desk.get('/v1/reports/harm', 'globex viewer');
    expect(body.items).toMatchObject([{ tenant: 'globex', reserved_minor: 77, open_minor: 0 }]);
    expect((await desk.get('/v1/reports/harm?tenant=globex')).status).toBe(403);
    expect((await desk.get('/v1/reports/forecast', 'globex viewer')).body.items).toEqual([]);
  });
});

describe('the forecast', () => {
  it('is the value that nothing takes back after the next hour, and after the next day (A4)', async () => {
    const { body } = await desk.get('/v1/reports/forecast?by=capability');
    expect(body.items).toEqual([
      {
        tenant: 'acme',
        agent_id: null,
        capability: 'payments.issue_refund',
        currency: INR,
        within_hour_minor: 10_000,
        within_day_minor: 30_000,
        within_hour: 1,
        within_day: 2,
        closes_first_at: NOW + 30 * MINUTE,
      },
    ]);
  });
});

describe('a question about a ceiling', () => {
  it('says by which mutations it is used, the largest first', async () => {
    const { status, body } = await desk.get(`/v1/escalations/${ESCALATION}/uses`);
    expect(status).toBe(200);
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({ scope: 'run', scope_id: RUN, measure: 'debt', currency: INR, more: false });
    const usedBy = body.items[0]?.['used_by'] as readonly Record<string, unknown>[]; // as the line above has it
    expect(usedBy.map((one) => [one['mutation_id'], one['undoes'], one['amount_minor']])).toEqual([
      [mutationOf('c'), null, 3_000],
      [mutationOf('b'), null, 2_000],
      [mutationOf('a'), null, 1_000],
      [mutationOf('held'), null, 500],
      [null, mutationOf('d'), 70],
    ]);
  });

  it('is nobody else’s', async () => {
    expect((await desk.get(`/v1/escalations/${ESCALATION}/uses`, 'globex viewer')).status).toBe(404);
  });
});

describe('the gauges', () => {
  it('tell what stands and what closes of all tenants, by unit, and the questions that wait', async () => {
    const metrics = new Metrics();
    await queries.gauge(metrics);
    const text = await metrics.text();
    for (const line of [
      'recourse_debt_standing_minor{unit="INR",standing="reserved"} 577',
      'recourse_debt_standing_minor{unit="INR",standing="open"} 3000',
      'recourse_debt_standing_minor{unit="INR",standing="beyond"} 3070',
      'recourse_value_closing_minor{unit="INR",within="hour"} 10000',
      'recourse_value_closing_minor{unit="INR",within="day"} 30000',
      'recourse_escalations_open{about="ceiling"} 1',
      'recourse_escalations_open{about="overrun"} 0',
    ])
      expect(text).toContain(line);
  });

  it('are read from an index, however much has closed before', async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`INSERT INTO budgets.debt_closings
      SELECT 0, 'g' || n, 'g' || n, NULL, 'INR', n * 60000::bigint, 1, 1, '{}' FROM generate_series(1, 50000) n`);
    await client.query('ANALYZE budgets.debt_closings');
    const { text, values } = closingTotalsQuery(NOW);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]);
    await client.end();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index');
    expect(plan).not.toContain('Seq Scan');
  });
});
