// What kafkajs throws, told as the port's failures. Errors come wrapped (`cause`), and only some carry a `type`.
import type { Failure } from '@recourse/kernel';
import { failureOf } from '../failures.js';

/** Protocol error name (`OFFSET_OUT_OF_RANGE`, …) anywhere in the chain of causes, or null. */
export function protocolErrorType(error: unknown): string | null {
  for (let at: unknown = error; isObject(at); at = at['cause']) {
    if (typeof at['type'] === 'string') return at['type'];
    if (at['name'] === 'KafkaJSSASLAuthenticationError') return 'SASL_AUTHENTICATION_FAILED';
  }
  return null;
}

/** Maps an error of kafkajs; `what` names the topic or the call. */
export function asFailure(error: unknown, what: string): Failure {
  return failureOf(protocolErrorType(error), what, error);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
