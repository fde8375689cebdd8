// What kafkajs throws, told as the port's failures. Errors come wrapped (`cause`), and only some carry a `type`.
import { Failure } from '@recourse/kernel';

/** Protocol error name (`OFFSET_OUT_OF_RANGE`, …) anywhere in the chain of causes, or null. */
export function protocolErrorType(error: unknown): string | null {
  for (let at: unknown = error; isObject(at); at = at['cause']) {
    if (typeof at['type'] === 'string') return at['type'];
  }
  return null;
}

/** Maps an error of a read or an administrative call; `what` names the topic or the call. */
export function asFailure(error: unknown, what: string): Failure {
  if (error instanceof Failure) return error;
  const type = protocolErrorType(error);
  if (type === 'OFFSET_OUT_OF_RANGE') return new Failure('CURSOR_OUT_OF_RANGE', what, { cause: error });
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION' || type === 'INVALID_TOPIC_EXCEPTION')
    return new Failure('TOPIC_MISSING', what, { cause: error });
  return new Failure('BROKER_UNAVAILABLE', what, { cause: error });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
