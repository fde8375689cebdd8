// What an auditor tells of itself over HTTP.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { Metrics } from '@recourse/telemetry';
import { healthServer } from './health.js';

it('an auditor tells by its metrics since when each witness signs nothing, and whether it is ready', async () => {
  const witnesses = { 'one.example': 0, 'two.example': 61.5 };
  const health = { ready: true, trouble: {}, alarms: 0, witnesses, in_the_way: null };
  const server = healthServer({ health: () => health }, new Metrics({ service: 'auditor' })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has one of these.
  const { port } = server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
  server.close();
  expect(text).toMatch(/^recourse_witness_silent_seconds\{witness="one.example",service="auditor"\} 0$/m);
  expect(text).toMatch(/^recourse_witness_silent_seconds\{witness="two.example",service="auditor"\} 61.5$/m);
  expect(text).toMatch(/^recourse_ready\{service="auditor"\} 1$/m);
});
