// recourse undo …: what an undo of a run would do, the request for it, and the truthful report of what became of each effect.
import type { Doc } from '@recourse/sdk';
import { askOfRun, docOf, EdgeProblem, untilEnded } from '@recourse/sdk';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { tenantIn } from '../entries/retiring.js';
import { cellText, formatFields, formatTable, instant, money, span } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, positiveInteger, reasonIn } from './options.js';
import type { Act } from './options.js';
import { addListAction, pathBelow } from './shapes.js';
import { waitsText, withSteps } from './undo-waiting.js';

const UNDO_COLUMNS: readonly Column<Doc>[] = [
  { title: 'UNDO', of: (row) => row['undo_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'OUTCOME', of: (row) => wordsOf(row['outcome']) },
  { title: 'EFFECTS', of: (row) => listOf(row['mutation_ids']).length, align: 'right' },
  { title: 'BEGUN BY', of: (row) => begunBy(row, docOf(row['evidence'])['source']) },
  { title: 'ASKED', of: (row) => instant(row['opened_at']) },
];
const PREVIEW_COLUMNS: readonly Column<Doc>[] = [
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'WOULD BE', of: (row) => wordsOf(row['outcome']) },
  { title: 'BECAUSE', of: (row) => row['reason'] },
  { title: 'STAYS', of: (row) => row['residue'] },
  { title: 'VALUE', of: (row) => money(row['value']), align: 'right' },
  { title: 'PEOPLE', of: (row) => row['people_needed'], align: 'right' },
  {
    title: 'CLOSES IN',
    of: (row) => (typeof row['closes_in_ms'] === 'number' ? span(row['closes_in_ms']) : null),
    align: 'right',
  },
];
const REPORT_COLUMNS: readonly Column<Doc>[] = [
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'IS', of: (row) => wordsOf(row['outcome']) },
  { title: 'BECAUSE', of: (row) => row['reason'] },
  { title: 'WAITS FOR', of: (row) => waitsText(row) },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
  { title: 'STAYS', of: (row) => row['residue'] },
  { title: 'STEP', of: (row) => row['step_id'] },
];

interface UndoOptions {
  readonly mutation?: readonly string[];
  readonly preview?: boolean;
  readonly reason?: string;
  readonly wait?: number;
  readonly idempotencyKey?: string;
}

/** What a script is told of how an undo ended. */
const ENDED_AS: Readonly<Record<string, ExitKind>> = {
  undone: 'done',
  partly_undone: 'partly',
  not_undone: 'partly',
  nothing_to_undo: 'partly',
};

const undoPath = pathBelow('/v1/undos');

export function addUndo(program: Command, act: Act): void {
  program
    .command('undo')
    .description(
      'undoes what a run did, or some of it: last first, each under its contract and with the approvals it asks for',
    )
    .argument('<run>', 'run id')
    .option(
      '--mutation <id>',
      'only this one; may be repeated',
      (id: string, before: readonly string[] | undefined) => [...(before ?? []), id],
    )
    .option('--preview', 'only say what it would do')
    .option('--reason <text>', 'why, in your words; needed unless --preview')
    .option('--wait <seconds>', 'wait this long for every effect to settle, and report how each ended', positiveInteger)
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<UndoOptions>(async (session, options, run = '') =>
        options.preview === true ? preview(session, run, options.mutation ?? []) : undo(session, run, options),
      ),
    );
  addUndos(
    program
      .command('undos')
      .description('undos that were asked for or that a failed step began, and what became of them'),
    act,
  );
}

function addUndos(undos: Command, act: Act): void {
  addListAction<{ run?: string; phase?: string }>(
    undos
      .command('list')
      .description('lists undos; opened: more of their effects are to be named; listed: all are')
      .option('--run <id>', 'of one run')
      .option('--phase <phase>', 'opened or listed'),
    act,
    {
      service: 'ledger',
      path: '/v1/undos',
      by: 'opened_at',
      grows: true,
      columns: UNDO_COLUMNS,
      query: ({ run, phase }) => ({ run_id: run, phase }),
    },
  );
  undos
    .command('show')
    .description(
      'shows how each effect ended, and what an open one waits for, who has it and until when; the whole is undone only if every one is',
    )
    .argument('<undo>', 'undo id')
    .action(
      act(async (session, _options, id = '') => {
        const report = await withSteps(session, await undoOf(session, id));
        session.show(report, () => reportText(report));
      }),
    );
}

/** Two tenants may have a run or an undo of one name: whoever names a tenant means its own. */
function undoOf(session: Session, id: string): Promise<Doc> {
  return session.service('ledger').get(undoPath(id), { tenant: session.tenant });
}

function previewOf(session: Session, run: string, ids: readonly string[]): Promise<Doc> {
  const { path, query } = askOfRun(run, 'undo-preview', { tenant: session.tenant, mutation_id: ids });
  return session.service('ledger').get(path, query);
}

