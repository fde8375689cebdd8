// Backup and restore by the order of docs/guides/deploy.md, on real parts: brokers and registry of one moment, databases ahead of
// them refused, empty ones filled again (L8, L13).
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, dropDatabase, SERVICES } from '@recourse/dev-stack';
import { ADMINISTRATOR, executed, EXECUTIONS, itemsOf, runOn, startSystem, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const START_MS = 300_000;
const WALK_MS = 480_000;
const SLOW_MS = 120_000;
const LEDGER = 'mutation-ledger';
/** What is copied together; layout of deploy/dev. */
const COPIED = ['kafka', 'registry'] as const;

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, START_MS);
afterAll(() => system.stop(), SLOW_MS);

async function publish(): Promise<string> {
  const run = runOn(0, 'backup');
  await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', executed(run)));
  return run;
}

async function mutationOf(run: string): Promise<Facts | null> {
  return itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`))[0] ?? null;
}
const recorded = (run: string): Promise<Facts> => until(`the mutation of ${run}`, () => mutationOf(run), SLOW_MS);

/** What the logs say of an execution, whenever it is read. */
async function lasting(run: string): Promise<Facts> {
  const { mutation_id, effect_key, execution_state, recoverability } = await recorded(run);
  return { mutation_id, effect_key, execution_state, recoverability };
}

async function stopServices(): Promise<void> {
  await Promise.all(SERVICES.map((service) => system.processes.kill(service, 'SIGKILL')));
}
async function startServices(): Promise<void> {
  await Promise.all(SERVICES.map((service) => system.processes.start(service)));
}

/** Snapshots volumes, or puts what was snapshot back, while nobody writes to them. */
async function withServersDown(act: (folder: string, copy: string) => void): Promise<void> {
  for (const part of COPIED) await system.stack.kill(part, 'SIGKILL');
  for (const part of COPIED) act(join(system.stack.dataDir, part), join(system.stack.dataDir, `${part}.snapshot`));
  for (const part of COPIED) await system.stack.start(part);
}

/** What a service whose database is ahead of its log says of itself. */
async function refusal(): Promise<string | null> {
  const answer = await fetch(`${system.plan.urls.ledger}/health/ready`);
  const { body } = await system.get('ledger', '/v1/status', ADMINISTRATOR);
  return answer.status === 503 ? (/LOG_CUT/u.exec(JSON.stringify(body))?.[0] ?? null) : null;
}

describe('an installation that is restored by the guide', () => {
  it(
    'refuses databases ahead of its logs, fills empty ones again, and goes on',
    async () => {
      const kept = [await publish(), await publish(), await publish()];
      for (const run of kept) await recorded(run);
      await stopServices();
      await withServersDown((folder, copy) => {
        cpSync(folder, copy, { recursive: true });
      });
      await startServices();
      const before = await Promise.all(kept.map(lasting));
      const lost = await publish();
      await recorded(lost);

      await stopServices();
      await withServersDown((folder, copy) => {
        rmSync(folder, { recursive: true, force: true });
        cpSync(copy, folder, { recursive: true });
      });
      void system.processes.start(LEDGER).catch(() => undefined);
      expect(await until('it is refused', refusal, SLOW_MS)).toBe('LOG_CUT');
      await system.processes.kill(LEDGER, 'SIGKILL');

      for (const service of SERVICES) {
        const { database, user, password } = system.plan.databases[service];
        await dropDatabase(system.stack, database);
        await createDatabase(system.stack, database, user, password);
      }
      await startServices();
      expect(await Promise.all(kept.map(lasting))).toEqual(before);
      expect(await mutationOf(lost)).toBeNull();
      await recorded(await publish());
    },
    WALK_MS,
  );
});
