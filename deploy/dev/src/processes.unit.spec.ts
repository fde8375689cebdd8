// Programs of a system as real processes, each a few lines of Node.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.js';
import { startProcesses } from './processes.js';
import type { ProcessSpec } from './processes.js';

let folder: string;
const told: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-processes-'));
  told.length = 0;
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Leaves a file that says it began, and answers from then on. */
async function program(name: string, more: Partial<ProcessSpec> = {}): Promise<ProcessSpec> {
  const entry = join(folder, `${name}.mjs`);
  const { port } = await choosePorts(['port']);
  writeFileSync(
    entry,
    `import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(join(folder, `${name}.began`))}, '');
createServer((_, response) => response.end()).listen(${String(port)}, '127.0.0.1');`,
  );
  return { name, entry, readyUrl: `http://127.0.0.1:${String(port)}/`, ...more };
}

const began = (name: string): boolean => existsSync(join(folder, `${name}.began`));
const options = {
  get logDir() {
    return folder;
  },
  onExit: (name: string) => told.push(name),
};

async function until(look: () => boolean): Promise<boolean> {
  for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((rest) => setTimeout(rest, 20)))
    if (look()) return true;
  return false;
}

describe('processes that start beside the others', () => {
  it('begin once the others are ready, and are stopped with them', async () => {
    const specs = [await program('main'), await program('beside', { isBeside: true })];
    const group = await startProcesses(specs, options);
    expect(began('main')).toBe(true);
    expect(await until(() => began('beside'))).toBe(true);
    await group.stop();
    expect([group.pid('main'), group.pid('beside'), told]).toEqual([null, null, []]);
  }, 60_000);

  it('are not waited for, and stopped while they start they are no failure', async () => {
    const never = await program('never', { isBeside: true, readyUrl: 'http://127.0.0.1:9/' });
    const after = await program('after', { isBeside: true, stage: 1 });
    const group = await startProcesses([await program('main'), never, after], options);
    expect(await until(() => began('never'))).toBe(true);
    await group.stop();
    expect([group.pid('never'), began('after'), told]).toEqual([null, false, []]);
  }, 60_000);

  it('are told of where they do not become ready', async () => {
    const never = await program('never', { isBeside: true, readyUrl: 'http://127.0.0.1:9/', readyWithinMs: 200 });
    const group = await startProcesses([await program('main'), never], options);
    expect(await until(() => told.length > 0)).toBe(true);
    expect(told).toEqual(['never']);
    await group.stop();
  }, 60_000);
});
