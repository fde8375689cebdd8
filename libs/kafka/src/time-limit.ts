// Time limits for what is asked of a client: a connection that goes away at the wrong moment leaves promises nobody settles.
import { Failure } from '@recourse/kernel';

/** Longest wait for an ending that only frees resources. */
const ENDED_WITHIN_MS = 5_000;

/**
 * Settles as the work does, or fails when the time has passed.
 *
 * Units:  `ms`.
 * Errors: those of the work; Failure(BROKER_UNAVAILABLE) after the time.
 */
export async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Failure('BROKER_UNAVAILABLE', `${what}: no answer within ${String(ms)} ms`));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for an ending, though not for ever; what it fails with changes nothing any more. */
export async function ended(work: Promise<unknown>): Promise<void> {
  await within(work, ENDED_WITHIN_MS, 'ending').catch(() => undefined);
}
