// A transaction that is asked for within one of the same consumer would wait for it for ever: it is refused, and said.
import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryInbox } from './inbox.memory.js';
import { UnnestedInbox } from './inbox.unnested.js';
import { createRollbackConsumer } from './rollback-consumer.js';
import { createRollbackPoll } from './rollback-poll.js';
import { LOG_ID, PARTITIONS, RollbackStage } from './rollback-stage.testing.js';

const NESTED = 'within a transaction of the same consumer';
const SUBSCRIBED = { consumer: 'mailer', scope: 'acme/agent-1' };

describe('a consumer that asks for a transaction in its own handler', () => {
  let stop = (): Promise<void> => Promise.resolve();
  afterEach(() => stop());

  it.each(['stream', 'poll'] as const)(
    'hears that it is refused, and applies the rollback without it: %s',
    async (mode) => {
      const stage = new RollbackStage();
      const [applied, refused]: [string[], string[]] = [[], []];
      const common = {
        kafka: stage.broker.forActor('consumer'),
        codecs: stage.codecs(),
        clock: stage.clock,
        registerSchemas: true,
        inbox: new UnnestedInbox(new MemoryInbox(), 0),
        onRollback: async ({ commitId }: { readonly commitId: string }) => {
          await made.transact(() => Promise.resolve()).catch((cause: unknown) => refused.push(String(cause)));
          if ('poll' in made) await made.poll().catch((cause: unknown) => refused.push(String(cause)));
          applied.push(commitId);
        },
      };
      const made =
        mode === 'stream'
          ? createRollbackConsumer({
              ...common,
              logId: LOG_ID,
              partitionCount: PARTITIONS,
              pollMs: 1,
              subscription: { ...SUBSCRIBED, mode: 'sync' },
            })
          : createRollbackPoll({
              ...common,
              edge: { url: await stage.edge(), token: () => Promise.resolve('t') },
              intervalMs: 5,
              subscription: { ...SUBSCRIBED, mode: 'poll' },
            });
      stop = async () => {
        await made.stop();
        await stage.close();
      };
      await stage.fall({ commit: 'a' });
      await made.start();
      await stage.until('the rollback', () => applied.length === 1);
      expect(refused).toEqual(Array.from({ length: mode === 'poll' ? 2 : 1 }, () => expect.stringContaining(NESTED)));
    },
  );
});

describe('an inbox', () => {
  it('takes the next transaction, and one that work begun within an earlier one asks for once that is over', async () => {
    const inbox = new UnnestedInbox(new MemoryInbox());
    const { promise: over, resolve: isOver } = Promise.withResolvers<undefined>();
    const later: Promise<string>[] = [];
    await inbox.transact('apply', () => {
      later.push(over.then(() => inbox.transact('derive', () => Promise.resolve('later'))));
      return Promise.resolve();
    });
    expect(await inbox.transact('derive', () => Promise.resolve('next'))).toBe('next');
    isOver(undefined);
    expect(await Promise.all(later)).toEqual(['later']);
  });

  it('takes what a handler began and does not wait for once the handler is over', async () => {
    const inbox = new UnnestedInbox(new MemoryInbox());
    const later: Promise<string>[] = [];
    const told: string[] = [];
    await inbox.transact('apply', async () => {
      later.push(inbox.transact('derive', () => Promise.resolve('later')));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      told.push('applied');
    });
    expect([told, await Promise.all(later)]).toEqual([['applied'], ['later']]);
  });
});
