// recourse recoveries approve-all, deny-all, retry-all: one look at everything that one false fact left behind, one reason, and a decision of
// its own about each step.
//
// Invariants
//   S1. Nothing is decided that was not shown: a person is shown the table and asked, a script names the digest of the set it was shown.
//   S2. Each decision carries the digest of its own action, and the edge judges it as if it stood alone.
//   S3. What needs to be read alone is left out and named.
import { randomUUID } from 'node:crypto';
import type { Doc, EdgeClient } from '@recourse/sdk';
import { EdgeProblem } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { cellText, formatFields, formatTable } from '../output/table.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, notEmpty, positiveInteger, reasonIn } from './options.js';
import type { Act } from './options.js';
import {
  CHOSEN_COLUMNS,
  choose,
  idOf,
  isMeant,
  keyOfOne,
  LEFT_OUT_COLUMNS,
  PHASE_FOR,
  setDigest,
  totals,
} from './several.rules.js';
import type { Chosen, Narrowing, SeveralVerb } from './several.rules.js';
import { pathBelow } from './shapes.js';

interface SeveralOptions extends Narrowing {
  readonly run?: string;
  readonly limit: number;
  readonly preview?: boolean;
  readonly reason?: string;
  readonly digest?: string;
  readonly yes?: boolean;
  readonly idempotencyKey?: string;
}

/** How the decision about one step ended. */
interface Ended {
  readonly step_id: string;
  readonly outcome: 'done' | 'refused' | 'pending' | 'unknown' | 'not_sent';
  readonly code: string | null;
  readonly detail: string | null;
}

/** What is decided in one go, unless fewer are asked for: more than anybody reads at once. */
const SEVERAL_MAX = 1_000;
/** Rows that are looked through for those that are meant. */
const LOOKED_MAX = 10_000;
/** Requests at once. */
const AT_ONCE = 8;
const SAYS: Readonly<Record<SeveralVerb, { readonly does: string; readonly asks: string; readonly what: string }>> = {
  approve: {
    does: 'agrees to each step that waits for approval and fits: shows them all, asks once, and sends the digest of each with its own approval',
    asks: 'Approve exactly these',
    what: 'an approval',
  },
  deny: {
    does: 'refuses each step that waits for approval and fits: shows them all, asks once; the mutations go to a person',
    asks: 'Deny exactly these',
    what: 'a denial',
  },
  retry: {
    does: 'tries each step again that a person was given and that fits: same key, reconciled first, agreed to anew',
    asks: 'Try exactly these again',
    what: 'another try',
  },
};

const stepPath = pathBelow('/v1/steps');
const reviewPath = pathBelow('/v1/reviews');

/** Adds `approve-all`, `deny-all` and `retry-all` to the commands about recoveries. */
export function addSeveral(recoveries: Command, act: Act): void {
  for (const verb of ['approve', 'deny', 'retry'] as const)
    recoveries
      .command(`${verb}-all`)
      .description(SAYS[verb].does)
      .option('--fact <ref>', 'only those that fell with this fact', notEmpty)
      .option('--root <id>', 'only this mutation, run or rollback and what fell with it, in other runs too', notEmpty)
      .option('--run <id>', 'only those of one run', notEmpty)
      .option('--capability <name>', 'only those of what this capability did', notEmpty)
      .option('--why <code>', 'only those that a person has for this reason, such as HIGH_IMPACT', notEmpty)
      .addOption(
        new Option('--limit <n>', 'at most so many, the soonest deadline first')
          .default(SEVERAL_MAX)
          .argParser((text) => Math.min(positiveInteger(text), SEVERAL_MAX)),
      )
      .option('--preview', 'only show them, with the digest of the set')
      .option('--reason <text>', 'why, in your words, recorded with each; asked for in a terminal, needed elsewhere')
      .option('--digest <hex>', 'refuse unless it is exactly the set that has this digest; needed with --yes')
      .option('-y, --yes', 'do not ask')
      .addOption(IDEMPOTENCY_KEY())
      .action(act<SeveralOptions>((session, options) => decideAll(session, verb, options)));
}

async function decideAll(session: Session, verb: SeveralVerb, options: SeveralOptions): Promise<ExitKind> {
  const { chosen, more } = await lookedUp(session, verb, options);
  const digest = setDigest(verb, chosen.going);
  const shown = { digest, more, items: chosen.going, left_out: chosen.left_out };
  const text = (): string => chosenText(chosen, { digest, more });
  const isEmpty = chosen.going.length === 0;
  if (options.preview === true || (isEmpty && options.digest === undefined)) {
    session.show(shown, text);
    return 'done';
  }
  if (!session.isJson || session.terminal.isInteractive) session.terminal.note(`${text()}\n`);
  if (options.digest !== undefined && options.digest.toLowerCase() !== digest)
    throw new CliProblem('DIGEST_MISMATCH', `the set has the digest ${digest} by now`, 'refused', {
      remedy: 'Something else waits than what you saw: look at it with --preview, then decide.',
    });
  if (!(await isAgreed(session, verb, chosen.going.length, options))) return 'declined';
  const reason = await reasonIn(session, options, SAYS[verb].what);
  const ended = await sendAll(session, verb, chosen.going, { reason, key: options.idempotencyKey ?? randomUUID() });
  session.show({ digest, more, items: ended, left_out: chosen.left_out }, () => endedText(ended));
  return exitOf(ended);
}

