import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { EventLogTransport } from './event-log.transport.js';
import { ServiceHost } from './service-host.js';
import type { Trouble } from './running-service.js';
import type { ServiceDatabase } from './service-host.js';

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

function parts({
  databaseFailures = 0,
  keyStoreFailures = 0,
  loopFailure = null as Error | null,
  trouble = (): Trouble | null => null,
  databaseOpens = Promise.resolve(),
  loopStarts = Promise.resolve(),
} = {}) {
  const told: string[] = [];
  const logger = {
    info: (fields: unknown) => told.push(`said: ${String(fields)}`),
    warn: () => undefined,
    error: () => undefined,
  };
  const database: ServiceDatabase = {
    page: () => Promise.resolve({ rows: [], next: null }),
    count: () => Promise.resolve(0),
    commandRow: () => Promise.resolve(null),
    partition: () => {
      throw new Error('not asked');
    },
    ping: () => Promise.resolve(),
    close: () => {
      told.push('database closed');
      return Promise.resolve();
    },
  };
  let failures = databaseFailures;
  let unasked = keyStoreFailures;
  const host = new ServiceHost({
    openDatabase: async () => {
      if (failures > 0) {
        failures -= 1;
        throw new Failure('DATABASE_UNAVAILABLE', 'down');
      }
      await databaseOpens;
      told.push('database opened');
      return database;
    },
    keys: {
      find: () => {
        if (unasked === 0) return Promise.resolve([]);
        unasked -= 1;
        return Promise.reject(new Failure('KEY_STORE_UNAVAILABLE', 'no such host'));
      },
    },
    createRuntime: () => ({
      start: async () => {
        if (loopFailure) throw loopFailure;
        told.push('loop starts');
        await loopStarts;
      },
      stop: () => {
        told.push('loop stopped');
        return Promise.resolve();
      },
      health: () => ({ live: true, ready: true, started: true, detail: {} }),
      projected: () => null,
      view: () => Promise.resolve(null),
    }),
    trouble,
    logger,
    sleep: turn,
  });
  return { host, told };
}

describe('a service', () => {
  it('starts its database, then its loop, and stops them the other way', async () => {
    const { host, told } = parts();
    await host.start();
    expect(host.health()).toMatchObject({ live: true, ready: true, started: true });
    await host.stop();
    expect(host.health().ready).toBe(false);
    expect(told).toEqual(['database opened', 'loop starts', 'said: started', 'loop stopped', 'database closed']);
  });

  it('that is told to stop while its loop starts stops it, then closes its database, and never says that it has started', async () => {
    const { promise: loopStarts, resolve } = Promise.withResolvers<undefined>();
    const { host, told } = parts({ loopStarts });
    const starting = host.start();
    await turn();
    await host.stop();
    const stopped = ['database opened', 'loop starts', 'loop stopped', 'database closed'];
    expect(told).toEqual(stopped);
    resolve(undefined);
    await starting;
    // What the start made in the meantime goes, too.
    expect([told, host.running, host.health().started]).toEqual([[...stopped, 'loop stopped'], null, false]);
  });

  it('that is told to stop while its database opens closes it, and starts no loop', async () => {
    const { promise: databaseOpens, resolve } = Promise.withResolvers<undefined>();
    const { host, told } = parts({ databaseOpens });
    const starting = host.start();
    await host.stop();
    resolve(undefined);
    await starting;
    expect(told).toEqual(['database opened', 'database closed']);
  });

  it('waits for its database, alive and not ready, and says what is in the way', async () => {
    const { host, told } = parts({ databaseFailures: 3 });
    const starting = host.start();
    await expect(host.page({ log: 'l', kind: 'k', where: {}, limit: 1 })).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    await turn();
    expect(host.health()).toMatchObject({ live: true, ready: false, started: false });
    expect(JSON.stringify(host.health().detail)).toContain('DATABASE_UNAVAILABLE');
    await starting;
    expect(told).toContain('loop starts');
  });

  it('that has no way to its key store is not ready though nothing was to be sealed yet, and starts once there is one', async () => {
    const { host, told } = parts({ keyStoreFailures: 1 });
    const starting = host.start();
    await turn();
    expect(host.health()).toEqual({
      live: true,
      ready: false,
      started: false,
      detail: { in_the_way: { code: 'KEY_STORE_UNAVAILABLE', detail: 'no such host' } },
    });
    expect(told).toEqual(['database opened']);
    await starting;
    expect(host.health()).toMatchObject({ ready: true });
  });

  it('gives up where no retry helps, and Nest hears of it', async () => {
    const { host, told } = parts({ loopFailure: new Failure('LOG_CUT', 'short') });
    const heard = await new Promise((resolve) => {
      new EventLogTransport(host).listen(resolve);
    });
    expect(heard).toMatchObject({ code: 'LOG_CUT' });
    await host.stop();
    expect(told).toEqual(['database opened', 'loop stopped', 'database closed']);
  });

  it('ends a start that has not succeeded when it is stopped', async () => {
    const { host } = parts({ databaseFailures: Number.MAX_SAFE_INTEGER });
    const starting = host.start();
    await host.stop();
    await starting;
    expect(host.health().started).toBe(false);
  });

  it('whose key is not believed is not ready before it signs anything, and ready again once it is', async () => {
    let wrong: Failure | null = null;
    const { host } = parts({ trouble: () => wrong });
    await host.start();
    wrong = new Failure('KEY_NOT_BELIEVED', 'revoked');
    expect(host.health()).toMatchObject({
      live: true,
      ready: false,
      detail: { in_the_way: { code: 'KEY_NOT_BELIEVED', detail: 'revoked' } },
    });
    wrong = null;
    expect(host.health()).toMatchObject({ ready: true, detail: {} });
  });

  it('goes on with the keyring of before where its file is broken, and says so', async () => {
    const { host } = parts({ trouble: () => new Failure('KEYRING_INVALID', 'keyring.json: /keys must be there') });
    await host.start();
    expect(host.health()).toMatchObject({ ready: true, detail: { in_the_way: { code: 'KEYRING_INVALID' } } });
  });

  it('runs without the keys of its token issuer, is not ready as it lets nobody in, and says so', async () => {
    const { host, told } = parts({ trouble: () => new Failure('ISSUER_UNAVAILABLE', 'no such host') });
    await host.start();
    expect(told).toContain('loop starts');
    expect(host.health()).toMatchObject({ ready: false, detail: { in_the_way: { code: 'ISSUER_UNAVAILABLE' } } });
  });

  it('runs while nobody can say whose an account is, is not ready as it lets nobody in, and says so', async () => {
    const { host } = parts({ trouble: () => ({ code: 'DIRECTORY_UNAVAILABLE', detail: 'no such file' }) });
    await host.start();
    expect(host.health()).toMatchObject({ ready: false, detail: { in_the_way: { code: 'DIRECTORY_UNAVAILABLE' } } });
  });
});
