import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { choosePorts, choosePortsAgain } from './ports.js';

describe('free ports', () => {
  it('differ from each other', async () => {
    const { a, b, c } = await choosePorts(['a', 'b', 'c']);
    expect(new Set([a, b, c]).size).toBe(3);
  });

  it('are none that a connection of somebody else could be given before they are used', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `p${String(n)}`);
    for (let turn = 0; turn < 5; turn += 1) {
      const ports = Object.values(await choosePorts(names));
      expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
      expect(Math.max(...ports)).toBeLessThan(32_768);
    }
  });

  it('are chosen from another place each time', async () => {
    const firsts = new Set<number>();
    for (let turn = 0; turn < 8; turn += 1) firsts.add((await choosePorts(['a'])).a);
    expect(firsts.size).toBeGreaterThan(1);
  });

  it('are the preferred ones while nobody else has them', async () => {
    const { a } = await choosePorts(['a']);
    expect(await choosePorts(['a'], { a })).toEqual({ a });
  });

  it('are others when a preferred one is taken', async () => {
    const server = createServer();
    const taken = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const { a } = await choosePorts(['a'], { a: taken });
    server.close();
    expect(a).not.toBe(taken);
  });
});

describe('ports of programs whose addresses others keep', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'recourse-ports-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('are those of before at the next start, also of a program that was left out once', async () => {
    const before = await choosePortsAgain(folder, ['ledger', 'console']);
    await choosePortsAgain(folder, ['ledger']);
    expect(await choosePortsAgain(folder, ['console', 'ledger'])).toEqual(before);
  });

  it.each(['', '[1', 'null', '{"ledger":"x"}', '{"ledger":0}', '{"ledger":70000}'])(
    'are chosen anew where the file holds %j',
    async (text) => {
      writeFileSync(join(folder, 'ports.json'), text);
      const { ledger } = await choosePortsAgain(folder, ['ledger']);
      expect(ledger).toBeGreaterThanOrEqual(20_000);
    },
  );
});
