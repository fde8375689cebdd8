import { describe, expect, it } from '@jest/globals';
import { commitBefore, PASSED_MAX } from './state-before.js';

describe('the state a gate saw', () => {
  const ref = (id: string) => ({ run_id: 'run-1', commit_id: id });
  const whole = { base_id: null };

  it('is that of the newest parent of the run with a state, and of the base where the state is a delta', () => {
    const steps: Readonly<
      Record<string, { hasState: boolean; parents: readonly ReturnType<typeof ref>[]; seq: number }>
    > = {
      a: { hasState: true, parents: [], seq: 1 },
      b: { hasState: true, parents: [ref('a')], seq: 2 },
      c: { hasState: false, parents: [ref('b'), ref('c')], seq: 3 },
    };
    const before = (parents: readonly ReturnType<typeof ref>[], state: { base_id: string | null } | null = whole) =>
      commitBefore({ run_id: 'run-1', parents, state }, (id) => steps[id]);
    expect([
      before([ref('b'), ref('a')]),
      before([ref('c'), ref('a')]).commitId,
      before([{ run_id: 'run-2', commit_id: 'a' }]).commitId,
      before([ref('a'), ref('b')], { base_id: 'a' }).commitId,
    ]).toEqual([{ commitId: 'b', passed: [], isTooFar: false }, 'b', null, 'a']);
  });

  it('is not looked for beyond so many steps', () => {
    const before = commitBefore({ run_id: 'run-1', parents: [ref('0')], state: null }, (id) => ({
      hasState: false,
      parents: [ref(String(Number(id) + 1))],
      seq: 0,
    }));
    expect([before.isTooFar, before.passed.length]).toEqual([true, PASSED_MAX]);
  });
});
