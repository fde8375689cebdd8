// What the console's own server refuses: the services' refusals pass through it unchanged.

import { BODY_REFUSALS, MEDIA_TYPE_DETAIL, NO_PARSER_STATUS } from '@recourse/service/body-rules';

export const CONSOLE_PROBLEMS = {
  ...BODY_REFUSALS,
  SESSION_MISSING: { httpStatus: 401, summary: 'Nobody is signed in here, or the session has ended: sign in again.' },
  ROLE_REQUIRED: {
    httpStatus: 403,
    summary: 'The token of this session carries no role that gives anything: ask for one, and sign in again.',
  },
  SIGN_IN_REFUSED: {
    httpStatus: 400,
    summary: 'The issuer did not sign anybody in, or this sign-in was begun elsewhere or long ago: sign in again.',
  },
  ISSUER_AWAY: { httpStatus: 503, summary: 'The issuer does not answer; nobody can sign in until it does.' },
  CSRF_REFUSED: {
    httpStatus: 403,
    summary: 'The request does not come from a page of this session; reload the page and try again.',
  },
  SERVICE_UNKNOWN: { httpStatus: 404, summary: 'The console leads to no such service, or to no such address of it.' },
  SERVICE_AWAY: {
    httpStatus: 502,
    summary: 'The service does not answer. Whether a command arrived nobody knows yet; look before repeating it.',
  },
  STREAMS_TOO_MANY: {
    httpStatus: 429,
    summary: 'This session has as many open pages as are told what moves; close some of them.',
  },
  PAGE_MISSING: { httpStatus: 404, summary: 'The console has no such file.' },
} as const satisfies Record<string, { readonly httpStatus: number; readonly summary: string }>;

export type ConsoleCode = keyof typeof CONSOLE_PROBLEMS;

/** Carries a refusal to the one place that answers it. */
export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal';
  constructor(
    readonly code: ConsoleCode,
    detail: string = CONSOLE_PROBLEMS[code].summary,
    options: ErrorOptions = {},
  ) {
    super(detail, options);
  }
}

export interface ProblemBody {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

/** Is it for whoever operates the console: a fault, or a sign-in that the issuer or its token made fail, which nobody else can mend? */
export function isForOperators(error: unknown, { status, code }: ProblemBody): boolean {
  return status >= 500 || (code === 'SIGN_IN_REFUSED' && error instanceof Error && error.cause !== undefined);
}

/** What a caller gets for whatever was thrown; details of bugs stay inside. Pure. */
export function problemOf(error: unknown): ProblemBody {
  if (error instanceof ConsoleRefusal) {
    const { httpStatus: status, summary: title } = CONSOLE_PROBLEMS[error.code];
    return { type: 'about:blank', title, status, code: error.code, detail: error.message };
  }
  const status = statusOf(error);
  if (status === NO_PARSER_STATUS) return problemOf(new ConsoleRefusal('MEDIA_TYPE_UNSUPPORTED', MEDIA_TYPE_DETAIL));
  const title = status < 500 ? 'The request is not one that the console takes.' : 'A bug; the log has the details.';
  const code = status < 500 ? 'REQUEST_REFUSED' : 'INTERNAL';
  return { type: 'about:blank', title, status, code, detail: title };
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500;
  return typeof error.statusCode === 'number' ? error.statusCode : 500;
}
