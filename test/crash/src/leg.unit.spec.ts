// A real worker process is killed between its call and its report, and another one takes the same request (B18).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const entry = join(dirname(fileURLToPath(import.meta.url)), '../dist/leg.main.js');
let directory = '';

// Built by whoever runs the suite: two specs that build at once would read each other's half-written files.
beforeAll(() => {
  expect(existsSync(entry)).toBe(true);
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'recourse-leg-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function killedBetweenCallAndReport(): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [entry, directory, 'hang'], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('called')) child.kill('SIGKILL');
  });
  return new Promise((resolve) => {
    child.on('exit', (_code, signal) => {
      resolve(signal);
    });
  });
}

/** What the next process reports of the same request. */
function takenAgain(): unknown {
  const { stdout } = spawnSync(process.execPath, [entry, directory], { encoding: 'utf8' });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

const effects = (): readonly string[] => readFileSync(join(directory, 'effects.txt'), 'utf8').trim().split('\n');

describe('a worker process killed between call and report', () => {
  it('leaves an effect that the next finds, within the same lease: it is made once, and blamed on nobody', async () => {
    expect(await killedBetweenCallAndReport()).toBe('SIGKILL');
    expect(takenAgain()).toEqual({ outcome: 'verified', phases: ['reconcile', 'verify'] });
    expect(effects()).toEqual(['rev_key']);
  });

  it('leaves the act to a later attempt where the effect is not there: the call may still be on its way', async () => {
    await killedBetweenCallAndReport();
    rmSync(join(directory, 'effects.txt'));
    expect(takenAgain()).toEqual({ outcome: 'unknown', phases: ['reconcile'] });
    expect(existsSync(join(directory, 'effects.txt'))).toBe(false);
  });
});
