// What a broker's refusal means to who asked.
import { Failure } from '@recourse/kernel';

const SESSION =
  'the broker takes no session timeout like that: set RECOURSE_KAFKA_SESSION_TIMEOUT_MS between its group.min.session.timeout.ms (6000 unless it says otherwise) and group.max.session.timeout.ms';

/**
 * The port's failure for an error of a client.
 *
 * Shape: `refusal` is the protocol's name for it (`OFFSET_OUT_OF_RANGE`, …), or null when no broker said anything;
 *        `what` names the topic or the call.
 */
export function failureOf(refusal: string | null, what: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  switch (refusal) {
    case 'OFFSET_OUT_OF_RANGE':
      return new Failure('CURSOR_OUT_OF_RANGE', what, { cause });
    case 'UNKNOWN_TOPIC_OR_PARTITION':
    case 'INVALID_TOPIC_EXCEPTION':
      return new Failure('TOPIC_MISSING', what, { cause });
    case 'INVALID_TIMESTAMP':
      return new Failure('CLOCK_REFUSED', what, { cause });
    case 'TOPIC_AUTHORIZATION_FAILED':
    case 'GROUP_AUTHORIZATION_FAILED':
    case 'CLUSTER_AUTHORIZATION_FAILED':
    case 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED':
    case 'SASL_AUTHENTICATION_FAILED':
    case 'ILLEGAL_SASL_STATE':
      return new Failure('BROKER_REFUSED', `${what}: ${refusal}`, { cause });
    case 'INVALID_SESSION_TIMEOUT':
      return new Failure('CONFIG_INVALID', `${what}: ${SESSION}`, { cause });
    case 'SECURITY_DISABLED':
      return new Failure('CONFIG_INVALID', `${what}: the cluster has no authorizer`, { cause });
    default:
      return new Failure('BROKER_UNAVAILABLE', refusal === null ? what : `${what}: ${refusal}`, { cause });
  }
}
