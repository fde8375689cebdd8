// A stranger joins the group of a service on an open stack, takes partitions and does nothing (L13).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKafka } from '@recourse/kafka';
import type { InputConsumer } from '@recourse/kafka';
import { ADMINISTRATOR, startSystem, until } from './system.testing.js';
import type { System } from './system.testing.js';

const START_MS = 300_000;
const CALL_MS = 120_000;
const GROUP = 'recourse.budget-accountant';

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, START_MS);
afterAll(() => system.stop(), CALL_MS);

const ready = async (): Promise<number> => (await fetch(`${system.plan.urls.budget}/health/ready`)).status;
const status = async (): Promise<string> =>
  JSON.stringify((await system.get('budget', '/v1/status', ADMINISTRATOR)).body);
const metrics = async (): Promise<string> => (await fetch(`${system.plan.urls.budget}/metrics`)).text();

/** Speaks the protocol of the group well enough to be given something, as whoever read our code can. */
async function join(): Promise<InputConsumer> {
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'rogue' });
  const consumer = kafka.inputConsumer({ groupId: GROUP, aligned: ['recourse.budget-commands'], broadcast: [] });
  const nothing = (): undefined => undefined;
  await consumer.start({ onAssigned: nothing, onBatch: nothing, onTrouble: nothing, onCrash: nothing });
  return consumer;
}

describe('a stranger in the group of a service', () => {
  it(
    'is told by name and address while it holds partitions, and the service goes on without it',
    async () => {
      await until('ready', async () => ((await ready()) === 200 ? true : null));
      const stranger = await join();
      await until('it is told', async () =>
        /FOREIGN_MEMBER: in group recourse\.budget-accountant[^"]*rogue-\w+\W+ from 127\.0\.0\.1/u.test(await status())
          ? true
          : null,
      );
      expect(await ready()).toBe(503);
      expect(await metrics()).toMatch(/^recourse_group_foreign_members\{.*\} 1$/m);
      await stranger.stop();
      await until('ready again', async () => ((await ready()) === 200 ? true : null));
      expect(await metrics()).toMatch(/^recourse_group_foreign_members\{.*\} 0$/m);
    },
    CALL_MS,
  );
});
