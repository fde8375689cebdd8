import { describe, expect, it } from '@jest/globals';
import { codeOfAttempt, judgeAttempt } from './attempt.decisions.js';
import type { Attempted } from './attempt.decisions.js';
import { ATTEMPT_CODES, DELIVERY_EVENTS, DELIVERY_STATES } from './delivery.messages.js';
import { DELIVERY_AFTER, DELIVERY_ENDS, deliveryAfter } from './delivery.transitions.js';

const POLICY = { backoff: { baseMs: 1_000, maxMs: 60_000 }, giveUpMs: 3_600_000 };
const NOW = 1_000_000;
const delivery = (attempts = 1, dueAt = NOW) => ({ id: 'msg_1', attempts, dueAt });
const answered = (httpStatus: number, retryAfterMs: number | null = null): Attempted => ({
  kind: 'answered',
  httpStatus,
  retryAfterMs,
});

describe('an attempt', () => {
  it.each([200, 202, 204, 299])('that is answered %i has delivered', (status) => {
    expect(judgeAttempt(delivery(), answered(status), POLICY, NOW)).toMatchObject({ event: 'Delivered', error: null });
  });

  it.each([
    [301, 'REDIRECTED'],
    [307, 'REDIRECTED'],
    [400, 'REFUSED'],
    [404, 'REFUSED'],
    [429, 'THROTTLED'],
    [500, 'SERVER_ERROR'],
    [503, 'SERVER_ERROR'],
  ])('that is answered %i is tried again: %s', (status, code) => {
    expect(judgeAttempt(delivery(), answered(status), POLICY, NOW)).toMatchObject({
      event: 'Failed',
      error: { code, httpStatus: status },
      closesEndpoint: false,
    });
  });

  it('that nobody answered is tried again', () => {
    expect(judgeAttempt(delivery(), { kind: 'failed', code: 'TIMEOUT' }, POLICY, NOW)).toMatchObject({
      event: 'Failed',
      error: { code: 'TIMEOUT', httpStatus: null },
    });
  });

  it('that is answered 410 turns the endpoint off and keeps the delivery, however late', () => {
    expect(judgeAttempt(delivery(9, 0), answered(410), { ...POLICY, giveUpMs: 1 }, NOW)).toMatchObject({
      event: 'Failed',
      closesEndpoint: true,
    });
  });

  it('waits twice as long each time, up to the longest wait, between half and the whole of it', () => {
    for (const [attempts, step] of [
      [1, 1_000],
      [2, 2_000],
      [5, 16_000],
      [12, 60_000],
    ] as const) {
      const { nextAt } = judgeAttempt(delivery(attempts), answered(500), POLICY, NOW);
      expect(nextAt - NOW).toBeGreaterThanOrEqual(step / 2);
      expect(nextAt - NOW).toBeLessThanOrEqual(step);
    }
  });

  it('waits equally long wherever it is judged, and differently by id', () => {
    const wait = (id: string): number => judgeAttempt({ ...delivery(4), id }, answered(500), POLICY, NOW).nextAt;
    expect([wait('msg_1') === wait('msg_1'), new Set(['a', 'b', 'c', 'd'].map(wait)).size]).toEqual([true, 4]);
  });

  it('waits as long as the receiver asks for, and not for ever', () => {
    expect(judgeAttempt(delivery(), answered(429, 90_000), POLICY, NOW).nextAt).toBe(NOW + 90_000);
    expect(judgeAttempt(delivery(), answered(429, 9e12), { ...POLICY, giveUpMs: 9e9 }, NOW).nextAt).toBe(
      NOW + 86_400_000,
    );
  });

  it('is the last when another one would come too late', () => {
    expect(judgeAttempt(delivery(3, NOW - POLICY.giveUpMs), answered(500), POLICY, NOW).event).toBe('GivenUp');
    expect(judgeAttempt(delivery(3, NOW - POLICY.giveUpMs), answered(200), POLICY, NOW).event).toBe('Delivered');
  });

  it('has a code of the list for whatever came of it', () => {
    for (let status = 100; status < 600; status += 1)
      expect([null, ...ATTEMPT_CODES]).toContain(codeOfAttempt(answered(status)));
  });
});

describe('the life of a delivery', () => {
  it('ends where nothing but the truth about a late attempt changes it', () => {
    const ends = DELIVERY_STATES.filter((state) =>
      DELIVERY_EVENTS.every((event) => {
        const next = DELIVERY_AFTER[state][event];
        return next === null || next === state || next === 'delivered';
      }),
    );
    expect(ends).toEqual(DELIVERY_ENDS);
  });

  it('reaches every state from queued, and can end from each', () => {
    const reached = new Set(['queued', ...DELIVERY_EVENTS.map((event) => DELIVERY_AFTER.queued[event])]);
    expect([...reached].sort()).toEqual([...DELIVERY_STATES].sort());
    for (const state of DELIVERY_STATES) expect(DELIVERY_AFTER[state].Delivered).toBe('delivered');
  });

  it('refuses history that cannot exist', () => {
    expect(() => deliveryAfter('delivered', 'Retried')).toThrow('Retried in delivered');
  });
});
