// What the command line refuses or cannot do, and the exit code each kind has.
import { Failure, FAILURES } from '@recourse/kernel';
import type { Rejection } from '@recourse/kernel';
import { ConnectProblem, EdgeProblem } from '@recourse/sdk';

/** Every exit code, and what it says to a script. */
export const EXIT_CODES = {
  done: { code: 0, summary: 'Done; an audit found nothing, a comparison no difference.' },
  found: { code: 1, summary: 'An audit or a comparison found something; what and where is printed.' },
  blocked: { code: 2, summary: 'A readiness review or a harness audit found a P0 blocker.' },
  usage: {
    code: 64,
    summary: 'The call is not understood, or an address, a token or a file it needs is missing; nothing was done.',
  },
  refused: { code: 3, summary: 'A service refused, with a code; nothing was done.' },
  unavailable: {
    code: 4,
    summary:
      'A service, Kafka, the schema registry or a database did not answer. The outcome of a command may be unknown.',
  },
  pending: { code: 5, summary: 'The command was taken and has no outcome yet; where to ask is printed.' },
  declined: { code: 6, summary: 'The person at the terminal said no; nothing was done.' },
  partly: {
    code: 7,
    summary:
      'Done in part: an undo has ended and not every effect is undone, or some of several contracts were refused; which, and why, is printed.',
  },
  unproved: { code: 8, summary: 'Nothing differs, and something was left unchecked; what is printed.' },
  bug: { code: 70, summary: 'A bug.' },
} as const satisfies Record<string, { readonly code: number; readonly summary: string }>;

export type ExitKind = keyof typeof EXIT_CODES;

/** What can be done about codes that services answer. Codes that carry their own remedy are not here. */
const REMEDIES: Readonly<Record<string, string>> = {
  TOKEN_MISSING: 'Pass --token-file (or --token); on a development stack --as <subject> asks its issuer.',
  TOKEN_REFUSED: 'Get a new token from the issuer that the services trust.',
  ROLE_REQUIRED: 'Use a token with the role; on a development stack: --roles <role,...>.',
  ROLE_OF_ONE_TENANT: 'Add --tenant <tenant>, or use a token of one tenant: the role counts there.',
  ROLE_OF_ALL_TENANTS: "Add --tenant '*', or use a token for all tenants: the role counts there.",
  ROLES_CONFLICT:
    'Ask for a token with one of the two; on a development stack: --roles contract_editor, or --roles approver.',
  TENANT_FOREIGN:
    'Use a token of that tenant. On a development stack --tenant <tenant> asks for one; --as without --tenant asks for all tenants, which only administrators and auditors speak for.',
  TENANT_REQUIRED: 'Add --tenant <tenant>: what you speak for is all tenants, and this is about one of them.',
  SELF_APPROVAL:
    'Somebody else has to decide: neither the agent nor the person it acted for. On a development stack: --as <subject>.',
  APPROVER_NOT_A_PERSON: 'Use the token of a person.',
  EDITOR_APPROVAL:
    'Somebody else has to decide: nobody who registered or confirmed the contract or its newest version. On a development stack: --as <subject>, else you are the account of this machine.',
  DIGEST_MISMATCH:
    'The action has changed since it was shown. Look again with `recourse recoveries show`, then decide.',
  APPROVAL_EXPIRED: 'The agent may ask again; that is a new question.',
  APPROVAL_WRONG_PHASE: 'Look at it with `recourse approvals show`.',
  KILL_SWITCH: 'Look at `recourse kill-switch list`; what it stops goes on once it is lifted.',
  STEP_WRONG_PHASE: 'Look at its phase with `recourse recoveries show`.',
  INCIDENT_CLOSED: 'Look at how it ended with `recourse incidents show`.',
  TRIGGER_JUDGED: 'Look at what was said of it with `recourse rollbacks show`.',
  SAME_APPROVER: 'Another person has to agree, too.',
  ESCALATION_DECIDED: 'Look at who decided it with `recourse budgets show`.',
  ENTRY_UNKNOWN: 'List those that stand with `recourse entry list` or `recourse kill-switch list`.',
  SWITCH_STANDS: 'See it with `recourse kill-switch list`; turn this one on under another name.',
  PARKED_BEHIND: 'See them with `recourse parked list`.',
  STILL_UNREADABLE: 'Remove its cause, or give it up with `recourse parked discard`.',
  NO_TRIGGER: 'Review it with `recourse rollbacks review`.',
  OUT_OF_BAND_REVIEWED: 'Look at what was said of it with `recourse rollbacks show`.',
  NOT_BEYOND_BOUND: 'List what waits for a review with `recourse rollbacks list --phase beyond`.',
  SELF_JUDGEMENT: 'Somebody else has to say whether the trigger was right.',
  JUDGE_NOT_A_PERSON: 'Use the token of a person.',
  BREAKER_CLOSED: 'Look at it with `recourse breakers list --state closed`.',
  TASK_CLOSED: 'Look at how it ended with `recourse tasks show`.',
  AUTHOR_NOT_A_PERSON: 'Use the token of the person who wrote it.',
  APPROVAL_USED: 'An approval is used once; look at the step with `recourse recoveries show`.',
  ROUTE_UNKNOWN: 'Look at the address: another service answers there, or one of another version.',
  NOT_FOUND:
    'Look for it with `list` of the same commands, or with `recourse items`; what was just written may take a moment to show. An id of another tenant is not found.',
  NOT_READY: 'The service is still reading its inputs; try again in a moment.',
  BROKER_UNAVAILABLE: waitsFor('Kafka'),
  REGISTRY_UNAVAILABLE: waitsFor('schema registry'),
  DATABASE_UNAVAILABLE: waitsFor('database'),
  READ_TOO_LONG: 'Ask for less: `--tenant`, and the other filters of the command (`--help`).',
  KEY_STORE_UNAVAILABLE: waitsFor('key store'),
  SERVICE_UNREACHABLE: 'Is it running? `npm start` starts everything; --data-dir names another stack.',
  OUTCOME_PENDING:
    'Repeat it with that key in --idempotency-key: it is the same command. One that stays so may wait behind a parked record: `recourse parked list`.',
  CURSOR_OUT_OF_RANGE:
    'Of a wire, see `recourse log accept-loss --help`; a log is restored from the same moment as those that read it: Restore in docs/guides/deploy.md.',
  LOG_FRONT_CUT:
    'Restore the log with its offsets from the newest copy: Restore in docs/guides/deploy.md. No `recourse log` command accepts this.',
  LOG_ID_FOREIGN:
    'Set RECOURSE_LOG_ID of that service to what the others have; `recourse audit verify` tells whether a chain was begun beside.',
  KEYRING_INVALID:
    'Mend the place that is named; `recourse keys check <file>` reads a whole keyring, `recourse keys new` makes a key.',
  CLOCK_BEHIND: 'Correct the clock; if the log itself lies ahead, see `recourse log accept-time --help`.',
  LOG_CUT: 'Find out why the log lost records, then see `recourse log accept-cut --help`.',
};

