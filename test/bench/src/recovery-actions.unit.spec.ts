import { describe, expect, it } from '@jest/globals';
import { isLastFirst, putExecution, RECOVERY_CONTRACTS, thingName, thingOf } from './recovery-actions.js';

const DIGEST = Buffer.alloc(32, 1);

describe('the effects that the recovery benches take back', () => {
  it('are told apart by run and place', () => {
    const ids = [
      [0, 0],
      [0, 1],
      [1, 0],
    ].map(([run = 0, index = 0]) => putExecution({ run: `run_${String(run)}`, index }, DIGEST, 5));
    expect(new Set(ids.map(({ event_id }) => event_id)).size).toBe(3);
    expect(new Set(ids.map(({ run_id, effect_key }) => `${run_id} ${effect_key}`)).size).toBe(3);
  });

  it('rely on a ref only where one is given', () => {
    expect(putExecution({ run: 'r', index: 0 }, DIGEST, 5).assumption_refs).toEqual([]);
    expect(putExecution({ run: 'r', index: 0 }, DIGEST, 5, 'a/b#c').assumption_refs).toEqual(['a/b#c']);
  });

  it('are found again by the name their thing has at the tool', () => {
    expect(thingOf(thingName({ run: 'at16_3', index: 10 }))).toEqual({ run: 'at16_3', index: 10 });
  });

  it("need nobody's consent, and another capability looks", () => {
    const put = RECOVERY_CONTRACTS.find(({ name }) => name === 'bench.put_thing');
    expect(put).toMatchObject({
      recovery_approval_mode: 'auto',
      impact: 'write',
      compensation_capability: 'bench.take_back_thing',
      verification: { verify_capability: 'bench.look_at_thing' },
    });
  });
});

describe('the order at the tool', () => {
  it('is last first when each was taken back once, from the last to the first', () => {
    expect(isLastFirst([2, 1, 0], 3)).toBe(true);
  });

  it.each([[[2, 0, 1]], [[2, 1]], [[2, 1, 1, 0]], [[]]])('is not when it was %p of three', (taken) => {
    expect(isLastFirst(taken, 3)).toBe(false);
  });
});
