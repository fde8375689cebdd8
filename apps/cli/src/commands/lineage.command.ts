// recourse lineage …: what rests on a commit and what became of it, what would fall, whether a fall has settled, and what runtimes hold that fell.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { readOne } from '../contracts/files.js';
import { lineageDot, lineageSvg } from '../lineage/lineage-picture.js';
import { lineageText } from '../lineage/lineage-text.js';
import { drawnOf } from '../lineage/lineage-graph.js';
import type { Drawn } from '../lineage/lineage-graph.js';
import { byHarm, carried, endsComparing, heldIn, partsOf } from '../lineage/reconcile.js';
import { formatFields, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { problemOf, problemText } from '../problem.js';
import type { Session } from '../session.js';
import { addPackets } from './lineage-packet.command.js';
import { fallFields } from './fall.js';
import type { Act } from './options.js';
import { addDivergences } from './divergences.command.js';
import { addListAction } from './shapes.js';

const CONTAMINATED: readonly Column<Doc>[] = [
  { title: 'COMMIT', of: (row) => row['commit_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'BECAUSE', of: (row) => (row['cause'] === 'fallen' ? 'it fell' : 'it rests on one that fell') },
  { title: 'FELL', of: (row) => docOf(row['fallen'])['commit_id'] },
  { title: 'ROLLBACK', of: (row) => row['rollback_id'] },
  { title: 'ROLLED BACK', of: (row) => instant(row['rolled_back_at']) },
  { title: 'REACHED USERS', of: (row) => instant(row['reached_user_at']) },
];
const RECONCILIATIONS: readonly Column<Doc>[] = [
  { title: 'WHEN', of: (row) => instant(row['reconciled_at']) },
  { title: 'RUNTIME', of: (row) => row['runtime'] },
  { title: 'COMPARED', of: (row) => row['compared'], align: 'right' },
  {
    title: 'DIVERGES',
    of: (row) => (Array.isArray(row['contaminated']) ? row['contaminated'].length : 0),
    align: 'right',
  },
  { title: 'RECONCILIATION', of: (row) => row['reconciliation_id'] },
];
const WAITING: readonly Column<Doc>[] = [
  { title: 'LEDGER PARTITION', of: (row) => row['partition'], align: 'right' },
  { title: 'NOTICES PARTITION', of: (row) => row['of'], align: 'right' },
  { title: 'HAS READ', of: (row) => row['position'], align: 'right' },
  { title: 'NEEDS', of: (row) => row['needed'], align: 'right' },
];

interface ShowOptions {
  readonly rollback?: string;
  readonly format: string;
}
interface ReconcileOptions {
  readonly runtime: string;
  readonly file: string;
  readonly every?: number;
}

export function addLineage(program: Command, act: Act): void {
  const lineage = program
    .command('lineage')
    .description(
      'what rests on what: the graph around a commit, what would fall with it, whether a fall has settled, and which runtimes diverge',
    );
  addReads(lineage, act);
  addReconciling(lineage, act);
  addDivergences(lineage, act);
  addPackets(lineage, act);
}

function addReads(lineage: Command, act: Act): void {
  lineage
    .command('show')
    .description(
      'shows the graph around a commit: what fell, was reattached or is beyond the bound, who was told and who has not answered',
    )
    .argument('<commit>', 'commit or mutation id')
    .option('--rollback <id>', 'only what this rollback reached')
    .addOption(
      new Option('--format <format>', 'how it is drawn').choices(['text', 'svg', 'dot', 'json']).default('text'),
    )
    .action(
      act<ShowOptions>(async (session, { rollback, format }, commit = '') => {
        draw(session, await ask(session, commit, '', { rollback }), format);
      }),
    );
  lineage
    .command('preview')
    .description('shows what a rollback of the commit would reach; does nothing')
    .argument('<commit>', 'commit or mutation id')
    .action(
      act(async (session, _options, commit = '') => {
        const told = await ask(session, commit, '/preview');
        session.show(told, () => formatFields([['commit', told['commit']], ...fallFields(told)]));
      }),
    );
  lineage
    .command('settled')
    .description('shows whether every partition has taken the fall of a commit into account, and what is missing')
    .argument('<commit>', 'commit or mutation id')
    .action(
      act(async (session, _options, commit = '') => {
        const told = await ask(session, commit, '/settled');
        session.show(told, () => settledText(told));
        return told['settled'] === true ? 'done' : 'pending';
      }),
    );
}

function addReconciling(lineage: Command, act: Act): void {
  lineage
    .command('reconcile')
    .description(
      'compares the commits a runtime holds with what was rolled back, and lists what diverges and when it reached users',
    )
    .requiredOption('--runtime <name>', 'name of the runtime')
    .requiredOption(
      '--file <file>',
      'JSON list of its commits: {run_id, commit_id, derived_from, stands, reached_user_at}',
    )
    .option(
      '--every <span>',
      'repeat at this interval, such as 60s or 5min, until interrupted; the file is read again each time',
      seconds,
    )
    .action(
      act<ReconcileOptions>(async (session, options) => {
        if (options.every !== undefined) return reconcileAgainAndAgain(session, options, options.every);
        return (await reconcileOnce(session, options)) ? 'found' : 'done';
      }),
    );
  addListAction<{ runtime?: string; diverging?: boolean }>(
    lineage
      .command('reconciliations')
      .description('lists past comparisons')
      .option('--runtime <name>', 'of one runtime')
      .option('--diverging', 'only those that found something'),
    act,
    {
      service: 'ledger',
      path: '/v1/reconciliations',
      by: 'reconciled_at',
      grows: true,
      columns: RECONCILIATIONS,
      query: ({ runtime, diverging }) => ({ runtime, diverges: diverging === true ? 'true' : undefined }),
    },
  );
}

async function ask(
  session: Session,
  commit: string,
  part: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Doc> {
  return session
    .service('ledger')
    .get(`/v1/lineage/${encodeURIComponent(commit)}${part}`, { ...query, tenant: session.tenant });
}

function draw(session: Session, answer: Doc, format: string): void {
  const drawn = drawnOf(answer);
  if (session.isJson || format === 'json') {
    session.terminal.out(JSON.stringify(answer, null, 2));
    return;
  }
  session.terminal.out(DRAWN[format]?.(drawn) ?? lineageText(drawn));
}

const DRAWN: Readonly<Record<string, (drawn: Drawn) => string>> = {
  svg: lineageSvg,
  dot: lineageDot,
  text: lineageText,
};

function settledText(told: Doc): string {
  const counted = (name: string): unknown => docOf(told[name])['count'];
  const waiting = listOf(told['waiting_for']).map(docOf);
  const fields = formatFields([
    ['commit', told['commit']],
    ['settled', told['settled'] === true ? 'yes' : told['rollback_id'] === null ? 'no: the commit stands' : 'no'],
    ['rollback', told['rollback_id']],
    ['fell', told['fallen']],
    ['beyond the bound', told['beyond']],
    ['not marked yet', counted('unmarked')],
    ['not announced yet', counted('unannounced')],
  ]);
  return waiting.length === 0 ? fields : `${fields}\n\n${formatTable(WAITING, waiting)}`;
}

/**
 * Compares until the process ends: a ledger that is away and a file that cannot be read just now are told, and the next comparison is made.
 *
 * Errors: those of the first comparison that no waiting mends: a call that is not understood, or refused.
 */
async function reconcileAgainAndAgain(
  session: Session,
  options: ReconcileOptions,
  everySeconds: number,
): Promise<never> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      await reconcileOnce(session, options);
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (endsComparing(problem.exit, isFirst)) throw thrown;
      session.terminal.note(problemText(problem, session.isJson));
    }
    await session.clock.sleep(everySeconds * 1_000);
    session.renewToken();
  }
}

/** One comparison, in parts; true where something diverges. */
async function reconcileOnce(session: Session, { runtime, file }: ReconcileOptions): Promise<boolean> {
  const parts = partsOf(heldIn(readOne(file, session.folder).value, file));
  const [found, ids]: [Doc[], unknown[]] = [[], []];
  for (const part of parts) {
    const answer = await session.service('ledger').command('/v1/reconciliations', {
      runtime,
      ...(session.tenant === null ? {} : { tenant: session.tenant }),
      commits: carried(part, found),
    });
    found.push(...listOf(answer['contaminated']).map(docOf));
    ids.push(answer['reconciliation_id']);
  }
  const compared = parts.reduce((sum, part) => sum + part.length, 0);
  session.show({ runtime, compared, contaminated: found, reconciliation_ids: ids }, () =>
    found.length === 0
      ? `${runtime} does not diverge: ${countText(compared, 'commit')} compared`
      : `${formatTable(CONTAMINATED, byHarm(found))}\n\n${runtime} diverges in ${found.length} of ${countText(compared, 'commit')}`,
  );
  return found.length > 0;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600 };

/** A span in seconds. Errors: InvalidArgumentError, which commander reports. */
function seconds(text: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,6})(s|min|h)?$/.exec(text) ?? [];
  if (count !== '') return Number(count) * (UNITS[unit] ?? 1);
  throw new InvalidArgumentError('It must be a span such as 60s, 5min or 1h.');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
