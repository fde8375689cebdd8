// A stranger's transactions on a real broker, in logs and on wires, open and ended, on an open stack and on a secure one (L13).
// On the secure one the stranger has the only user above the rules: nobody else gets so far.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TOPICS } from '@recourse/messages';
import { ADMINISTRATOR, startSystem, until } from './system.testing.js';
import type { Person, Reply, System } from './system.testing.js';
import { beginTransaction } from './transaction.testing.js';
import type { Open } from './transaction.testing.js';

const START_MS = 300_000;
const CALL_MS = 120_000;
const SERVICE = 'budget-accountant';
const OPEN_MS = 3_000;
const READ_BY_IT = TOPICS.filter(({ written_by, read_by }) => written_by === SERVICE || read_by.includes(SERVICE));
const WIRES = READ_BY_IT.filter(({ kind }) => kind === 'wire').map(({ name }) => name);
const LOGS = READ_BY_IT.filter(({ kind }) => kind !== 'wire').map(({ name }) => name);
const OWNER: Person = { subject: 'leela', roles: ['budget_owner'] };

describe.each([
  ['an open stack', false],
  ['a secure stack', true],
])('a transaction of a stranger on %s', (_, secure) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ secure, envOf: { [SERVICE]: { RECOURSE_TRANSACTION_OPEN_MS: String(OPEN_MS) } } });
  }, START_MS);
  afterAll(() => system.stop(), CALL_MS);

  const begin = (topics: readonly string[]): Promise<Open> => beginTransaction(system, { id: randomUUID(), topics });
  const open = (key: string): Promise<Reply> =>
    system.post(
      'budget',
      '/v1/budgets',
      { scope: 'run', scope_id: `run-${key}`, currency: 'INR', ceiling_minor: 1 },
      { person: OWNER, key },
    );
  const readiness = async (): Promise<number> => (await fetch(`${system.plan.urls.budget}/health/ready`)).status;
  const ready = (): Promise<true> =>
    until('it is ready', async () => ((await readiness()) === 200 ? true : null), CALL_MS / 2);
  const isTold = async (): Promise<true | null> => {
    const { body } = await system.get('budget', '/v1/status', ADMINISTRATOR);
    return JSON.stringify(body).includes('TRANSACTION_OPEN') && (await readiness()) === 503 ? true : null;
  };
  async function restart(): Promise<void> {
    await system.processes.kill(SERVICE, 'SIGKILL');
    await system.processes.start(SERVICE);
  }

  it(
    'left open in the logs holds nobody up, also not a service that starts',
    async () => {
      const transaction = await begin(LOGS);
      expect((await open('in-the-log')).status).toBeLessThan(202);
      await restart();
      await ready();
      expect((await open('after-a-start')).status).toBeLessThan(202);
      await transaction.abort();
      await restart();
      await ready();
      expect((await open('behind-the-marker')).status).toBeLessThan(202);
    },
    CALL_MS,
  );

  it(
    'left open on a wire is told of, and what waits behind it is taken when it ends, also after a restart',
    async () => {
      const transaction = await begin(WIRES);
      const waiting = open('behind-it');
      await until('it is told', isTold);
      await transaction.abort();
      expect([200, 201, 202]).toContain((await waiting).status);
      await until('it is taken', async () => ((await open('behind-it')).status < 202 ? true : null));
      await restart();
      await ready();
      expect((await open('after-the-marker')).status).toBeLessThan(202);
    },
    CALL_MS,
  );
});
