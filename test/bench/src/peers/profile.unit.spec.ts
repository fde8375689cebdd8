// Where a process spends its time.
import { describe, expect, it } from '@jest/globals';
import { packageOf, selfTimes, tableOfProfile } from './profile.js';
import type { CpuProfile } from './profile.js';

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 1 });
const OURS = 'file:///somewhere/libs/event-log/dist/vault.js';
const profile: CpuProfile = {
  startTime: 1_000,
  nodes: [
    { id: 1, callFrame: frame('(root)', ''), children: [2, 5, 6] },
    { id: 2, callFrame: frame('open', OURS), children: [3] },
    { id: 3, callFrame: frame('createHmac', 'node:internal/crypto/hash'), children: [4] },
    { id: 4, callFrame: frame('update', '') },
    { id: 5, callFrame: frame('(idle)', '') },
    { id: 6, callFrame: frame('(garbage collector)', '') },
  ],
  samples: [2, 3, 4, 5, 6, 2],
  timeDeltas: [0, 10, 20, 30, 40, 50],
};
const ALWAYS = [{ from: 0, to: 1e9 }];

describe('a profile', () => {
  it('is summed by package, native code with who called it, and idle time left out', () => {
    const { packages, functions } = selfTimes(profile, ALWAYS);
    expect(packages).toEqual([
      { name: 'node:internal/crypto', us: 50 },
      { name: '(garbage collector)', us: 50 },
      { name: 'libs/event-log', us: 10 },
    ]);
    expect(functions).toContainEqual({ name: 'libs/event-log vault.js open', us: 10 });
    expect(functions).toContainEqual({ name: 'node:internal/crypto update', us: 30 });
  });

  it('is charged to who called Node', () => {
    expect(selfTimes(profile, ALWAYS).callers).toEqual([
      { name: 'libs/event-log', us: 60 },
      { name: '(garbage collector)', us: 50 },
    ]);
  });

  it('counts what is inside the windows', () => {
    expect(selfTimes(profile, [{ from: 1_000, to: 1_010 }]).packages).toEqual([{ name: 'libs/event-log', us: 10 }]);
    expect(selfTimes(profile, []).packages).toEqual([]);
  });

  it('names packages of npm, folders of ours and modules of Node', () => {
    expect(packageOf('file:///x/node_modules/@scope/a/lib/b.js', 'f')).toBe('@scope/a');
    expect(packageOf('/x/node_modules/a/node_modules/b/c.js', 'f')).toBe('b');
    expect(packageOf('file:///x/apps/mutation-ledger/dist/main.js', 'f')).toBe('apps/mutation-ledger');
    expect(packageOf('node:internal/streams/writable', 'f')).toBe('node:internal/streams');
    expect(packageOf('', '(program)')).toBe('(program)');
    expect(packageOf('', 'encode')).toBe('(native)');
  });

  it('is told in milliseconds a run', () => {
    const table = tableOfProfile({ name: 'ledger', runs: 1, cpuMs: 2 }, selfTimes(profile, ALWAYS));
    expect(table).toContain('ledger: 2.0 ms of CPU a run');
    expect(table).toContain('0.05 ms  45.5 %  node:internal/crypto');
  });
});
