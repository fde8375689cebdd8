// What the command line refuses or cannot do, and the exit code each kind has.
import { Failure, FAILURES } from '@recourse/kernel';
import type { Rejection } from '@recourse/kernel';
import { ConnectProblem, EdgeProblem } from '@recourse/sdk';
import { countText } from './output/count-text.js';
import { REMEDIES } from './remedies.js';

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
      'Done in part: an undo has ended and not every effect is undone, or some of several contracts or entries were refused; which, and why, is printed.',
  },
  unproved: {
    code: 8,
    summary: 'Nothing differs, and something was left unchecked, or a spreadsheet was cut short; what is printed.',
  },
  bug: { code: 70, summary: 'A bug.' },
} as const satisfies Record<string, { readonly code: number; readonly summary: string }>;

export type ExitKind = keyof typeof EXIT_CODES;

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
    `${code}: ${isListed ? `${countText(problems.length, 'thing is', 'things are')} wrong` : message}`,
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
