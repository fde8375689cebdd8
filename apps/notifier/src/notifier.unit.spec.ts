import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { Notifier } from './notifier.js';
import type { NotifierOptions } from './notifier.js';

const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
};

function notifier(more: Partial<NotifierOptions>): Notifier {
  return new Notifier({
    followers: [],
    senders: [],
    store: { prune: () => Promise.resolve() },
    look: () => Promise.resolve(),
    keepMs: 1_000,
    now: () => 5_000,
    onTrouble: () => undefined,
    news: () => Promise.resolve(),
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        setImmediate(resolve);
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
    ...more,
  });
}

describe('the notifier', () => {
  it('sends nothing before every log was read to its end', async () => {
    const held = Promise.withResolvers<number>();
    let sent = 0;
    const one = notifier({
      followers: [
        { name: 'quick', follower: { readOn: () => Promise.resolve(0) } },
        { name: 'slow', follower: { readOn: () => held.promise } },
      ],
      senders: [
        {
          name: 'chat',
          sender: {
            sendDue: () => {
              sent += 1;
              return Promise.resolve(0);
            },
          },
        },
      ],
    });
    one.start();
    await turns();
    expect([sent, one.health().ready]).toEqual([0, false]);
    held.resolve(0);
    await turns();
    expect([sent > 0, one.health().ready]).toEqual([true, true]);
    await one.stop();
    expect(one.health().ready).toBe(false);
  });

  it('sends what is due though a log cannot be read on until a person does something, and says so', async () => {
    let sent = 0;
    const one = notifier({
      followers: [
        { name: 'good', follower: { readOn: () => Promise.resolve(0) } },
        { name: 'broken', follower: { readOn: () => Promise.reject(new Failure('LOG_FRONT_CUT', 'gone')) } },
      ],
      senders: [{ name: 'chat', sender: { sendDue: () => Promise.resolve((sent += 1) * 0) } }],
    });
    one.start();
    await turns();
    const in_the_way = { code: 'LOG_FRONT_CUT', detail: 'broken: gone' };
    expect([sent > 0, one.health(), one.loop('broken').state]).toEqual([
      true,
      { ready: false, trouble: { broken: 'LOG_FRONT_CUT' }, in_the_way },
      'waiting',
    ]);
    await one.stop();
  });

  it.each(['BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE'] as const)(
    'waits with that while it is only %s',
    async (code) => {
      let sent = 0;
      const one = notifier({
        followers: [{ name: 'log', follower: { readOn: () => Promise.reject(new Failure(code, 'away')) } }],
        senders: [{ name: 'chat', sender: { sendDue: () => Promise.resolve((sent += 1) * 0) } }],
      });
      one.start();
      await turns();
      expect(sent).toBe(0);
      await one.stop();
    },
  );

  it('sends nothing while a log is read anew', async () => {
    const held = Promise.withResolvers<number>();
    let [sent, reads] = [0, 0];
    const readOn = (onAnew?: () => void): Promise<number> => {
      reads += 1;
      if (reads !== 2) return Promise.resolve(0);
      onAnew?.();
      sent = 0;
      return held.promise;
    };
    const one = notifier({
      followers: [{ name: 'log', follower: { readOn } }],
      senders: [{ name: 'chat', sender: { sendDue: () => Promise.resolve((sent += 1) * 0) } }],
    });
    one.start();
    await turns();
    expect([reads, sent, one.loop('log').state]).toEqual([2, 0, 'catching_up']);
    held.resolve(0);
    await turns();
    expect([sent > 0, one.health().ready]).toEqual([true, true]);
    await one.stop();
  });

  it('looks at a log that was quiet again when there are news, or after a second', async () => {
    let looks = 0;
    const news = Promise.withResolvers<undefined>();
    const second = Promise.withResolvers<undefined>();
    const one = notifier({
      followers: [
        {
          name: 'quiet',
          follower: {
            readOn: () => {
              looks += 1;
              return Promise.resolve(0);
            },
          },
        },
      ],
      sleep: (ms) => (ms === 200 ? turns(1) : second.promise),
      news: () => (looks === 1 ? news.promise : new Promise(() => undefined)),
    });
    one.start();
    await turns();
    expect(looks).toBe(1);
    news.resolve(undefined);
    await turns();
    expect(looks).toBe(2);
    const stopping = one.stop();
    second.resolve(undefined);
    await stopping;
    expect(looks).toBe(2);
  });

  it('says which loop is in trouble, and goes on with it and all others', async () => {
    let tries = 0;
    let sent = 0;
    const troubles: string[] = [];
    const patience = Promise.withResolvers<undefined>();
    const one = notifier({
      // The pause after a failure is the longer one.
      sleep: (ms) =>
        ms === 1_000
          ? patience.promise
          : new Promise((resolve) => {
              setImmediate(resolve);
            }),
      followers: [{ name: 'log', follower: { readOn: () => Promise.resolve(0) } }],
      senders: [
        {
          name: 'broken',
          sender: {
            sendDue: () => {
              tries += 1;
              return tries < 3 ? Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'gone')) : Promise.resolve(0);
            },
          },
        },
        {
          name: 'chat',
          sender: {
            sendDue: () => {
              sent += 1;
              return Promise.resolve(0);
            },
          },
        },
      ],
      onTrouble: (name) => {
        troubles.push(name);
      },
    });
    one.start();
    await turns();
    expect(one.health()).toEqual({
      ready: false,
      trouble: { broken: 'DATABASE_UNAVAILABLE' },
      in_the_way: { code: 'DATABASE_UNAVAILABLE', detail: 'broken: gone' },
    });
    expect(one.loop('broken')).toEqual({ state: 'waiting', problem: 'DATABASE_UNAVAILABLE' });
    patience.resolve(undefined);
    await turns();
    expect([one.health(), troubles, sent > 1]).toEqual([
      { ready: true, trouble: {}, in_the_way: null },
      ['broken', 'broken'],
      true,
    ]);
    expect(one.loop('broken')).toEqual({ state: 'ready', problem: null });
    await one.stop();
  });

  it('is not ready while its database is away, though every log is quiet and it tells nobody', async () => {
    const one = notifier({
      followers: [{ name: 'quiet', follower: { readOn: () => Promise.resolve(0) } }],
      look: () => Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'gone')),
    });
    one.start();
    await turns();
    expect(one.health()).toMatchObject({ ready: false, trouble: { database: 'DATABASE_UNAVAILABLE' } });
    await one.stop();
  });

  it('forgets what ended longer ago than is kept', async () => {
    const pruned: number[] = [];
    const one = notifier({
      store: {
        prune: (before) => {
          pruned.push(before);
          return Promise.resolve();
        },
      },
    });
    one.start();
    await turns(2);
    await one.stop();
    expect(pruned[0]).toBe(4_000);
  });
});
