// What @platformatic/kafka throws, told as the port's failures.
import { AuthenticationError, ResponseError } from '@platformatic/kafka';
import type { Failure } from '@recourse/kernel';
import { failureOf } from '../failures.js';

const OUT_OF_RANGE = 'OFFSET_OUT_OF_RANGE';

/** Maps an error of the client; `what` names the topic or the call. */
export function asFailure(error: unknown, what: string): Failure {
  return failureOf(refusalIn(error), what, error);
}

/** What the broker refused; null where none said anything. Of several partitions, one that is out of range matters most: no attempt will mend it. */
export function refusalIn(error: unknown): string | null {
  if (isOfUser(error)) return 'SASL_AUTHENTICATION_FAILED';
  if (!(error instanceof ResponseError)) return null;
  const refusals = error.errors.map(({ apiId }: { readonly apiId?: unknown }) => apiId);
  const refusal = refusals.includes(OUT_OF_RANGE) ? OUT_OF_RANGE : refusals[0];
  return typeof refusal === 'string' ? refusal : null;
}

/** Who a user is, is refused while connecting: somewhere below what the connection says. */
function isOfUser(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof AuthenticationError) return true;
  return false;
}
