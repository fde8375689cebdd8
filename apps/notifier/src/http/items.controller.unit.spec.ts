// The status of a notifier, as `recourse status` asks for it.
import { describe, expect, it } from '@jest/globals';
import { MemoryNotifierStore } from '../store/notifier-store.memory.js';
import { ItemsController } from './items.controller.js';
import type { NotifierContext } from './notifier-context.js';

const LOOP = { log: 'recourse.budgets', partition: 0, keptSeq: 7, movedSeq: 7, state: 'ready', problem: null } as const;

function status(
  health: ReturnType<NotifierContext['health']>,
  followed: ReturnType<NotifierContext['followed']>,
): Promise<unknown> {
  const context: NotifierContext = {
    headsSignedAt: () => Promise.resolve(null),
    health: () => health,
    endpoints: [],
    followed: () => followed,
    store: new MemoryNotifierStore(),
    now: () => 1,
    nonce: () => 'nonce',
  };
  return new ItemsController(context).status();
}

describe('the status of a notifier', () => {
  it('is not ready before its database is reached, and says that it is waited for', async () => {
    const in_the_way = { code: 'DATABASE_UNAVAILABLE', detail: 'nobody answers' };
    expect(await status({ live: true, ready: false, started: false, detail: { in_the_way } }, [])).toEqual({
      service: 'notifier',
      ready: false,
      detail: { loops: [], heads_signed_at: null, in_the_way },
    });
  });

  it('says of each log how far it is, once they are read', async () => {
    const { keptSeq: projectedSeq, ...loop } = LOOP;
    const detail = { trouble: {}, in_the_way: null };
    expect(await status({ live: true, ready: true, started: true, detail }, [LOOP])).toEqual({
      service: 'notifier',
      ready: true,
      detail: { loops: [{ ...loop, projectedSeq }], heads_signed_at: null, in_the_way: null },
    });
  });

  it('is not ready while something fails that is no log, and says what', async () => {
    const in_the_way = { code: 'DATABASE_UNAVAILABLE', detail: 'tidying: nobody answers' };
    const detail = { trouble: { tidying: 'DATABASE_UNAVAILABLE' }, in_the_way };
    expect(await status({ live: true, ready: false, started: true, detail }, [LOOP])).toMatchObject({
      ready: false,
      detail: { in_the_way },
    });
  });
});
