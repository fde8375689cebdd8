import { describe, expect, it } from '@jest/globals';
import { LEG_STEPS } from './leg.cases.js';
import type { LegCase } from './leg.cases.js';
import { permille, problemsOf, takenUpAfterMs, takenUpWithinMs } from './leg.decisions.js';
import type { RunSeen, ToolCall } from './leg.decisions.js';

const LAST_FIRST = Array.from({ length: LEG_STEPS }, (_, index) => LEG_STEPS - index);
const KEYED: LegCase = { kind: 'keyed', step: 4, moment: 'act done' };
const KEYLESS: LegCase = { ...KEYED, kind: 'keyless' };
/** Effect of step 4. */
const STRUCK = 8;

const ended = (other: Readonly<Record<number, string>> = {}): ReadonlyMap<number, string> =>
  new Map(LAST_FIRST.map((effect) => [effect, other[effect] ?? 'compensated']));
const seen = (undone: readonly number[] = LAST_FIRST, acts: readonly number[] = undone): RunSeen => ({
  calls: [],
  acts,
  undone,
  killed: { worker: 1, at: 0 },
});

describe('a run that is at rest', () => {
  it('is right where every effect was undone once, last first, also if a known key came again', () => {
    expect(problemsOf(KEYED, { ...seen(LAST_FIRST, [...LAST_FIRST, STRUCK]), ends: ended() })).toEqual([]);
  });

  it('is wrong where an effect was undone twice', () => {
    const undone = LAST_FIRST.flatMap((effect) => (effect === STRUCK ? [effect, effect] : [effect]));
    expect(problemsOf(KEYED, { ...seen(undone), ends: ended() })).toEqual(['effect 8 was undone 2 times']);
  });

  it('is wrong where an effect is called undone and is not', () => {
    const undone = LAST_FIRST.filter((effect) => effect !== 3);
    expect(problemsOf(KEYED, { ...seen(undone), ends: ended() })).toEqual(['effect 3 is called undone and is not']);
  });

  it('is wrong where an effect has no step', () => {
    const ends = new Map([...ended()].filter(([effect]) => effect !== 5));
    expect(problemsOf(KEYED, { ...seen(), ends })).toEqual(['effect 5 has no step']);
  });

  it('is wrong where the order was another', () => {
    const undone = [LEG_STEPS - 1, LEG_STEPS, ...LAST_FIRST.slice(2)];
    expect(problemsOf(KEYED, { ...seen(undone), ends: ended() })).toEqual([
      'the order of the undo was 10,11,9,8,7,6,5,4,3,2,1',
    ]);
  });
});

describe('a person', () => {
  const ends = ended({ [STRUCK]: 'manual KEY_LIFETIME_OVER' });

  it('is never needed where the tool takes keys', () => {
    expect(problemsOf(KEYED, { ...seen(), ends })).toEqual(['effect 8 ended as manual KEY_LIFETIME_OVER']);
  });

  it('has the step that was struck where nobody can know whether the call arrived', () => {
    expect(problemsOf(KEYLESS, { ...seen(), ends })).toEqual([]);
    const lost = LAST_FIRST.filter((effect) => effect !== STRUCK);
    expect(problemsOf({ ...KEYLESS, moment: 'act asked' }, { ...seen(lost), ends })).toEqual([]);
  });

  it('has no other step, no step before its claim, and none for another reason', () => {
    const other = ended({ 7: 'manual KEY_LIFETIME_OVER' });
    expect(problemsOf(KEYLESS, { ...seen(), ends: other })).toEqual(['effect 7 ended as manual KEY_LIFETIME_OVER']);
    expect(problemsOf({ ...KEYLESS, moment: 'look asked' }, { ...seen(), ends })).toHaveLength(1);
    const changed = ended({ [STRUCK]: 'manual RESOURCE_CHANGED' });
    expect(problemsOf(KEYLESS, { ...seen(), ends: changed })).toHaveLength(1);
  });
});

describe('a tool without keys', () => {
  it('is called once for each effect', () => {
    expect(problemsOf(KEYLESS, { ...seen(LAST_FIRST, [...LAST_FIRST, STRUCK]), ends: ended() })).toEqual([
      'a tool without keys was called again for 8',
    ]);
  });
});

describe('the rest of a leg', () => {
  const call = (worker: number, at: number): ToolCall => ({ call: 'look', effect: 1, worker, at });

  it('is taken up by the first call of another worker', () => {
    expect(takenUpAfterMs([call(1, 90), call(1, 101), call(2, 6_100), call(2, 6_200)], { worker: 1, at: 100 })).toBe(
      6_000,
    );
  });

  it('is taken up by nobody while only the dead one called', () => {
    expect(takenUpAfterMs([call(1, 90), call(1, 101)], { worker: 1, at: 100 })).toBeNull();
  });

  it('has a session and a second to be taken up, and longer only where workers start more slowly', () => {
    expect([[], [1_700, 1_900, 2_000, 9_000], [5_201, 6_000, 900]].map(takenUpWithinMs)).toEqual([7_000, 7_000, 8_601]);
  });
});

describe('a share of times', () => {
  it('is the value that so many are not above', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect([0, 500, 990, 1_000].map((share) => permille(values, share))).toEqual([1, 100, 198, 200]);
    expect(permille([], 500)).toBeNull();
  });
});