async function preview(session: Session, run: string, ids: readonly string[]): Promise<undefined> {
  const found = await previewOf(session, run, ids);
  const items = itemsOf(found);
  session.show(found, () =>
    [
      items.length === 0 ? 'this run has no effects' : formatTable(PREVIEW_COLUMNS, items),
      '',
      formatFields([
        ...countsIn(found),
        ['effects that need approval, by contract as it was and as it stands', found['approvals_needed']],
        ['not of this run', listOf(found['unknown_ids'])],
      ]),
    ].join('\n'),
  );
  return undefined;
}

async function undo(
  session: Session,
  run: string,
  { mutation = [], wait, idempotencyKey, ...given }: UndoOptions,
): Promise<ExitKind | undefined> {
  const remedy = 'Pass --reason <text>, or --preview to see what it would do.';
  const reason = await reasonIn(session, given, 'an undo', remedy);
  const body = { run_id: run, mutation_ids: mutation, reason, ...tenantIn(session) };
  const opened = await session.service('ledger').command('/v1/undos', body, idempotencyKey);
  const parked = Number(opened['parked'] ?? 0);
  if (parked > 0)
    session.terminal.note(
      `${countText(parked, 'record of this run is', 'records of this run are')} parked, and what they tell of is not undone by this: recourse parked list`,
    );
  if (wait === undefined) {
    session.show(
      { ...opened, state: 'opened' },
      () =>
        `${formatFields([...Object.entries(opened), ['state', 'opened, not done']])}\n\nSee what becomes of it: recourse undos show ${cellText(opened['undo_id'])}`,
    );
    await noteWhereEmpty(session, run);
    return undefined;
  }
  const id = cellText(opened['undo_id']);
  const ended = await untilEnded(
    sayingChanges(session, () => undoOf(session, id)),
    session.clock,
    {
      withinMs: wait * 1_000,
    },
  );
  const report = await withSteps(session, ended);
  session.show(report, () => reportText(report));
  return endedAs(report);
}

/** What a person has is open, whatever is said of the whole by now. */
function endedAs(report: Doc): ExitKind {
  const isWaiting = itemsOf(report).some((item) => waitsText(item) !== null);
  return isWaiting ? 'pending' : (ENDED_AS[String(report['outcome'])] ?? 'pending');
}

/** A mistyped run is taken like any other, since effects may be told later: says so where none is on record yet. */
async function noteWhereEmpty(session: Session, run: string): Promise<void> {
  try {
    const { items } = await previewOf(session, run, []);
    if (!Array.isArray(items) || items.length > 0) return;
    session.terminal.note(
      `no effect of run ${run} is on record for this tenant: look at the id, or see recourse mutations list`,
    );
  } catch (problem) {
    if (!(problem instanceof EdgeProblem)) throw problem; // The undo is taken, whoever does not answer now.
  }
}

/** Reads a report, and tells a person in a line how its effects stand whenever that changes. A script reads the last report. */
function sayingChanges({ isJson, terminal }: Session, read: () => Promise<Doc>): () => Promise<Doc> {
  let said = '';
  return async () => {
    const report = await read();
    const counts = countsIn(report).map(([name, count]) => `${cellText(count)} ${name}`);
    const line = `undo ${cellText(report['undo_id'])}: ${counts.length === 0 ? 'no effects are named yet' : counts.join(', ')}`;
    if (line !== said && !isJson) terminal.note(line);
    said = line;
    return report;
  };
}

/** How many effects ended how; what none did is left out. */
function countsIn(report: Doc): readonly (readonly [name: string, count: unknown])[] {
  return Object.entries(docOf(report['counts']))
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => [wordsOf(name), count] as const);
}

function reportText(report: Doc): string {
  return [
    formatFields([
      ['undo', report['undo_id']],
      ['run', report['run_id']],
      ['begun by', begunBy(report, report['asked_by'])],
      ['asked', instant(report['opened_at'])],
      ['outcome', wordsOf(report['outcome'])],
    ]),
    '',
    itemsOf(report).length === 0 ? noItems(report) : formatTable(REPORT_COLUMNS, itemsOf(report)),
    '',
    formatFields(Object.entries(docOf(report['counts'])).map(([name, count]) => [wordsOf(name), count])),
  ].join('\n');
}

/** A mistyped run looks like one that did nothing. */
function noItems({ outcome, run_id }: Doc): string {
  return outcome === 'nothing_to_undo'
    ? `run ${cellText(run_id)} has no effects on record in this tenant: was it meant? See recourse mutations list`
    : 'no effects are named yet';
}

/** Who asked, or the step of the run that failed for good. */
function begunBy({ begun_by: failed }: Doc, asked: unknown): string {
  const { step_id, mutation_id } = docOf(failed);
  return failed === null || failed === undefined
    ? cellText(asked)
    : `failed step ${cellText(step_id)} (${cellText(mutation_id)})`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function itemsOf(report: Doc): readonly Doc[] {
  return listOf(report['items']).map(docOf);
}
function wordsOf(code: unknown): string {
  return cellText(code).replaceAll('_', ' ');
}
