// What the HTTP edge refuses, as values, and how every kind of wrong becomes application/problem+json (RFC 9457).
import { HttpException } from '@nestjs/common';
import { Failure, FAILURES } from '@recourse/kernel';
import type { Rejection } from '@recourse/kernel';
import { BODY_REFUSALS, MEDIA_TYPE_DETAIL, NO_PARSER_STATUS } from './body-rules.js';

/** Every refusal of the edge itself; the domain's have codes and statuses of their own. */
export const EDGE_REFUSALS = {
  INPUT_INVALID: {
    httpStatus: 400,
    summary: 'The request does not have the shape its route asks for; every problem is listed.',
  },
  INPUT_TOO_DEEP: {
    httpStatus: 400,
    summary: 'The body nests lists and objects more than 64 levels deep.',
  },
  ...BODY_REFUSALS,
  TOKEN_MISSING: { httpStatus: 401, summary: 'The request carries no bearer token.' },
  TOKEN_REFUSED: {
    httpStatus: 401,
    summary:
      'The token is expired, of another issuer or audience, of an algorithm that is not allowed, or not signed by a known key.',
  },
  PRINCIPAL_INVALID: {
    httpStatus: 401,
    summary:
      'The token names its holder in characters that no subject is made of, or as somebody else than the directory does.',
  },
  ROLE_REQUIRED: { httpStatus: 403, summary: 'The route asks for a role that the token does not carry.' },
  ROLES_CONFLICT: {
    httpStatus: 403,
    summary:
      'The token carries two roles that nobody holds at once: editor and approver, or agent and approver; the issuer must give one of the two.',
  },
  TOO_MANY_REQUESTS: {
    httpStatus: 429,
    summary: 'Somebody asks too often, or sends too many tokens that are none; Retry-After says when to ask again.',
  },
  REQUEST_TOO_SLOW: {
    httpStatus: 408,
    summary: 'Headers or body did not arrive in time; the connection is closed.',
  },
  PATH_TOO_LONG: {
    httpStatus: 414,
    summary: 'A name in the path is longer than any id: 170 characters at most.',
  },
  TENANT_FOREIGN: { httpStatus: 403, summary: 'The token speaks for another tenant.' },
  PAYLOADS_SEALED: {
    httpStatus: 403,
    summary: 'The answer is made of what sealed payloads hold, and the token carries none of the roles that open them.',
  },
  READING_UNRECORDED: {
    httpStatus: 503,
    summary: 'Sealed payloads are shown only once that is on record, and it could not be recorded in time; ask again.',
  },
  ERASURE_UNRECORDED: {
    httpStatus: 503,
    summary:
      'Keys are destroyed only once it is on record who ordered that, and it could not be recorded in time: nothing was erased; ask again.',
  },
  PAYLOADS_ERASED: {
    httpStatus: 409,
    summary:
      'What people would agree to, or what would be called, was erased with the data of its subject: deny it, or close it by hand.',
  },
  NOT_FOUND: { httpStatus: 404, summary: 'There is nothing under this name for this tenant.' },
  ROUTE_UNKNOWN: {
    httpStatus: 404,
    summary: 'This service has nothing at this address: the path is wrong, or the service is another one.',
  },
  RUN_UNKNOWN: { httpStatus: 404, summary: 'Nothing of this run is on record for this tenant.' },
  PROJECTION_BEHIND: {
    httpStatus: 503,
    summary:
      'The rows have not reached the end of the log yet, or of the wire before it, so that nobody can say what is on record; ask again.',
  },
  DELIVERY_ENDED: {
    httpStatus: 409,
    summary: 'The notice was delivered, or the item it is about has ended; there is nothing to try again.',
  },
  IDEMPOTENCY_KEY_REUSED: { httpStatus: 422, summary: 'The idempotency key was used for another body.' },
  REQUEST_REFUSED: { httpStatus: 400, summary: 'The HTTP layer refused the request (method, syntax, size).' },
  INTERNAL: { httpStatus: 500, summary: 'A bug; the log has the details.' },
  DIRECTORY_UNAVAILABLE: {
    httpStatus: 503,
    summary: 'The directory of accounts cannot be read; nobody is let in meanwhile.',
  },
} as const satisfies Record<string, { readonly httpStatus: number; readonly summary: string }>;

export type EdgeCode = keyof typeof EDGE_REFUSALS;

/** Carries a coded refusal of the edge to the one place that answers it. */
export class EdgeRefusal extends Error {
  override readonly name = 'EdgeRefusal';
  constructor(
    readonly code: EdgeCode,
    message: string,
    readonly problems: readonly Rejection[] = [],
    options: { readonly cause?: unknown; readonly retryAfterS?: number } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.retryAfterS = options.retryAfterS ?? null;
  }

  /** When to ask again, seconds; null where asking again helps nothing. */
  readonly retryAfterS: number | null;
}

/** Body of an error answer. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly problems?: readonly Rejection[];
}

export const PROBLEM_TYPE = 'application/problem+json';

/**
 * Says what the caller gets for anything that was thrown. Pure.
 *
 * Shape:  details of bugs and of the HTTP layer's own errors stay inside; codes go out.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof EdgeRefusal) {
    const { httpStatus, summary } = EDGE_REFUSALS[error.code];
    return {
      type: 'about:blank',
      title: summary,
      status: httpStatus,
      code: error.code,
      detail: error.message,
      ...(error.problems.length > 0 ? { problems: error.problems } : {}),
    };
  }
  if (error instanceof Failure) {
    const { httpStatus, summary } = FAILURES[error.code];
    return { type: 'about:blank', title: summary, status: httpStatus, code: error.code, detail: summary };
  }
  const status = statusOf(error);
  if (status === NO_PARSER_STATUS) return problemOf(new EdgeRefusal('MEDIA_TYPE_UNSUPPORTED', MEDIA_TYPE_DETAIL));
  if (status !== null && status >= 400 && status < 500) {
    const code: EdgeCode = status === 404 ? 'ROUTE_UNKNOWN' : 'REQUEST_REFUSED';
    return {
      type: 'about:blank',
      title: EDGE_REFUSALS[code].summary,
      status,
      code,
      detail: error instanceof Error ? error.message : EDGE_REFUSALS[code].summary,
    };
  }
  return {
    type: 'about:blank',
    title: EDGE_REFUSALS.INTERNAL.summary,
    status: 500,
    code: 'INTERNAL',
    detail: EDGE_REFUSALS.INTERNAL.summary,
  };
}

/** Status an error of Nest or Fastify names. */
function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  if (error instanceof HttpException) return error.getStatus();
  return 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
}
