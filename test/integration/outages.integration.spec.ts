// A part of the stack is gone for a while: a clear status meanwhile, and afterwards everything that was published is recorded (P2, P14).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKafka } from '@recourse/kafka';
import { createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import { ADMINISTRATOR, executed, EXECUTIONS, itemsOf, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const HOME = 0;
const LEDGER = 'mutation-ledger';
const BROKER_DOWN_MS = 60_000;
/** A broker that was killed checks its logs; members of groups come back after their session. */
const RECOVERY_MS = 90_000;
const BUDGET_OWNER = { subject: 'leela', roles: ['budget_owner'] };

let system: System;

beforeAll(async () => {
  system = await startSystem();
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

/** Publishes an execution on a partition; codecs need no registry any more. */
async function publish(partition = HOME): Promise<string> {
  const run = runOn(partition, 'outage');
  await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', executed(run)));
  return run;
}

/** Opens no payloads: while the broker is away nobody's reading of one can be put on record. */
const VIEWER = { subject: 'vera', roles: ['viewer'] };

async function mutationOf(run: string): Promise<Facts | null> {
  return itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`, VIEWER))[0] ?? null;
}
async function recorded(run: string): Promise<Facts> {
  return until(`the mutation of ${run}`, () => mutationOf(run), RECOVERY_MS);
}

async function ready(service: 'ledger' | 'budget'): Promise<number> {
  return (await fetch(`${system.plan.urls[service]}/health/ready`)).status;
}

function openBudget(key: string): ReturnType<System['post']> {
  return system.post(
    'budget',
    '/v1/budgets',
    { scope: 'run', scope_id: `run-${key}`, currency: 'INR', ceiling_minor: 1 },
    { person: BUDGET_OWNER, key },
  );
}

describe('without the schema registry', () => {
  it('a running service goes on with the schemas it knows, and waits at one it does not know', async () => {
    await recorded(await publish());
    await system.stack.kill('registry', 'SIGKILL');
    const known = await publish();
    expect((await recorded(known))['execution_state']).toBe('succeeded');
    const noise = runOn(HOME, 'unknown');
    await system.send(EXECUTIONS, noise, Buffer.from([0, 0x77, 0x35, 0x94, 0x00, 1]));
    const waiting = await publish();
    await new Promise((resolve) => {
      setTimeout(resolve, 2_000);
    });
    expect(itemsOf(await system.get('ledger', '/v1/parked', ADMINISTRATOR))).toEqual([]);
    expect(await mutationOf(waiting)).toBeNull();
    await system.stack.start('registry');
    expect((await recorded(waiting))['execution_state']).toBe('succeeded');
    expect(itemsOf(await system.get('ledger', '/v1/parked', ADMINISTRATOR))).toMatchObject([
      { reason: 'UNKNOWN_SCHEMA', record_key: noise },
    ]);
  }, 180_000);

  it('a service that starts is not ready and says why, and begins when the registry answers', async () => {
    await system.processes.kill(LEDGER, 'SIGKILL');
    await system.stack.kill('registry', 'SIGKILL');
    const starting = system.processes.start(LEDGER);
    const run = await publish();
    await until("the ledger's HTTP edge", async () =>
      (await fetch(`${system.plan.urls.ledger}/health/live`)).ok ? true : null,
    );
    expect(await ready('ledger')).toBe(503);
    await system.stack.start('registry');
    await starting;
    expect((await recorded(run))['execution_state']).toBe('succeeded');
    expect(await ready('ledger')).toBe(200);
  }, 180_000);
});

describe('without the database', () => {
  it('reads and commands are answered 503, and what was published meanwhile is recorded afterwards', async () => {
    await recorded(await publish());
    await system.stack.kill('postgres', 'SIGKILL');
    const run = await publish();
    const read = await until('an answer', async () => {
      const answer = await system.get('ledger', '/v1/mutations');
      return answer.status === 503 ? answer : null;
    });
    expect(read.body['code']).toBe('DATABASE_UNAVAILABLE');
    expect(await openBudget('database-down')).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } });
    await system.stack.start('postgres');
    expect((await recorded(run))['execution_state']).toBe('succeeded');
    expect(
      (
        await until(
          'the budget',
          async () => {
            const answer = await openBudget('database-down');
            return answer.status < 202 ? answer : null;
          },
          RECOVERY_MS,
        )
      ).status,
    ).toBeLessThan(202);
  }, 240_000);
});

describe('without the broker for a minute', () => {
  it('nothing is said to be recorded, and afterwards services, producers and commands go on by themselves', async () => {
    const before = await publish();
    await recorded(before);
    const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'outage' });
    const producer = await createProducer({
      kafka,
      codecs: createCodecs(createSchemaRegistry({ url: system.stack.registryUrl })),
      source: 'outage',
    });
    await system.stack.kill('kafka', 'SIGKILL');
    const downAt = Date.now();
    const refused = await openBudget('broker-down');
    expect([202, 503]).toContain(refused.status);
    if (refused.status === 503) expect(refused.body['code']).toBe('BROKER_UNAVAILABLE');
    const statement = { tenant: TENANT, ref: 'order/outage#open', statement: { open: true }, statedAt: downAt };
    const unsent: unknown = await producer.assumptionDeclared(statement).catch((cause: unknown) => cause);
    expect(unsent).toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    expect(await mutationOf(before)).not.toBeNull();
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, downAt + BROKER_DOWN_MS - Date.now()));
    });
    await system.stack.start('kafka');
    await producer.assumptionDeclared(statement);
    await until(
      'the statement',
      async () => itemsOf(await system.get('ledger', '/v1/assumptions?ref=order%2Foutage%23open'))[0] ?? null,
      RECOVERY_MS,
    );
    for (const partition of [0, 1])
      expect((await recorded(await publish(partition)))['execution_state']).toBe('succeeded');
    expect(
      (
        await until(
          'the budget',
          async () => {
            const answer = await openBudget('broker-down');
            return answer.status < 202 ? answer : null;
          },
          RECOVERY_MS,
        )
      ).status,
    ).toBeLessThan(202);
    expect(await ready('ledger')).toBe(200);
    await producer.close();
  }, 400_000);
});