/** What a service does not reach, it asks for on by itself. */
function waitsFor(what: string): string {
  return `See that the ${what} of that service runs and can be reached from it; the service goes on by itself then, and nothing is lost.`;
}

/** A coded refusal or failure on its way to the terminal. */
export class CliProblem extends Error {
  override readonly name = 'CliProblem';
  readonly remedy: string | null;
  readonly problems: readonly Rejection[];
  constructor(
    readonly code: string,
    message: string,
    readonly exit: ExitKind,
    more: { readonly remedy?: string; readonly problems?: readonly Rejection[]; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.remedy = more.remedy ?? REMEDIES[code] ?? null;
    this.problems = more.problems ?? [];
  }
}

/** Whatever was thrown, as a problem. Pure. */
export function problemOf(thrown: unknown): CliProblem {
  if (thrown instanceof CliProblem) return thrown;
  if (thrown instanceof EdgeProblem) return problemOfEdge(thrown);
  if (thrown instanceof ConnectProblem)
    return new CliProblem(thrown.code, thrown.detail, 'usage', { remedy: `${thrown.remedy}.`, cause: thrown });
  if (thrown instanceof Failure) {
    const { summary } = FAILURES[thrown.code];
    return new CliProblem(thrown.code, thrown.message.replace(`${thrown.code}: `, ''), 'unavailable', {
      remedy: REMEDIES[thrown.code] ?? summary,
      cause: thrown,
    });
  }
  return new CliProblem(
    'INTERNAL',
    thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    'bug',
    { remedy: 'Report it with the lines above.', cause: thrown },
  );
}

/** What to do: of the problem it lists, which says more, or of the code; else what the service says. */
function remedyOf(code: string, told: string | null, problems: readonly Rejection[]): { readonly remedy?: string } {
  const listed = problems.map((problem) => REMEDIES[problem.code]).find((found) => found !== undefined);
  const remedy = listed ?? REMEDIES[code] ?? told;
  return remedy === null ? {} : { remedy };
}

/** A refusal is in the service's own words; of trouble of its own, and where there are none, it is said who was asked. */
function problemOfEdge(cause: EdgeProblem): CliProblem {
  const { code, detail, from, status, problems, remedy } = cause;
  const isRefusal = status !== null && status >= 400;
  const exit = code === 'OUTCOME_PENDING' ? 'pending' : isRefusal && status < 500 ? 'refused' : 'unavailable';
  return new CliProblem(code, isRefusal && status < 500 ? detail : `${from}: ${detail}`, exit, {
    ...remedyOf(code, remedy, problems),
    problems,
    cause,
  });
}

/** Text of a problem for people: the code, what is wrong, every single problem, what to do. Pure. */
function describeProblem({ code, message, remedy, problems }: CliProblem): string {
  // What the message says of each is said once, with its code and place.
  const isListed = problems.length > 0 && problems.every((one) => message.includes(one.message));
  return [
    `${code}: ${isListed ? `${String(problems.length)} ${problems.length === 1 ? 'thing is' : 'things are'} wrong` : message}`,
    ...problems.map(
      (one) =>
        `  ${one.code}${one.path === undefined ? '' : ` at ${one.path === '' ? 'the whole' : one.path}`}: ${one.message}`,
    ),
    ...(remedy === null ? [] : [`What to do: ${remedy}`]),
  ].join('\n');
}

/** The same for scripts. Pure. */
function problemJson({ code, message, remedy, problems, exit }: CliProblem): object {
  return { error: { code, message, remedy, problems, exit_code: EXIT_CODES[exit].code } };
}

/** A problem as it is printed. Pure. */
export function problemText(problem: CliProblem, isJson: boolean): string {
  return isJson ? JSON.stringify(problemJson(problem), null, 2) : describeProblem(problem);
}
