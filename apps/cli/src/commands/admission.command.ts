// recourse rollbacks | breakers | trends | sources | limits …: what was rolled back on whose word, what is held, and the way out.
import type { Doc } from '@recourse/sdk';
import { docOf, isWayUp } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { cellText, docsOf, formatFields, formatTable, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem, problemOf } from '../problem.js';
import { percent, rowsOf } from '../reports/exposure.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY } from './options.js';
import { addTrends } from './trends.command.js';
import type { Act } from './options.js';
import { addListAction, addReportAction, addSendAction, addShowAction, pathBelow } from './shapes.js';
import type { Why } from './shapes.js';

const ROLLBACK_COLUMNS: readonly Column<Doc>[] = [
  { title: 'ROLLBACK', of: (row) => row['rollback_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'SOURCE', of: (row) => docOf(row['evidence'])['source'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'HELD BY', of: (row) => docOf(row['held'])['reason'] },
  { title: 'OWNER', of: (row) => (row['deadline_at'] === null ? null : row['owner']) },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];
const BREAKER_COLUMNS: readonly Column<Doc>[] = [
  { title: 'BREAKER', of: (row) => row['breaker_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OVER', of: (row) => `${cellText(row['scope'])} ${cellText(row['name'])}` },
  { title: 'COUNT', of: (row) => row['count'], align: 'right' },
  { title: 'LIMIT', of: (row) => row['limit'], align: 'right' },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'STATE', of: (row) => row['phase'] },
  { title: 'OPENED', of: (row) => instant(row['opened_at']) },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];
const SOURCE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'SOURCE', of: (row) => row['source'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'WEIGHT', of: (row) => row['weight_permille'], align: 'right' },
  { title: 'CONFIRMED', of: (row) => row['confirmed'], align: 'right' },
  { title: 'REJECTED', of: (row) => row['rejected'], align: 'right' },
  {
    title: 'PRECISION',
    of: (row) => (typeof row['precision'] === 'number' ? percent(row['precision']) : null),
    align: 'right',
  },
  { title: 'ROLLBACKS', of: (row) => row['rollbacks'], align: 'right' },
  { title: 'HELD', of: (row) => row['held'], align: 'right' },
];
const RATE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OVER', of: (row) => `${cellText(row['scope'])} ${cellText(row['name'])}` },
  { title: 'NEXT FREE', of: (row) => instant(row['next_at']) },
  { title: 'WAITING', of: (row) => row['waiting'], align: 'right' },
];
/** Breakers that are looked through for one id: each partition has its own. */
const BREAKERS_MAX = 1_000;

const ROLLBACK_PHASES = ['held', 'opened', 'escalated', 'rejected', 'beyond', 'reviewed', 'marked'];
const rollbackPath = pathBelow('/v1/rollbacks');

export function addAdmission(program: Command, act: Act): void {
  addRollbacks(program, act);
  addBreakers(program, act);
  addTrends(program, act);
  const sources = program
    .command('sources')
    .description('sources of triggers: what people said about them, and what they weigh');
  addReportAction<{ source?: string }>(
    sources
      .command('list')
      .description('lists sources, those that were wrong most often first')
      .option('--source <name>', 'one of them'),
    act,
    {
      service: 'ledger',
      path: '/v1/sources',
      query: ({ source }) => ({ source }),
      text: (report) => listText(SOURCE_COLUMNS, rowsOf(report)),
    },
  );
  program
    .command('limits')
    .description('shows the limits of triggers and compensations: what is set and what is in use')
    .action(
      act(async (session) => {
        const tenant = { tenant: session.tenant };
        const [triggers, rates] = await Promise.all([
          session.service('ledger').get('/v1/limits'),
          session.service('recoveries').get('/v1/rates', tenant),
        ]);
        const told = {
          settings: { ...docOf(triggers['settings']), ...docOf(rates['settings']) },
          rates: rates['rates'],
          more: rates['more'] === true,
        };
        session.show(told, () => describeLimits(told));
      }),
    );
}

function addRollbacks(program: Command, act: Act): void {
  const rollbacks = program
    .command('rollbacks')
    .description('what was rolled back on whose word, and triggers that are held for a person');
  addListAction<{ phase?: string; run?: string }>(
    rollbacks
      .command('list')
      .description(
        'lists rollbacks; --phase held: those that wait for a person; --phase beyond: what a rollback reaches beyond its bound, and what a later policy bundle cannot judge',
      )
      .addOption(new Option('--phase <phase>', 'in one phase').choices(ROLLBACK_PHASES))
      .option('--run <id>', 'of one run'),
    act,
    {
      service: 'ledger',
      path: '/v1/rollbacks',
      by: 'deadline_at',
      columns: ROLLBACK_COLUMNS,
      query: ({ phase, run }) => ({ phase, run_id: run }),
    },
  );
  addShowAction(
    rollbacks
      .command('show')
      .description('shows one rollback: the evidence, what holds it, what people said about it')
      .argument('<rollback>', 'rollback id'),
    act,
    { service: 'ledger', path: rollbackPath, text: describeRollback },
  );
  addJudgements(rollbacks, act);
}

