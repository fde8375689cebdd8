// The three kinds of wrong (docs/design/style.md, section 3): rejections as values, coded failures, broken invariants.

/** A coded refusal: a fact about the world, with what the caller needs to act on it. */
export interface Rejection<Code extends string = string> {
  readonly code: Code;
  /** What is wrong, where, and what to do; one sentence for people. Specs never assert on it. */
  readonly message: string;
  /** Path inside the input the code speaks of, JSON-pointer style; absent when it is about the whole. */
  readonly path?: string;
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
}

/** How a failed operation may be tried again. */
export type RetryRule = 'never' | 'backoff' | 'reconcile_first';

/** One row of the table of failures; `docs/reference/failures.md` is printed from it. */
export interface FailureSpec {
  readonly retry: RetryRule;
  readonly httpStatus: number;
  readonly summary: string;
}

/**
 * Every operating error of the project.
 *
 * Errors: none. A code is a fact; the HTTP status is a column.
 */
export const FAILURES = {
  HEAD_MOVED: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'Another record was accepted at this head first; the loop re-reads the tail and decides again.',
  },
  OUTCOME_UNKNOWN: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'An append was neither confirmed nor refused; the loop re-reads the tail.',
  },
  LOG_CUT: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'The log is shorter than what was acknowledged or projected. Start refuses until `recourse log accept-cut` names what was lost.',
  },
  LOG_FRONT_CUT: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'The beginning of a log is gone: records were deleted at the broker, and nobody can accept that. Restore the log, as Deploy says under Restore.',
  },
  LOG_ID_FOREIGN: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'A log begins with the chain of another log id, or of another number of partitions. Start refuses: it would begin a second chain. Correct `RECOURSE_LOG_ID`.',
  },
  CHAIN_BROKEN: {
    retry: 'never',
    httpStatus: 503,
    summary: 'The log does not follow from its genesis. Run `recourse audit verify`.',
  },
  CURSOR_OUT_OF_RANGE: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'A cursor lies outside what its topic still holds: input was lost, to retention or because it was deleted. `recourse log accept-loss` records the loss and goes on behind it; a log that other services read is restored from the same moment.',
  },
  RECORD_UNREADABLE: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'A record batch of a log cannot be read: its checksum, its compression or its framing is broken. Restore the topic from a copy. What cannot be read of a wire is parked.',
  },
  FETCH_BROKEN: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'A broker cannot answer for a partition: it says that its copy is damaged, or gives bytes that lead nowhere and no position behind them. It is asked again. Look at its disk, or have another replica lead the partition.',
  },
  TRANSACTION_OPEN: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      "A partition of an input is held by a transaction that its producer does not end. It goes on when the transaction ends, at the latest after the producer's transaction time-out. `kafka-transactions.sh` finds and aborts it.",
  },
  FOREIGN_MEMBER: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      "Somebody who is no instance of the service is in its consumer group and was given partitions, which nobody works on. The message names them and their address. Stop them, and let rules of access keep everybody else out of the service's group.",
  },
  KEYRING_INVALID: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'A keyring or a signing key cannot be read. The message names the place in the file and what must stand there.',
  },
  WITNESS_UNAVAILABLE: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'A witness does not answer as it should; heads are signed without it meanwhile, and it is asked with the next.',
  },
  WITNESS_REFUSED: {
    retry: 'never',
    httpStatus: 409,
    summary:
      'A witness has signed a head that this one does not extend: the log was set back or rewritten, or two auditors sign under one name. An alarm names the log.',
  },
  TREE_DAMAGED: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'What the auditor stores of a log does not extend the head it signed last: its disk is damaged, or was full. It reads the log anew, and signs it then. Look at the disk.',
  },
  HEADS_NOT_KEPT: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'The auditor cannot write `heads.notes`; heads are logged, alarms raised all the same. Look at the disk.',
  },
  PARTITION_COUNT_CHANGED: {
    retry: 'never',
    httpStatus: 503,
    summary: 'A topic has another number of partitions than its log was begun with. Restore the count.',
  },
  TOPIC_MISSING: {
    retry: 'never',
    httpStatus: 503,
    summary: 'A topic of the catalogue does not exist. Provision topics from schemas/topics.json.',
  },
  UNKNOWN_SCHEMA: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'A record of a log has a schema the registry lacks, or is of a newer version; its reader waits at it.',
  },
  REGISTRY_UNAVAILABLE: { retry: 'backoff', httpStatus: 503, summary: 'The schema registry does not answer.' },
  DATABASE_UNAVAILABLE: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'The database does not answer; nothing is compensated or debited meanwhile.',
  },
  TABLES_REPLACED: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'Another version of the service has made its tables anew, so this instance has none and decides nothing. In an upgrade it is the older one, and ends; where no upgrade is under way, an instance of another version runs beside it: end that one.',
  },
  READ_TOO_LONG: {
    retry: 'never',
    httpStatus: 503,
    summary:
      'A read took longer than one may and was given up; nothing else is wrong, and nothing waits for it. Ask for less: one tenant, run, capability or agent.',
  },
  READS_BUSY: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'Other reads had every connection that reads may take, for longer than one waits; the database is well, and what agents do goes on. Ask again: Retry-After says when.',
  },
  KEY_STORE_UNAVAILABLE: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'The key store does not answer; nothing that holds data of people is recorded or opened meanwhile.',
  },
  ISSUER_UNAVAILABLE: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'The keys of the token issuer cannot be read; nobody is let in meanwhile.',
  },
  KEY_DESTROYED: {
    retry: 'never',
    httpStatus: 410,
    summary: 'The key that sealed this data was destroyed: it is erased, for good.',
  },
  BROKER_UNAVAILABLE: { retry: 'backoff', httpStatus: 503, summary: 'No Kafka broker answers.' },
  BROKER_REFUSED: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'Kafka refuses this user: the password is wrong, or no rule of access lets it do that. `recourse provision --check` names rules that are missing.',
  },
  CLOCK_BEHIND: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'Database time is behind the chain by more than the margin; nothing is decided until it has caught up, or `recourse log accept-time` records who accepts that.',
  },
  CLOCK_AHEAD: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'Database time is further ahead of the clock of the service than RECOURSE_CLOCK_AHEAD_MAX_MS; nothing is decided until one of the two is corrected.',
  },
  CLOCK_REFUSED: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'A broker refuses what is sent for its timestamp: the clock of the service is more than an hour off the clock of the broker. Correct the one that is wrong.',
  },
  KEY_NOT_BELIEVED: {
    retry: 'backoff',
    httpStatus: 503,
    summary:
      'By its own keyring the key of a process does not speak for it: not there, revoked, out of its time, or another. Nothing is signed until the keyring or RECOURSE_SIGNING_KEY_FILE and _ID are corrected.',
  },
  PROJECTION_FENCED: {
    retry: 'backoff',
    httpStatus: 503,
    summary: 'The projection head was moved by another owner; the loop reloads.',
  },
  NOT_READY: { retry: 'backoff', httpStatus: 503, summary: 'The service has not read its inputs to the end yet.' },
  INSTANT_INVALID: {
    retry: 'never',
    httpStatus: 400,
    summary: 'An instant is a whole number of milliseconds since 1970, as Date.now() gives it, and not of seconds.',
  },
  RECORD_TOO_LARGE: {
    retry: 'never',
    httpStatus: 413,
    summary:
      'A record is larger than its readers take, and is not sent: it would be parked, and all that comes after it under its key would wait. Tell less, or a reference to where the rest is.',
  },
  RECORD_UNFIT: {
    retry: 'never',
    httpStatus: 400,
    summary:
      'A record would be parked by its reader, and is not sent. The message gives the reason it would be parked with, and the field.',
  },
  GUARD_INVALID: {
    retry: 'never',
    httpStatus: 500,
    summary:
      'What was given to a guard is none of what it can guard by. The message names the option and what it may be; a mode is `off`, `observe` or `enforce`.',
  },
  SUBSCRIPTION_INVALID: {
    retry: 'never',
    httpStatus: 400,
    summary:
      'A consumer was given a scope that no subscription has: it would hear of nothing. It is a prefix of tenant/agent/run/subject, as it was registered.',
  },
  TENANT_INVALID: {
    retry: 'never',
    httpStatus: 400,
    summary:
      'A tenant is named by 1 to 200 bytes without control characters and without blanks around them, and `*` is the name of none.',
  },
  PRINCIPAL_INVALID: {
    retry: 'never',
    httpStatus: 400,
    summary:
      'Who acts and whom they act for are named by opaque subjects: 1 to 200 of the letters A to Z, digits and . _ ~ @ + : / | = # -.',
  },
  CONFIG_INVALID: {
    retry: 'never',
    httpStatus: 500,
    summary: 'The environment does not fit the configuration; every problem is listed at start.',
  },
} as const satisfies Record<string, FailureSpec>;

export type FailureCode = keyof typeof FAILURES;

/** An operating error: coded, with its cause. */
export class Failure extends Error {
  override readonly name = 'Failure';
  constructor(
    readonly code: FailureCode,
    detail: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`${code}: ${detail}`, options);
  }
  get retry(): RetryRule {
    return FAILURES[this.code].retry;
  }
  /** The message without its code, for whoever tells the code apart. */
  get detail(): string {
    return this.message.slice(this.code.length + 2);
  }
}

/** A bug. `scope` says what stops: the key the record belongs to, or the whole partition (chain, cursor, fence). */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
  constructor(
    readonly rule: string,
    detail: string,
    readonly scope: 'key' | 'partition' = 'key',
  ) {
    super(`${rule}: ${detail}`);
  }
}

/**
 * Marks a branch the types say cannot happen.
 *
 * Errors: InvariantViolation when it happens all the same.
 */
export function assertNever(value: never): never {
  throw new InvariantViolation('unreachable', `no branch for ${JSON.stringify(value)}`);
}
