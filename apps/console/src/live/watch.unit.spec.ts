// How often services are looked at.
import { describe, expect, it } from '@jest/globals';
import type { Positions } from './positions.js';
import { pauseAfter, REFUSED, Watch } from './watch.js';

const edges = { contracts: 'c', ledger: 'l', recoveries: 'r', budgets: 'b', notifier: 'n' };
const STATUS = { ready: true, detail: { loops: [{ log: 'a', partition: 0, movedSeq: 7, state: 'ready' }] } };

describe('the pause between two looks', () => {
  it('is as long as is set, and as long as a look took where services are slow', () => {
    expect([pauseAfter(5, 100), pauseAfter(1_500, 100)]).toEqual([100, 1_500]);
  });
});

describe('a token that services do not take', () => {
  it('blinds nobody, whoever came first and however many they are: another one is asked with', async () => {
    const asked: string[] = [];
    const ask = (_address: string, token: string): Promise<unknown> => {
      asked.push(token);
      return Promise.resolve(token === 'good' ? STATUS : REFUSED);
    };
    const watch = new Watch({ edges, ask, everyMs: 1 });
    const leaving = ['none', 'expired', 'held', 'revoked'].map((token) => watch.add({ token, tell: () => undefined }));
    const told = await new Promise<Positions>((resolve) => {
      const tell = (positions: Positions): void => {
        if (positions.ledger !== null) resolve(positions);
      };
      leaving.push(watch.add({ token: 'good', tell }));
    });
    expect(Object.values(told)).toEqual(Object.keys(edges).map(() => ({ 'a/0': 7 })));
    for (const leave of leaving) leave();
    expect(asked.slice(0, 5)).not.toContain('good');
  }, 2_000);

  it('is not what a service is called away for that answered others before', async () => {
    const tokens = new Set(['good']);
    const ask = (_address: string, token: string): Promise<unknown> =>
      Promise.resolve(tokens.has(token) ? STATUS : REFUSED);
    const watch = new Watch({ edges, ask, everyMs: 1 });
    const told: Positions[] = [];
    const leave = watch.add({ token: 'good', tell: (positions) => void told.push(positions) });
    while (told.length < 2) await new Promise((resolve) => setImmediate(resolve));
    tokens.clear();
    const looks = told.length;
    while (told.length < looks + 3) await new Promise((resolve) => setImmediate(resolve));
    leave();
    expect(told.at(-1)?.ledger).toEqual({ 'a/0': 7 });
  }, 2_000);
});
