// Topics that cannot be made for want of brokers: Kafka says so too while one that was busy is not counted.
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';

const TRIES_MAX = 20;
/** A broker that is taken for gone is counted again with its next sign of life. */
const PAUSE_MS = 250;

/** Tries again for five seconds where Kafka counts too few brokers. Errors: those of the work. */
export async function onceCounted<T>(clock: Pick<Clock, 'sleep'>, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES_MAX || !isOfTooFew(error)) throw error;
    }
    await clock.sleep(PAUSE_MS);
  }
}

/** kafkajs says it of each topic by itself. */
function isOfTooFew(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : error;
  const each: unknown = typeof cause === 'object' && cause !== null && 'errors' in cause ? cause.errors : [];
  return Array.isArray(each) && each.some((one: unknown) => typeOf(one) === 'INVALID_REPLICATION_FACTOR');
}

function typeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
}
