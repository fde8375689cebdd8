import { describe, expect, it } from '@jest/globals';
import { nextKill } from './schedule.decisions.js';
import type { RunResult } from './schedule.decisions.js';
import { POINTS_OF, TARGETS } from './targets.js';
import type { Target } from './targets.js';

const run = (target: Target, more: Partial<RunResult> = {}): RunResult => ({
  target,
  point: POINTS_OF[target][0] ?? 'random',
  instances: 1,
  isCounted: true,
  isSound: true,
  recoveredInMs: 1,
  ...more,
});

describe('the schedule of the crash runs', () => {
  it('kills every target before any a second time', () => {
    const done: RunResult[] = [];
    for (
      let kill = nextKill(done, TARGETS, { runs: TARGETS.length, perTarget: 1 });
      kill !== null;
      kill = nextKill(done, TARGETS, { runs: TARGETS.length, perTarget: 1 })
    )
      done.push(run(kill.target, { point: kill.point }));
    expect(done.map(({ target }) => target).sort()).toEqual([...TARGETS].sort());
  });

  it('goes through the moments of a target', () => {
    const done: RunResult[] = [];
    for (const point of POINTS_OF.worker) {
      expect(nextKill(done, ['worker'], { runs: 99, perTarget: 1 })).toEqual({ target: 'worker', point });
      done.push(run('worker', { point }));
    }
  });

  it('goes on while a target has too few runs that count', () => {
    expect(
      nextKill([run('worker'), run('kafka', { isCounted: false })], ['worker', 'kafka'], { runs: 1, perTarget: 1 })
        ?.target,
    ).toBe('kafka');
    expect(nextKill([run('worker'), run('kafka')], ['worker', 'kafka'], { runs: 1, perTarget: 1 })).toBeNull();
  });

  it('gives a target up that never dies in time', () => {
    const vain = Array.from({ length: 24 }, () => run('kafka', { isCounted: false }));
    expect(nextKill(vain, ['kafka'], { runs: 1, perTarget: 1 })).toBeNull();
  });
});
