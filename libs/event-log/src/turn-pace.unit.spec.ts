import { afterEach, describe, expect, it } from '@jest/globals';
import { TurnPace } from './loop-memory.js';
import { countingCore, LoopWorld } from './loop.testing.js';

function paceAfter(...turns: readonly (readonly [inputs: number, ms: number, bytes: number])[]): TurnPace {
  const pace = new TurnPace();
  for (const [inputs, ms, bytes] of turns) pace.learn({ inputs, ms, bytes });
  return pace;
}

describe('the pace of turns', () => {
  it('takes all there is while nothing is known', () => {
    expect(paceAfter().inputs(500, 500)).toBe(500);
  });

  it.each([
    ['cheap inputs', [100, 1, 0], 500],
    ['inputs of 0.2 ms', [100, 20, 0], 60],
    ['inputs of 30 ms', [2, 60, 0], 1],
  ] as const)('takes about 12 ms of %s', (_, turn, inputs) => {
    expect(paceAfter(turn).inputs(500, 1)).toBe(inputs);
  });

  it.each([
    ['half of a backlog', 40, 20],
    ['what 12 ms hold where that is more', 10, 6],
    ['what 150 ms hold of any', 5_000, 75],
  ] as const)('takes %s', (_, waiting, inputs) => {
    expect(paceAfter([10, 20, 0]).inputs(500, waiting)).toBe(inputs);
  });

  it('takes no more than a batch may hold', () => {
    expect(paceAfter([1_000, 10, 0]).inputs(500, 20_000)).toBe(500);
  });

  it('follows what turns cost now, and is not thrown by one', () => {
    const cheap = [100, 2, 0] as const;
    expect(paceAfter(cheap, cheap, cheap, cheap, [1, 20, 0]).inputs(500, 1)).toBeGreaterThan(100);
    const dear = [10, 20, 0] as const;
    expect(paceAfter(cheap, ...Array.from({ length: 20 }, () => dear)).inputs(500, 1)).toBe(6);
  });

  it('makes parts of some 64 KB', () => {
    expect(paceAfter().partInputs()).toBe(16);
    expect(paceAfter([100, 1, 64_000]).partInputs()).toBe(100);
    expect(paceAfter([2, 1, 800_000]).partInputs()).toBe(1);
  });
});

describe('a loop whose inputs are dear', () => {
  const { decide } = countingCore();
  /** Above what a turn takes while little waits: one input each. */
  const DEAR_MS = 15;
  const BACKLOG = 40;
  const dear = countingCore({
    decide: (context, input) => {
      for (const until = performance.now() + DEAR_MS; performance.now() < until;);
      return decide(context, input);
    },
  });
  const world = new LoopWorld(dear);

  afterEach(() => world.stop());

  it('makes few batches of a backlog', async () => {
    const stated = (from: number, count: number): Promise<void> =>
      world.state(Array.from({ length: count }, (_, at) => ({ ref: 'r1', id: String(from + at) })));
    const until = (count: number): Promise<void> =>
      world.until('all are there', async () => (await world.statements()).length === count);
    await world.prepare();
    const runtime = await world.start('a');
    await world.until('it goes', () => runtime.health().ready);
    await stated(0, 3);
    await until(3);
    const before = world.events.length;
    await stated(3, BACKLOG);
    await until(3 + BACKLOG);
    const batches = world.events.slice(before).filter(({ kind }) => kind === 'appended').length;
    expect(batches).toBeLessThanOrEqual(BACKLOG / 2);
  });
});
