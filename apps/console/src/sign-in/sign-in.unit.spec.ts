// What strangers and one person can ask of the console without taking anything from others.
import { describe, expect, it } from '@jest/globals';
import { Sessions } from './sessions.js';
import { SIGN_IN_MS, SignInSeal } from './sign-in-cookie.js';
import { pathOf } from './sign-in.routes.js';

const BEGUN = { state: 's', nonce: 'n', verifier: 'v', then: '/runs' };

describe('a sign-in that is under way', () => {
  it('is carried by its browser, and ends', () => {
    let now = 1_000;
    const seal = new SignInSeal(() => now);
    const carried = seal.seal(BEGUN);
    expect(seal.open(carried)).toEqual({ ...BEGUN, endsAt: 1_000 + SIGN_IN_MS });
    now += SIGN_IN_MS;
    expect(seal.open(carried)).toBe(null);
  });

  it.each([
    ['nothing', () => undefined],
    ['a word', () => 'word'],
    ['another process sealed', () => new SignInSeal().seal(BEGUN)],
    ['was altered', (carried: string) => `${carried.slice(0, -2)}AA`],
  ])('is nobody’s where what comes back is what %s', (_what, back) => {
    const seal = new SignInSeal();
    expect(seal.open(back(seal.seal(BEGUN)))).toBe(null);
  });

  it('fits into a cookie, however long the place it came from', () => {
    const longest = pathOf(`/${'x'.repeat(999)}`);
    expect([longest.length, pathOf(`/${'x'.repeat(1_000)}`), pathOf(`/${'ä'.repeat(300)}`)]).toEqual([1_000, '/', '/']);
    const word = 's'.repeat(64);
    const carried = new SignInSeal().seal({ state: word, nonce: word, verifier: word, then: longest });
    expect(carried.length).toBeLessThan(4_000);
  });
});

describe('sessions', () => {
  const mallory = { subject: 'mallory', tenant: 'demo', roles: ['viewer'] };
  const olga = { subject: 'olga', tenant: 'globex', roles: ['approver'] };

  it('of one person take no place from anybody else, however often they sign in', () => {
    const sessions = new Sessions();
    const { id } = sessions.open(olga, 't', 60_000);
    const namesake = sessions.open({ ...mallory, tenant: 'globex' }, 't', 60_000);
    const first = sessions.open(mallory, 't', 60_000);
    const others = Array.from({ length: 20 }, () => sessions.open(mallory, 't', 60_000));
    expect(sessions.find(first.id)).toBe(null);
    expect([id, namesake.id, ...others.map((one) => one.id)].filter((one) => sessions.find(one) === null)).toEqual([]);
  });
});
