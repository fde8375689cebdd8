// Requests that do not arrive, at the auditor and at a witness.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { noteSigner } from '@recourse/audit';
import { Metrics } from '@recourse/telemetry';
import { freshPem } from '../auditor.testing.js';
import { WitnessState } from '../witness/witness-state.js';
import { witnessServer } from '../witness/witness.http.js';
import { healthServer } from './health.js';

const ARRIVE_MS = 300;
const folder = mkdtempSync(join(tmpdir(), 'recourse-arriving-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const HEALTH = { ready: true, trouble: {}, alarms: 0, witnesses: {}, in_the_way: null };
const auditor = (): Server => healthServer({ health: () => HEALTH }, new Metrics(), ARRIVE_MS);
const witness = (): Server =>
  witnessServer({
    signer: noteSigner('witness.spec', 'witness', freshPem()),
    keys: [],
    state: new WitnessState(folder),
    now: () => 0,
    arriveWithinMs: ARRIVE_MS,
  });

const ADD = 'POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\nold 0';

describe('a request that does not arrive', () => {
  it.each<[string, () => Server, string, string]>([
    ['headers of one byte now and then, at the auditor', auditor, 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'a'],
    ['headers of one byte now and then, at a witness', witness, 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'a'],
    ['a body of one byte now and then, at a witness', witness, ADD, '1'],
  ])('is cut off: %s', async (_what, serverOf, head, trickle) => {
    const server = serverOf().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server that listens on TCP has one of these.
    const { port } = server.address() as AddressInfo;
    const began = performance.now();
    const text = await new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect({ host: '127.0.0.1', port });
      socket.write(head);
      const timer = setInterval(() => socket.writable && socket.write(trickle), ARRIVE_MS / 6);
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        resolve(heard);
      });
    });
    server.close();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(ARRIVE_MS * 30);
  });
});
