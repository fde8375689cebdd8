// CPU of processes.
import { describe, expect, it } from '@jest/globals';
import { processCpuOf, secondsOfTree } from './process-cpu.js';

const line = (pid: number, parent: number, name: string, times: string): string =>
  `${String(pid)} (${name}) S ${String(parent)} 1 1 0 -1 4194560 1 2 3 4 ${times} 20 0 1 0 99`;

describe('CPU of processes', () => {
  it('is read from a line, whatever the process is called, with that of ended children', () => {
    expect(processCpuOf(line(7, 3, 'postgres: a (b) c', '100 50 25 25'))).toEqual({ pid: 7, parent: 3, seconds: 2 });
    expect([processCpuOf(''), processCpuOf('7 (node) S')]).toEqual([null, null]);
  });

  it('is that of a process and of all that descend from it, and of none twice', () => {
    const all = [
      line(1, 0, 'init', '900 0 0 0'),
      line(2, 1, 'postgres', '100 0 0 0'),
      line(3, 2, 'backend', '0 200 0 0'),
      line(4, 3, 'more', '0 0 0 300'),
    ].flatMap((one) => processCpuOf(one) ?? []);
    expect([secondsOfTree(all, 2), secondsOfTree(all, 9)]).toEqual([6, 0]);
    expect([secondsOfTree(all, 2, new Set([2, 3])), secondsOfTree(all, 3, new Set([2, 3]))]).toEqual([1, 5]);
  });
});
