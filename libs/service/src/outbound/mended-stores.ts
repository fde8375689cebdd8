// Tables that went away under a running service: a database dropped and made again, a schema dropped, a restore that has none.
//
// Boundary: sees only that a table is missing. What the log says of the rows is the loop's: it finds no head, and replays (L8).
import type { StoreFactory } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { DatabaseError } from 'pg';

const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA_NAME = '3F000';

/** Stores whose missing tables are made anew. The call that missed them fails all the same, and its caller tries again. */
export function mendedStores(stores: StoreFactory, makeTables: () => Promise<void>): StoreFactory {
  const making = once(makeTables);
  return { partition: (log, partition) => mendedStore(stores.partition(log, partition), making) };
}

/** A store whose missing tables are made anew, likewise. */
export function mendedStore<T extends object>(store: T, makeTables: () => Promise<void>): T {
  const making = once(makeTables);
  const mended = async (call: () => unknown): Promise<unknown> => {
    try {
      return await call();
    } catch (error) {
      if (isTableMissing(error)) await making();
      throw error;
    }
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => mended(() => Reflect.apply(value, target, args));
    },
  });
}

function isTableMissing(error: unknown): boolean {
  if (!(error instanceof Failure) || !(error.cause instanceof DatabaseError)) return false;
  return error.cause.code === UNDEFINED_TABLE || error.cause.code === INVALID_SCHEMA_NAME;
}

/** Whoever asks while it is under way waits for the same. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
