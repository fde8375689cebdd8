// The decision of a person about exactly what is shown: shows it, asks, sends the digest that was shown.
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { formatFields } from '../output/table.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, reasonIn } from './options.js';
import type { Act } from './options.js';

interface VerdictOptions {
  readonly reason?: string;
  readonly yes?: boolean;
  readonly digest?: string;
  readonly idempotencyKey?: string;
  readonly minutes?: number;
}

type VerdictVerb = 'approve' | 'deny' | 'break-glass';

/** How each verb asks, what its reason is of, and what it sends beside digest and reason. */
const VERDICTS: Readonly<
  Record<VerdictVerb, { readonly asks: string; readonly of: string; readonly more?: (options: VerdictOptions) => Doc }>
> = {
  approve: { asks: 'Approve', of: 'an approval' },
  deny: { asks: 'Deny', of: 'a denial' },
  'break-glass': {
    asks: 'Break the glass for',
    of: 'a broken glass',
    more: ({ minutes = 15 }) => ({ valid_ms: minutes * 60_000 }),
  },
};

/** What is decided about. */
export interface Decidable {
  readonly argument: string;
  readonly description: string;
  readonly path: (id: string) => string;
  /** Where everything stands that a person decides by; `path` unless told. */
  readonly shownAt?: (id: string) => string;
  /** `now` in epoch milliseconds tells the time left. */
  readonly describe: (item: Doc, now: number) => string;
}

/** Adds the command of a verb to a group of commands. */
export function addVerdict(group: Command, act: Act, verb: VerdictVerb, decidable: Decidable): Command {
  return group
    .command(verb)
    .description(decidable.description)
    .argument(`<${decidable.argument}>`, `${decidable.argument} id`)
    .option('--reason <text>', 'why, in your words: it is recorded; asked for in a terminal, needed elsewhere')
    .option('--digest <hex>', 'refuse unless the action still has this digest')
    .option('-y, --yes', 'do not ask')
    .addOption(IDEMPOTENCY_KEY())
    .action(act<VerdictOptions>((session, options, id) => decide(session, verb, decidable, id ?? '', options)));
}

async function decide(
  session: Session,
  verb: VerdictVerb,
  { path, shownAt = path, describe }: Decidable,
  id: string,
  options: VerdictOptions,
): Promise<ExitKind> {
  const { clock, terminal } = session;
  const { asks, of, more } = VERDICTS[verb];
  const orchestrator = session.service('recoveries');
  const item = await orchestrator.get(shownAt(id), { tenant: session.tenant });
  if (isShown(session, options)) terminal.note(`${describe(item, clock.now())}\n`);
  const digest = digestOf(item, options.digest);
  if (options.yes !== true) {
    if (!terminal.isInteractive)
      throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', {
        remedy: 'Pass --yes to decide without being asked.',
      });
    if (!isYes(await terminal.ask(`${asks} exactly this action (digest ${digest.slice(0, 12)}…)? [y/N] `)))
      return 'declined';
  }
  const reason = await reasonIn(session, options, of);
  const answer = await orchestrator.command(
    `${path(id)}/${verb}`,
    { action_digest: digest, ...more?.(options), reason },
    options.idempotencyKey,
  );
  session.show(answer, () => formatFields(Object.entries(answer)));
  return 'done';
}

/** A script reads no table: with --json it is shown only to somebody who is about to be asked. */
function isShown({ isJson, terminal }: Session, { yes, reason }: VerdictOptions): boolean {
  return !isJson || (terminal.isInteractive && (yes !== true || reason === undefined));
}

/** Digest of the action that is shown. Errors: CliProblem(STEP_WRONG_PHASE, DIGEST_MISMATCH). */
function digestOf(item: Doc, expected: string | undefined): string {
  const digest = item['action_digest'];
  if (typeof digest !== 'string')
    throw new CliProblem('STEP_WRONG_PHASE', 'the step proposes no action that could be approved or denied', 'refused');
  if (expected !== undefined && expected.toLowerCase() !== digest)
    throw new CliProblem('DIGEST_MISMATCH', `the action now has the digest ${digest}`, 'refused');
  return digest;
}
