// Takes a recovered run away with what its decisions were made from, and makes them again where no service is (D58): from a packet of a
// real stack, and under a tighter ceiling and another policy.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, put } from './guide.testing.js';
import { rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { TENANT } from './system.testing.js';
import type { Person } from './system.testing.js';

const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: TENANT };

let rehearsal: Rehearsal;
beforeAll(async () => {
  rehearsal = await rehearse();
}, 400_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

describe('explore', () => {
  it('prints', async () => {
    const { system, folder } = rehearsal;
    const ask = (...args: string[]) => cli(system, READER, folder, ...args);
    put(folder, 'settings.env', 'RECOURSE_LEASE_MS=5000\n');
    const told = await ask(
      'audit',
      'story',
      'run-rehearsal',
      '--packet',
      'run.json',
      '--decisions',
      '--settings',
      'settings.env',
    );
    console.log(told.code, told.note);
    const again = await ask('audit', 'replay-story', 'run.json');
    console.log(again.code, again.note, again.out);
    const tight = await ask('audit', 'replay-story', 'run.json', '--ceiling', 'tenant/INR=100', '--json');
    console.log(tight.code, tight.note, tight.out.slice(-6000));
    const check = await ask('audit', 'check-story', 'run.json');
    console.log(check.code, check.note, check.out);
    const packet = readFileSync(join(folder, 'run.json'), 'utf8');
    const { decisions } = JSON.parse(packet);
    console.log(packet.length, JSON.stringify(decisions).length, JSON.stringify(decisions, null, 1).slice(0, 2000));
    (await import('node:fs')).writeFileSync('/tmp/wr-run.json', packet);
    expect(1).toBe(1);
  });
});
