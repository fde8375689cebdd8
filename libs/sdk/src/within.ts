// Waits for a call no longer than it may take.
import type { Clock } from '@recourse/kernel';

/**
 * The answer of a call, or what stands for a late one.
 *
 * Shape: the call itself goes on, so that nobody knows its effect once it is late.
 * Units: `timeoutMs` in milliseconds by the clock; without one the call is waited for.
 */
export async function within<Answer>(
  clock: Clock,
  timeoutMs: number | undefined,
  answer: Promise<Answer>,
  late: Answer,
): Promise<Answer> {
  if (timeoutMs === undefined) return answer;
  const { promise: isLate, resolve: giveUp } = Promise.withResolvers<Answer>();
  const callOff = clock.alarm(timeoutMs, () => {
    giveUp(late);
  });
  try {
    return await Promise.race([answer, isLate]);
  } finally {
    callOff();
  }
}
