import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { Pulse } from './pulse.js';

const READY = { live: true, ready: true, started: true, detail: { loops: [] } };
const AWAY = new Failure('DATABASE_UNAVAILABLE', 'ping');

describe('a process that owns no partition', () => {
  it('is not ready while its database does not answer, says why, and is ready once it does', async () => {
    let isAway = true;
    const pulse = new Pulse({ ping: () => (isAway ? Promise.reject(AWAY) : Promise.resolve()), isIdle: () => true });
    expect(pulse.over(READY)).toEqual(READY);
    await pulse.beat();
    expect(pulse.over(READY)).toEqual({
      ...READY,
      ready: false,
      detail: { loops: [], in_the_way: { code: 'DATABASE_UNAVAILABLE', detail: 'ping' } },
    });
    isAway = false;
    await pulse.beat();
    expect(pulse.over(READY)).toEqual(READY);
  });

  it('asks once at a time, and leaves it to its loops as soon as it has some', async () => {
    let [asked, isIdle] = [0, true];
    const pulse = new Pulse({
      ping: () => {
        asked += 1;
        return Promise.reject(AWAY);
      },
      isIdle: () => isIdle,
    });
    await Promise.all([pulse.beat(), pulse.beat()]);
    expect(asked).toBe(1);
    isIdle = false;
    expect(pulse.over(READY)).toEqual(READY);
    await pulse.beat();
    isIdle = true;
    expect([asked, pulse.over(READY)]).toEqual([1, READY]);
  });

  it('looks again and again until it is stopped', async () => {
    let asked = 0;
    const heard = Promise.withResolvers<undefined>();
    const ping = (): Promise<void> => {
      asked += 1;
      if (asked === 3) heard.resolve(undefined);
      return Promise.resolve();
    };
    const pulse = new Pulse({ ping, isIdle: () => true, everyMs: 1 });
    pulse.start();
    await heard.promise;
    await pulse.stop();
    expect(asked).toBeGreaterThanOrEqual(3);
  });
});
