// What moved is read again, without ever breaking off a reading.
import { describe, expect, it } from '@jest/globals';
import { Readings } from './readings.js';

/** Readings that end when the spec says so. */
function desk(isUnderWay: () => boolean = () => false) {
  const ends: (() => void)[] = [];
  const readings = new Readings({
    read: () => new Promise<void>((resolve) => ends.push(resolve)),
    isUnderWay,
    pause: () => Promise.resolve(),
  });
  const end = async (): Promise<void> => {
    ends.at(-1)?.();
    await new Promise(setImmediate);
  };
  return { readings, begun: () => ends.length, end };
}

describe('a thing that moved', () => {
  it('is read at once, and once more when it moved while it was read, however often', async () => {
    const { readings, begun, end } = desk();
    readings.moved('runs');
    expect(begun()).toBe(1);
    readings.moved('runs');
    readings.moved('runs');
    expect(begun()).toBe(1);
    await end();
    expect(begun()).toBe(2);
    await end();
    expect(begun()).toBe(2);
    readings.moved('runs');
    expect(begun()).toBe(3);
  });

  it('is read once more where somebody was reading it from before it moved', async () => {
    let isUnderWay = true;
    const { readings, begun, end } = desk(() => isUnderWay);
    readings.moved('runs');
    isUnderWay = false;
    await end();
    expect(begun()).toBe(2);
    await end();
    expect(begun()).toBe(2);
  });
});
