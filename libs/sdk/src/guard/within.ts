// Waits for a call of a tool no longer than its contract says.
import type { GuardOptions } from './guard.messages.js';

/**
 * The answer of a call, or what stands for a late one.
 *
 * Shape: the call itself goes on, which is why nobody knows its effect once it is late.
 * Units: the contract's `call_timeout_ms`, milliseconds; without one the call is waited for.
 */
export async function within<Answer>(
  { contract, clock }: GuardOptions,
  answer: Promise<Answer>,
  late: Answer,
): Promise<Answer> {
  if (contract.call_timeout_ms === undefined) return answer;
  const answered = new AbortController();
  const waited = clock.sleep(contract.call_timeout_ms, answered.signal).then(() => late);
  try {
    return await Promise.race([answer, waited]);
  } finally {
    answered.abort();
  }
}
