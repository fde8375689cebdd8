import { describe, expect, it } from '@jest/globals';
import { Limits } from './limits.js';
import { networkOf } from './network.decisions.js';
import { EdgeRefusal } from './problem.js';
import { filled, waitFor } from './rate.decisions.js';

const RATES = {
  address: { burst: 6, perSecond: 2 },
  principal: { burst: 3, perSecond: 1 },
  badTokens: { burst: 2, perSecond: 0.1 },
};

/** Seconds until one may ask again; 0 where it was let through. */
function held(ask: () => void): number {
  try {
    ask();
    return 0;
  } catch (error) {
    if (error instanceof EdgeRefusal && error.code === 'TOO_MANY_REQUESTS') return error.retryAfterS ?? -1;
    throw error;
  }
}

function scene() {
  let now = 0;
  const limits = new Limits(RATES, () => now);
  return { limits, pass: (seconds: number) => (now += seconds * 1_000) };
}

describe('a rate', () => {
  it('lets as many through at once as it says, then as many as time brings', () => {
    const rate = { burst: 2, perSecond: 4 };
    expect(filled(undefined, rate, 5)).toEqual({ left: 2, at: 5 });
    expect(waitFor({ left: 0, at: 0 }, rate)).toBe(250);
    expect(waitFor(filled({ left: 0, at: 0 }, rate, 250), rate)).toBe(0);
    expect(filled({ left: 0, at: 0 }, rate, 10_000)).toEqual({ left: 2, at: 10_000 });
    expect(filled({ left: 1, at: 500 }, rate, 0)).toEqual({ left: 1, at: 0 });
  });
});

describe('whoever asks too often', () => {
  it('is held by their name, from whichever address, and told until when', () => {
    const { limits, pass } = scene();
    const ask = (who: string) =>
      held(() => {
        limits.tokenTaken(who, 'Bearer a');
      });
    expect([ask('olga'), ask('olga'), ask('olga'), ask('olga'), ask('pia')]).toEqual([0, 0, 0, 1, 0]);
    pass(1);
    expect([ask('olga'), ask('olga')]).toEqual([0, 1]);
  });

  it('is held by their address, whoever they are', () => {
    const { limits, pass } = scene();
    const ask = (address: string) =>
      held(() => {
        limits.beforeToken(address, undefined);
      });
    expect(Array.from({ length: 7 }, () => ask('10.0.0.1'))).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect(ask('10.0.0.2')).toBe(0);
    pass(1);
    expect(ask('10.0.0.1')).toBe(0);
  });
});

describe('an address', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:a00:1', '10.0.0.1'],
    ['0:0:0:0:0:ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', ''],
  ])('%s counts as %s', (address, counted) => {
    expect(networkOf(address)).toBe(counted);
  });

  it('of IPv6 counts with all of its network: a new one for every request is held, too', () => {
    const { limits } = scene();
    const ask = (address: string) =>
      held(() => {
        limits.beforeToken(address, undefined);
      });
    const answers = Array.from({ length: 7 }, (_, at) => ask(`2001:db8:1:2::${String(at)}`));
    expect(answers).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect([ask('2001:db8:1:3::1'), ask('::ffff:10.0.0.1')]).toEqual([0, 0]);
  });

  it('of IPv6 is slowed for tokens that are none of all of its network', () => {
    const { limits } = scene();
    for (const at of [1, 2]) limits.tokenRefused(`2001:db8:1:2::${String(at)}`, undefined);
    const wait = held(() => {
      limits.beforeToken('2001:db8:1:2::3', undefined);
    });
    expect(wait).toBe(10);
  });
});

describe('a flood of tokens that are none', () => {
  it('is slowed before they are verified, and those that were good go on', () => {
    const { limits, pass } = scene();
    const bad = (address = '10.0.0.1') =>
      held(() => {
        limits.beforeToken(address, 'Bearer bad');
        limits.tokenRefused(address, 'Bearer bad');
      });
    limits.tokenTaken('olga', 'Bearer good');
    expect([bad(), bad(), bad(), bad('10.0.0.2')]).toEqual([0, 0, 10, 0]);
    const good = () =>
      held(() => {
        limits.beforeToken('10.0.0.1', 'Bearer good');
      });
    expect(good()).toBe(0);
    limits.tokenRefused('10.0.0.1', 'Bearer good');
    expect(good()).toBe(10);
    pass(10);
    expect(bad()).toBe(0);
  });

  it('from ever new addresses is remembered within bounds', () => {
    const { limits } = scene();
    for (let at = 0; at < 30_000; at += 1) limits.tokenRefused(`10.${String(at)}`, undefined);
    expect(
      held(() => {
        limits.beforeToken('10.0', undefined);
      }),
    ).toBe(0);
  });
});
