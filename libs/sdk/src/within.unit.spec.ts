import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { within } from './within.js';

/** A clock that counts the alarms that may still ring. */
class CountingClock extends ManualClock {
  open = 0;
  override alarm(ms: number, ring: () => void): () => void {
    this.open += 1;
    const callOff = super.alarm(ms, ring);
    return () => {
      this.open -= 1;
      callOff();
    };
  }
}

describe('a call that may take so long', () => {
  it('is given up then, and not before', async () => {
    const clock = new CountingClock();
    const answer = within(clock, 100, new Promise<string>(() => undefined), 'late');
    let isOver = false;
    void answer.then(() => {
      isOver = true;
    });
    await clock.advance(99);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect([await answer, clock.open]).toEqual(['late', 0]);
  });

  it('leaves no alarm behind when it answers or fails', async () => {
    const clock = new CountingClock();
    expect(await within(clock, 100, Promise.resolve('in time'), 'late')).toBe('in time');
    await expect(within(clock, 100, Promise.reject(new Error('refused')), 'late')).rejects.toThrow('refused');
    expect(clock.open).toBe(0);
  });

  it('is waited for where no time is set', async () => {
    const clock = new CountingClock();
    expect([await within(clock, undefined, Promise.resolve('at last'), 'late'), clock.open]).toEqual(['at last', 0]);
  });
});