/** The steps that fit, as whoever reads them decides about them. */
async function lookedUp(
  session: Session,
  verb: SeveralVerb,
  { run, limit, ...narrowing }: SeveralOptions,
): Promise<{ readonly chosen: Chosen; readonly more: boolean }> {
  const orchestrator = session.service('recoveries');
  const query = { state: PHASE_FOR[verb], run_id: run, tenant: session.tenant };
  const found = await orchestrator.list('/v1/reviews', query, LOOKED_MAX);
  const meant = found.items.filter(isMeant(narrowing));
  let chosen: Chosen = { going: [], left_out: [] };
  let looked = 0;
  // What is left out, such as what has closed by now, keeps nobody from the rest.
  while (looked < meant.length && chosen.going.length < limit) {
    const rows = meant.slice(looked, looked + limit - chosen.going.length);
    looked += rows.length;
    const items = await eachOf(rows, 'looked at', session, (row) =>
      orchestrator.get(reviewPath(idOf(row)), { tenant: cellText(row['tenant']) }),
    );
    const { going, left_out } = choose(verb, items);
    chosen = { going: [...chosen.going, ...going], left_out: [...chosen.left_out, ...left_out] };
  }
  return { chosen, more: found.more || meant.length > looked };
}

/** Errors: CliProblem(CONFIRMATION_NEEDED, DIGEST_NEEDED). */
async function isAgreed(
  { terminal }: Session,
  verb: SeveralVerb,
  count: number,
  { yes, digest }: SeveralOptions,
): Promise<boolean> {
  const remedy = 'See them with --preview, then pass --yes with the --digest that it shows.';
  if (yes === true) {
    if (digest !== undefined) return true;
    throw new CliProblem('DIGEST_NEEDED', '--yes would decide about what nobody has seen', 'usage', { remedy });
  }
  if (!terminal.isInteractive)
    throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', { remedy });
  return isYes(await terminal.ask(`${SAYS[verb].asks} ${countText(count, 'step')}? [y/N] `));
}

/** One command for each. Once a service is out of reach, or does not get to it, nothing more is sent. */
async function sendAll(
  session: Session,
  verb: SeveralVerb,
  going: readonly Doc[],
  { reason, key }: { readonly reason: string; readonly key: string },
): Promise<readonly Ended[]> {
  session.renewToken();
  const orchestrator = session.service('recoveries');
  let isStuck = false;
  return eachOf(going, 'sent', session, async (item): Promise<Ended> => {
    const step = idOf(item);
    if (isStuck) return { step_id: step, outcome: 'not_sent', code: null, detail: null };
    const ended = await sendOne(orchestrator, verb, item, { reason, key: keyOfOne(key, verb, step) });
    isStuck ||= ended.outcome === 'unknown' || ended.outcome === 'pending';
    return ended;
  }).finally(() => {
    if (isStuck)
      session.terminal.note(
        `look at what is left with --preview, and send it with --idempotency-key ${key}: nothing is done twice`,
      );
  });
}

async function sendOne(
  orchestrator: EdgeClient,
  verb: SeveralVerb,
  item: Doc,
  { reason, key }: { readonly reason: string; readonly key: string },
): Promise<Ended> {
  const step_id = idOf(item);
  const body = verb === 'retry' ? { reason } : { action_digest: item['action_digest'], reason };
  try {
    await orchestrator.command(stepPath(step_id, verb), body, key);
    return { step_id, outcome: 'done', code: null, detail: null };
  } catch (problem) {
    if (!(problem instanceof EdgeProblem)) throw problem;
    const { code, detail, status } = problem;
    const isRefused = status !== null && status >= 400 && status < 500;
    const outcome = code === 'OUTCOME_PENDING' ? 'pending' : isRefused ? 'refused' : 'unknown';
    return { step_id, outcome, code, detail };
  }
}

/** Does one thing for each, several at once; tells a person how far it is. Results stand in the order of what was given. */
async function eachOf<Given, Got>(
  given: readonly Given[],
  doing: string,
  { terminal }: Session,
  one: (given: Given) => Promise<Got>,
): Promise<readonly Got[]> {
  const got: Got[] = [];
  const waiting = [...given.entries()];
  let done = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      got[next[0]] = await one(next[1]);
      done += 1;
      if (given.length > AT_ONCE) terminal.progress?.(`${String(done)} of ${String(given.length)} ${doing}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    terminal.progress?.(null);
  }
  return got;
}

function chosenText(
  { going, left_out: left }: Chosen,
  { digest, more }: { readonly digest: string; readonly more: boolean },
): string {
  const parts = [
    going.length === 0 ? 'none' : formatTable(CHOSEN_COLUMNS, going),
    left.length === 0 ? '' : formatTable(LEFT_OUT_COLUMNS, left),
    formatFields([
      ['steps', going.length === 0 ? null : going.length],
      ['value', going.length === 0 ? null : totals(going)],
      ['left out', left.length === 0 ? null : `${String(left.length)}: read each with recourse reviews show`],
      ['more', more ? 'others fit, too: call it again afterwards' : null],
      ['digest', going.length === 0 ? null : digest],
    ]),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function endedText(ended: readonly Ended[]): string {
  const others = ended.filter(({ outcome }) => outcome !== 'done');
  const done = `${String(ended.length - others.length)} of ${String(ended.length)} done`;
  if (others.length === 0) return done;
  const columns = (['step_id', 'outcome', 'code', 'detail'] as const).map((name) => ({
    title: name === 'step_id' ? 'STEP' : name.toUpperCase(),
    of: (row: Ended) => row[name],
  }));
  return `${formatTable(columns, others)}\n\n${done}`;
}

function exitOf(ended: readonly Ended[]): ExitKind {
  const has = (outcome: Ended['outcome']): boolean => ended.some((one) => one.outcome === outcome);
  if (has('unknown')) return 'unavailable';
  if (has('pending')) return 'pending';
  if (!has('refused')) return 'done';
  return has('done') ? 'partly' : 'refused';
}
