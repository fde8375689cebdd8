// What an error of a tool means: one verdict for the code a result carries and for the exception a call threw.
//
// Boundary: pure. What is done about a kind (retry, refresh, ask a person) is the playbook's to say.
import { ERROR_KINDS } from '@recourse/contract';
import type { ErrorKind } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { isRejected, memberOf } from '../tool/thrown.js';

export { ERROR_KINDS };
export type { ErrorKind };

/** An error, as it comes: inside a result, or thrown. */
export type ToolError =
  { readonly on: 'result'; readonly result: Json } | { readonly on: 'exception'; readonly error: unknown };

/** What an error of a tool means for its effect. */
export interface ToolVerdict {
  readonly kind: ErrorKind;
  /** `none`: nothing happened, for sure. `unknown`: somebody has to find out. */
  readonly effect: 'none' | 'unknown';
}

/**
 * What each kind says about the effect, when nothing better is known.
 *
 * Shape:  a key that is in use, or was used with other arguments, was used by another call: this one did nothing, and says nothing of
 *         that one. Our keys are made of run, step and arguments, so that it was most likely an earlier attempt of this very effect,
 *         which may stand (a tool that adds the hour to what it sends uses its key with other arguments, too). Record, budget and undo
 *         know both as one effect: it is found out first. A tool that knows better says so with ToolRejected.
 */
const EFFECT_OF = {
  ARGS_INVALID: 'none',
  IDEMPOTENCY_CONFLICT: 'unknown',
  EVIDENCE_STALE: 'none',
  POLICY_DENIED: 'none',
  CONTENT_FILTER: 'none',
  REFUSAL: 'none',
  TIMEOUT: 'unknown',
  TRANSIENT_NETWORK: 'unknown',
  RATE_LIMITED: 'none',
  SERVER: 'unknown',
  REJECTED: 'none',
  RECONCILIATION_PENDING: 'unknown',
  UNKNOWN: 'unknown',
} as const satisfies Record<ErrorKind, ToolVerdict['effect']>;

/** Words tools use for the same thing; the kinds themselves are understood too. */
const KIND_OF_CODE: Readonly<Record<string, ErrorKind>> = {
  IDEMPOTENCY_KEY_REUSED: 'IDEMPOTENCY_CONFLICT',
  IDEMPOTENCY_KEY_IN_USE: 'IDEMPOTENCY_CONFLICT',
  DUPLICATE_REQUEST: 'IDEMPOTENCY_CONFLICT',
  PRECONDITION_FAILED: 'EVIDENCE_STALE',
  STALE: 'EVIDENCE_STALE',
  VERSION_CONFLICT: 'EVIDENCE_STALE',
  FORBIDDEN: 'POLICY_DENIED',
  UNAUTHORIZED: 'POLICY_DENIED',
  PERMISSION_DENIED: 'POLICY_DENIED',
  ACCESS_DENIED: 'POLICY_DENIED',
  CONTENT_FILTERED: 'CONTENT_FILTER',
  REFUSED: 'REFUSAL',
  INVALID_ARGUMENT: 'ARGS_INVALID',
  VALIDATION_ERROR: 'ARGS_INVALID',
  BAD_REQUEST: 'ARGS_INVALID',
  TOO_MANY_REQUESTS: 'RATE_LIMITED',
  RATE_LIMIT_EXCEEDED: 'RATE_LIMITED',
  INTERNAL: 'SERVER',
  INTERNAL_ERROR: 'SERVER',
  SERVICE_UNAVAILABLE: 'SERVER',
  UNAVAILABLE: 'SERVER',
  DEADLINE_EXCEEDED: 'TIMEOUT',
  TIMEOUTERROR: 'TIMEOUT',
  ETIMEDOUT: 'TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'TIMEOUT',
  ABORTERROR: 'TIMEOUT',
  ECONNRESET: 'TRANSIENT_NETWORK',
  EPIPE: 'TRANSIENT_NETWORK',
  UND_ERR_SOCKET: 'TRANSIENT_NETWORK',
};

/** Failures before anything left this host; where a status was answered, something had left it. */
const NOT_SENT: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'NOT_SENT',
];

/**
 * What a status means. Only a refusal of what was asked (who asks, how, how often, in which state) says that nothing happened.
 *
 * Shape:  any other 4xx is UNKNOWN: that something is not there (404, 410), is in conflict (409), locked (423) or too early (425) is
 *         also what a second request hears, of an effect that the first one had.
 */
const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = {
  400: 'ARGS_INVALID',
  401: 'POLICY_DENIED',
  403: 'POLICY_DENIED',
  408: 'TIMEOUT',
  412: 'EVIDENCE_STALE',
  422: 'ARGS_INVALID',
  429: 'RATE_LIMITED',
  504: 'TIMEOUT',
};

/**
 * Says what an error means.
 *
 * Shape:  null for a result that carries no error; never null for an exception.
 * Errors: none; what nobody understands is UNKNOWN, with an unknown effect.
 * Source: requirement D21.
 */
