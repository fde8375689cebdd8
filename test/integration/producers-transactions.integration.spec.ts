// What whoever may write executions, statements and signals can hold up with transactions, on a secure stack: what is told there, for as
// long as the transaction lasts, and no command of a person; it goes on by itself, also behind many that were aborted or fenced (L13).
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { plannedAccess } from '@recourse/service/provision';
import { ADMINISTRATOR, startSystem, until } from './system.testing.js';
import type { Person, Side, System } from './system.testing.js';
import { beginTransaction } from './transaction.testing.js';
import type { Open } from './transaction.testing.js';

const START_MS = 300_000;
const CALL_MS = 240_000;
const OPEN_MS = 2_000;
/** How long the broker lets it last, less than any default. */
const LASTS_MS = 45_000;
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
const OWNER: Person = { subject: 'leela', roles: ['budget_owner'] };

/** Every topic that a producer may write, by the plan of a cluster. */
const OPEN_TO_PRODUCERS = plannedAccess({ adapters: [], users: [{ as: 'producer', name: 'low' }] })
  .filter(({ resource, operation }) => resource === 'TOPIC' && operation === 'WRITE')
  .map(({ name }) => name);

let system: System;
beforeAll(async () => {
  const env = { RECOURSE_TRANSACTION_OPEN_MS: String(OPEN_MS) };
  system = await startSystem({ secure: true, envOf: Object.fromEntries(SERVICES.map((name) => [name, env])) });
}, START_MS);
afterAll(() => system.stop(), CALL_MS);

/** Rubbish on every partition that producers may write, under one transaction that nobody ends. */
const begin = (id: string): Promise<Open> =>
  beginTransaction(system, { id, topics: OPEN_TO_PRODUCERS, lastsMs: LASTS_MS });

const readiness = async (side: Side): Promise<number> => (await fetch(`${system.plan.urls[side]}/health/ready`)).status;
const isTold = async (): Promise<true | null> => {
  const { body } = await system.get('ledger', '/v1/status', ADMINISTRATOR);
  return JSON.stringify(body).includes('TRANSACTION_OPEN') && (await readiness('ledger')) === 503 ? true : null;
};
const open = (key: string) => {
  const ceiling = { scope: 'run', scope_id: `run-${key}`, currency: 'INR', ceiling_minor: 1 };
  return system.post('budget', '/v1/budgets', ceiling, { person: OWNER, key });
};
it('of producers are possible on the wires of executions, statements and signals alone', () => {
  expect([...OPEN_TO_PRODUCERS].sort()).toEqual([
    'recourse.agent-signals',
    'recourse.assumption-events',
    'recourse.tool-executions',
  ]);
});

it(
  'that a producer leaves open hold up what it may write, and say so; commands of people go on, and the broker ends them',
  async () => {
    await begin('left-open');
    await until('it is told', isTold);
    const trigger = { run_id: 'run-1', mutation_id: `mut_${'0'.repeat(32)}`, reason: 'wrong' };
    expect((await open('meanwhile')).status).toBeLessThan(202);
    // The ledger's loop takes commands while it waits for what it is told.
    expect((await system.post('ledger', '/v1/triggers', trigger, { key: 'trigger' })).status).toBe(201);
    expect(await Promise.all([readiness('registry'), readiness('orchestrator')])).toEqual([200, 200]);
    await until('the broker ended it', async () => ((await readiness('ledger')) === 200 ? true : null), CALL_MS / 2);
  },
  CALL_MS,
);

it(
  'that were aborted by the dozen, or fenced by another of the same name, hold up nothing',
  async () => {
    for (let count = 0; count < 12; count += 1) await (await begin('aborts')).abort();
    await begin('fenced');
    await (await begin('fenced')).abort();
    await until('it is ready', async () => ((await readiness('ledger')) === 200 ? true : null), CALL_MS / 2);
    expect((await open('afterwards')).status).toBeLessThan(202);
  },
  CALL_MS,
);
