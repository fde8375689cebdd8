import { describe, expect, it } from '@jest/globals';
import { MemoryDatabase, withCommonKinds } from '@recourse/event-log';
import type { StoreFactory } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { DatabaseError } from 'pg';
import { mendedStores } from './mended-stores.js';

const LOG = 'recourse.mutations';

/** Stores that answer with an error of the database until their tables are made. */
function broken(code: string): { readonly stores: StoreFactory; readonly made: () => number } {
  const database = new MemoryDatabase({ kinds: withCommonKinds([]), now: () => 1 });
  let count = 0;
  const cause = Object.assign(new DatabaseError('it is not there', 0, 'error'), { code });
  const stores: StoreFactory = {
    partition: (log, partition) => {
      const store = database.partition(log, partition);
      return Object.assign(store, {
        head: () =>
          count > 0 ? Promise.resolve(null) : Promise.reject(new Failure('DATABASE_UNAVAILABLE', '', { cause })),
      });
    },
  };
  const makeTables = async (): Promise<void> => {
    await Promise.resolve();
    count += 1;
  };
  return { stores: mendedStores(stores, makeTables), made: () => count };
}

describe('tables that went away under a service', () => {
  it.each(['42P01', '3F000'])('are made anew, once for all who miss them: %s', async (code) => {
    const { stores, made } = broken(code);
    const [one, two] = [stores.partition(LOG, 0), stores.partition(LOG, 1)];
    const answers = await Promise.allSettled([one.head(), two.head()]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(made()).toBe(1);
    expect(await one.head()).toBeNull();
  });

  it('are not what any other error means', async () => {
    const { stores, made } = broken('57P01');
    await expect(stores.partition(LOG, 0).head()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(made()).toBe(0);
  });
});