export function verdictFor(error: ToolError): ToolVerdict | null {
  if (error.on === 'result') return ofResult(error.result);
  if (isRejected(error.error))
    return { ...ofSigns([memberOf(error.error, 'kind')].filter(isText), []), effect: 'none' };
  const signs = chainOf(error.error)
    .flatMap(({ code, name, kind }) => [code, kind, name])
    .filter(isText);
  return ofSigns(signs, statusesIn(error.error), 'UNKNOWN');
}

/** Statuses that an error and its causes carry, its own first. */
export function statusesIn(error: unknown): readonly number[] {
  return chainOf(error)
    .flatMap(({ status, statusCode }) => [status, statusCode])
    .filter((each) => typeof each === 'number');
}

/** What a result says in place of an error, or of its code, where there was none. */
const NO_ERROR: readonly unknown[] = [undefined, null, false, 0];
const WORD_OF_NO_ERROR = /^(?:0*|OK|NONE|NO_ERROR|SUCCESS)$/;

function isNoError(said: Json | undefined): boolean {
  return NO_ERROR.includes(said) || (typeof said === 'string' && WORD_OF_NO_ERROR.test(wordOf(said)));
}

/** Errors of GraphQL that stand in place of data: nothing was answered, in none of the fields that were asked for. Empty otherwise. */
function errorsInstead(result: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  const { errors, data = null } = result;
  if (!Array.isArray(errors) || !errors.every(isErrorOfGraphQL)) return [];
  const isAnswered = isRecord(data) ? Object.values(data).some((field) => field !== null) : data !== null;
  return isAnswered ? [] : errors;
}

function isErrorOfGraphQL(one: unknown): one is Readonly<Record<string, unknown>> {
  return isRecord(one) && typeof one['message'] === 'string';
}

/** What errors of GraphQL mean. Of several fields one may have had its effect before another one failed: none is ruled out. */
function ofGraphQL(errors: readonly Readonly<Record<string, unknown>>[]): ToolVerdict {
  const codes = errors.map(({ extensions }) => (isRecord(extensions) ? extensions['code'] : null)).filter(isText);
  return { ...ofSigns(codes, [], 'UNKNOWN'), effect: 'unknown' };
}

/** Reads `{error: {code}}`, `{error: code}`, `{error_code}`, `{ok: false, code}`, a result marked `isError`, and `{errors}` of GraphQL. */
function ofResult(result: Json): ToolVerdict | null {
  if (!isDoc(result)) return null;
  const errors = errorsInstead(result);
  if (errors.length > 0) return ofGraphQL(errors);
  const { error, error_code: errorCode, code, status, status_code: statusCode } = result;
  const isMarked = result['isError'] === true || result['ok'] === false || result['success'] === false;
  const isNamed = !isNoError(error) || !isNoError(errorCode);
  if (!isMarked && !isNamed) return null;
  const inner = isDoc(error) ? [error['code'], error['type'], error['kind']] : [error];
  const signs = [...inner, errorCode, code].filter((sign) => typeof sign === 'string');
  return ofSigns(
    signs,
    [status, statusCode, isDoc(error) ? error['status'] : null].filter((each) => typeof each === 'number'),
    'UNKNOWN',
  );
}

function ofSigns(
  signs: readonly string[],
  statuses: readonly number[],
  otherwise: ErrorKind = 'REJECTED',
): ToolVerdict {
  const words = signs.map(wordOf);
  const wasSent = statuses.some((status) => status >= STATUS_MIN);
  if (!wasSent && words.some((word) => NOT_SENT.includes(word))) return { kind: 'TRANSIENT_NETWORK', effect: 'none' };
  const kind =
    words.map(kindOfWord).find((each) => each !== undefined) ??
    statuses.map(kindOfStatus).find((each) => each !== undefined) ??
    otherwise;
  return { kind, effect: EFFECT_OF[kind] };
}

/** The least status that somebody answers; some libraries say 0 where nobody did. */
const STATUS_MIN = 100;

function wordOf(sign: string): string {
  return sign
    .trim()
    .toUpperCase()
    .replaceAll(/[\s.-]+/g, '_');
}

function kindOfWord(word: string): ErrorKind | undefined {
  return (
    ERROR_KINDS.find((kind) => kind === word) ?? (Object.hasOwn(KIND_OF_CODE, word) ? KIND_OF_CODE[word] : undefined)
  );
}

function kindOfStatus(status: number): ErrorKind | undefined {
  return KIND_OF_STATUS[status] ?? (status >= 500 ? 'SERVER' : status >= 400 ? 'UNKNOWN' : undefined);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (sign: unknown): sign is string => typeof sign === 'string';

const CAUSES_MAX = 8;

/** An error and its causes, as records; duck-typed, since errors come from other realms and libraries. */
function chainOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const chain: Readonly<Record<string, unknown>>[] = [];
  for (let at = error; typeof at === 'object' && at !== null && chain.length < CAUSES_MAX;) {
    const error: unknown = at;
    const said = ['code', 'name', 'kind', 'status', 'statusCode'].map((name) => [name, memberOf(error, name)] as const);
    chain.push(Object.fromEntries(said));
    at = memberOf(error, 'cause');
  }
  return chain;
}

const isDoc = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
