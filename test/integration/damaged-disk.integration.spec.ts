// A disk that forgets the length of a stored batch, under a running service: the batch is parked, what the broker then cannot give is
// told with its code (readiness, status, metric), and the other partitions go on (L15, P13, P14).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { alterStored } from '@recourse/kafka';
import { ADMINISTRATOR, executed, EXECUTIONS, itemsOf, runOn, startSystem, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const LEDGER = 'mutation-ledger';
const HOME = 0;
const GROUP_MS = 90_000;
/** A fetch that waits at the broker ends by then, milliseconds. */
const POLL_ENDS_MS = 1_500;
let system: System;

beforeAll(async () => {
  system = await startSystem();
  await system.codecs.prepareWriter(EXECUTIONS, { register: false });
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

async function publish(partition: number): Promise<string> {
  const run = runOn(partition, 'damaged');
  await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', executed(run)));
  return run;
}
const recorded = (run: string): Promise<Facts> =>
  until(
    `the mutation of ${run}`,
    async () => itemsOf(await system.get('ledger', `/v1/mutations?run_id=${run}`))[0] ?? null,
    GROUP_MS,
  );
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
const at = (path: string): Promise<Response> => fetch(`${system.plan.urls.ledger}${path}`);

describe('a stored batch that does not say where it ends', () => {
  it('is parked by its offset; what the broker cannot give behind it is told, and other partitions go on', async () => {
    await recorded(await publish(HOME));
    const pid = system.processes.pid(LEDGER) ?? 0;
    process.kill(pid, 'SIGSTOP');
    await pause(POLL_ENDS_MS);
    const lost = await publish(HOME);
    await publish(HOME);
    await alterStored({
      brokers: system.stack.kafka.brokers,
      topic: EXECUTIONS,
      partition: HOME,
      word: lost,
      what: 'length',
    });
    process.kill(pid, 'SIGCONT');
    const parked = await until(
      'the batch parked',
      async () =>
        itemsOf(await system.get('ledger', '/v1/parked?log=recourse.mutations', ADMINISTRATOR)).find(
          ({ reason }) => reason === 'BATCH_UNREADABLE',
        ) ?? null,
      GROUP_MS,
    );
    expect(parked).toMatchObject({ detail: expect.stringContaining('nor where it ends') });
    expect(await recorded(await publish(1 - HOME))).toMatchObject({ execution_state: 'succeeded' });
    await until('that it is not ready', async () => ((await at('/health/ready')).status === 503 ? true : null));
    const status = await until('the reason', async () => {
      const { body } = await system.get('ledger', '/v1/status', ADMINISTRATOR);
      return JSON.stringify(body).includes('FETCH_BROKEN') ? body : null;
    });
    expect(status).toMatchObject({ ready: false });
    const metrics = await (await at('/metrics')).text();
    expect(metrics).toMatch(
      /^recourse_fetches_failed_total\{log="recourse\.mutations",.*code="FETCH_BROKEN".*\} [1-9]/m,
    );
  }, 300_000);
});
