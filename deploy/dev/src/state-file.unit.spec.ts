import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isRunning, identify, killGroup } from '../../../scripts/lib/identity.mjs';
import { judgeLock } from '../../../scripts/lib/lock.mjs';
import { EMPTY_STATE, leftoversOf, type StackState } from './state-file.js';

const launcher = { pid: 100, started: 'boot:1' };
const nobodyRuns = (): boolean => false;
const everybodyRuns = (): boolean => true;

describe('the lock of a data directory', () => {
  it('is free when nobody holds it or its file is torn', () => {
    expect(judgeLock(null, everybodyRuns, 1)).toBe('free');
  });

  it('is busy while its launcher lives', () => {
    expect(judgeLock(launcher, everybodyRuns, 1)).toBe('busy');
  });

  it('is stale once its launcher is gone', () => {
    expect(judgeLock(launcher, nobodyRuns, 1)).toBe('stale');
  });

  it('is stale when the pid belongs to a process that started later', () => {
    const runs = (identity: { readonly started: string }): boolean => identity.started === 'boot:2';
    expect(judgeLock(launcher, runs, 1)).toBe('stale');
  });

  it('tells the own process from another one', () => {
    expect(judgeLock(launcher, everybodyRuns, 100)).toBe('own');
  });
});

describe('a lock that is taken', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'recourse-lock-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('is one for all that start at one moment', async () => {
    const lock = resolve('scripts/lib/lock.mjs');
    const taking = `const { takeLock } = await import(${JSON.stringify(lock)});
      while (Date.now() < Number(process.argv[1]));
      try { takeLock(${JSON.stringify(folder)}); console.log('taken'); } catch (cause) { console.log(cause.name); }
      process.stdin.resume();`;
    const at = String(Date.now() + 700);
    const started = Array.from({ length: 6 }, () => spawn(process.execPath, ['--input-type=module', '-e', taking, at]));
    const told = await Promise.all(started.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    // None ends before all have said: the lock of one that ended is anybody's.
    await Promise.all(
      started.map((one) => {
        one.stdin.end();
        return once(one, 'close');
      }),
    );
    expect(told.filter((one) => one === 'taken')).toEqual(['taken']);
    expect(readdirSync(folder)).toEqual(['launcher.lock']);
  });
});

describe('the children of a killed launcher', () => {
  const kafka = { name: 'kafka', pid: 7, started: 'boot:10' };
  const postgres = { name: 'postgres', pid: 8, started: 'boot:11' };
  const state: StackState = { ...EMPTY_STATE, launcher, children: [kafka, postgres] };

  it('are those that still run', () => {
    expect(leftoversOf(state, ({ pid }) => pid === 8)).toEqual([postgres]);
  });

  it('are nobody when the pids were recycled', () => {
    const startOf: Readonly<Record<number, string>> = { 7: 'boot:99', 8: 'boot:98' };
    expect(leftoversOf(state, ({ pid, started }) => startOf[pid] === started)).toEqual([]);
  });
});

describe('the identity of a process', () => {
  it('is the same at every look', () => {
    const self = identify(process.pid);
    expect(self).not.toBeNull();
    expect(self !== null && isRunning(self)).toBe(true);
  });

  it('does not match a pid with another start, and such a pid is never killed', () => {
    const recycled = { pid: process.pid, started: 'another start' };
    expect(isRunning(recycled)).toBe(false);
    expect(killGroup(recycled, 'SIGKILL')).toBe(false);
  });
});
