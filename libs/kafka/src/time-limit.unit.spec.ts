import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ended, within } from './time-limit.js';

const never = new Promise<never>(() => undefined);

describe('a time limit', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('fails what nobody settles, and says what it was', async () => {
    const failed = expect(within(never, 100, 'a read')).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringContaining('a read: no answer within 100 ms'),
    });
    await jest.advanceTimersByTimeAsync(100);
    await failed;
  });

  it('lets an answer and an error through, and leaves no timer behind', async () => {
    expect(await within(Promise.resolve('answer'), 100, 'a read')).toBe('answer');
    await expect(within(Promise.reject(new Error('refused')), 100, 'a read')).rejects.toThrow('refused');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends the wait for an ending, whatever becomes of it', async () => {
    const waits = [ended(never), ended(Promise.reject(new Error('gone')))];
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await Promise.all(waits)).toHaveLength(2);
  });
});