/** What people say of a rollback. */
function addJudgements(rollbacks: Command, act: Act): void {
  const command = (verb: string, description: string): Command =>
    rollbacks.command(verb).description(description).argument('<rollback>', 'rollback id');
  const path = (verb: string) => (id: string) => rollbackPath(id, verb);
  addSendAction<{ readonly verdict: string }>(
    command(
      'review',
      'decides about a commit that a rollback reaches beyond its bound, or that a later policy bundle cannot judge: it stands, or is rolled back. One that stands behind a fall is left alone: no run goes on from it, and what is made from it afterwards falls with the root all the same',
    ).addOption(
      new Option('--verdict <verdict>', 'what becomes of it').choices(['stands', 'rolled_back']).makeOptionMandatory(),
    ),
    act,
    { service: 'ledger', path: path('review'), body: ({ verdict }) => ({ verdict }) },
  );
  addSendAction(
    command('confirm', 'says that the trigger was right: a held one goes on, and its source gains weight'),
    act,
    { service: 'ledger', path: path('confirm') },
  );
  addSendAction(
    command(
      'reject',
      'says that the trigger was wrong: one that is held, or whose commit did not come, is closed, and its source loses weight; what is rolled back stays rolled back',
    ),
    act,
    { service: 'ledger', path: path('reject') },
  );
}

function addBreakers(program: Command, act: Act): void {
  const breakers = program
    .command('breakers')
    .description('breakers that a burst of triggers opened: until one is closed, what comes is held');
  addListAction<{ state: string }>(
    breakers
      .command('list')
      .description('those that are open, or were closed')
      .addOption(new Option('--state <state>', 'which').choices(['open', 'closed']).default('open')),
    act,
    {
      service: 'ledger',
      path: '/v1/breakers',
      by: 'opened_at',
      columns: BREAKER_COLUMNS,
      query: ({ state }) => ({ state }),
    },
  );
  breakers
    .command('close')
    .description('closes a breaker on every partition: what it held is decided again')
    .argument('<breaker>', 'breaker id')
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Why>(async (session, { reason, idempotencyKey }, id = '') => {
        const answers = await closeEach(session, id, reason, idempotencyKey);
        session.show({ items: answers }, () =>
          answers.map((answer) => formatFields(Object.entries(answer))).join('\n\n'),
        );
      }),
    );
}

/** Each partition has opened its own; all of them are about the same. */
async function closeEach(session: Session, id: string, reason: string, key?: string): Promise<readonly Doc[]> {
  const ledger = session.service('ledger');
  const { items } = await ledger.list(
    '/v1/breakers',
    { state: 'open', breaker_id: id, tenant: session.tenant },
    BREAKERS_MAX,
  );
  if (items.length === 0) throw new CliProblem('NOT_FOUND', `no open breaker is called ${id}`, 'refused');
  const answers: Doc[] = [];
  const refused: CliProblem[] = [];
  for (const [place, { run_id }] of items.entries()) {
    const [path, body] = closingOf(cellText(run_id), id, reason);
    try {
      answers.push(await ledger.command(path, body, key === undefined ? undefined : `${key}-${String(place)}`));
    } catch (cause) {
      refused.push(problemOf(cause));
    }
  }
  const [first] = refused;
  if (first === undefined) return answers;
  if (items.length === 1) throw first;
  const said = countText(
    refused.length,
    `of ${String(items.length)} stays open`,
    `of ${String(items.length)} stay open`,
  );
  throw new CliProblem(first.code, said, exitOf(answers, first), {
    problems: refused.map(({ code, message }) => ({ code, message })),
  });
}

/** Some are closed, or none is. */
function exitOf(answers: readonly Doc[], { exit }: CliProblem): CliProblem['exit'] {
  return answers.length > 0 ? 'partly' : exit;
}

/** No path can hold a run that is called by dots alone: it is named in the body. */
function closingOf(run: string, id: string, reason: string): readonly [path: string, body: Doc] {
  const isPlace = isWayUp(run);
  const path = pathBelow(`/v1/breakers/${isPlace ? 'in-body' : encodeURIComponent(run)}`)(id, 'close');
  return [path, isPlace ? { reason, run_id: run } : { reason }];
}

function describeRollback(rollback: Doc): string {
  const [evidence, held, judged, beyond, reviewed] = ['evidence', 'held', 'judged', 'beyond', 'reviewed'].map((part) =>
    docOf(rollback[part]),
  ) as [Doc, Doc, Doc, Doc, Doc]; // as many as are named
  return formatFields([
    ['rollback', rollback['rollback_id']],
    ['phase', rollback['phase']],
    ['tenant', rollback['tenant']],
    ['run', rollback['run_id']],
    ['mutation', rollback['mutation_id']],
    ['source', evidence['source']],
    ['kind of evidence', evidence['kind']],
    ['event', evidence['event_id']],
    ['ref', evidence['ref']],
    ['stated', instant(evidence['stated_at'])],
    ['statement', docOf(evidence['statement'])['body']],
    ['held by', held['reason']],
    ['detail', held['detail']],
    ...docsOf(rollback['also']).map(
      ({ source, ref, stated_at }) =>
        ['said, too', `${cellText(source)}: ${cellText(ref)}, ${cellText(instant(stated_at))}`] as const,
    ),
    ['owner', rollback['deadline_at'] === null ? null : rollback['owner']],
    ['deadline', instant(rollback['deadline_at'])],
    ['let through by', rollback['confirmed_by']],
    ['judged', judged['verdict']],
    ['judged by', judged['by']],
    ['reason', judged['reason']],
    ['opened', instant(rollback['opened_at'])],
    ['reaches back to', instant(rollback['bound_at'])],
    ['commit recorded', instant(beyond['committed_at'])],
    ['reviewed', reviewed['verdict']],
    ['reviewed by', reviewed['by']],
    ['because', reviewed['reason']],
  ]);
}

function describeLimits(told: Doc): string {
  const rates = Array.isArray(told['rates']) ? told['rates'].map(docOf) : [];
  const settings = formatFields(
    Object.entries(docOf(told['settings'])).map(([name, value]) => [
      name.replaceAll('_', ' '),
      value === null ? 'off' : value,
    ]),
  );
  return [settings, rates.length > 0 ? formatTable(RATE_COLUMNS, rates) : 'no rate is in use'].join('\n\n');
}
