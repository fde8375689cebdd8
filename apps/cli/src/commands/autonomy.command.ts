// recourse autonomy …: what agents have earned at kinds of task, why, and a person's word on it.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { cellText, formatFields, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';
import { addListAction, pathBelow } from './shapes.js';
import { addVerbs } from './verbs.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'AUTONOMY', of: (row) => row['autonomy_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'AGENT', of: (row) => row['agent_id'] },
  { title: 'TASK', of: (row) => row['task_kind'] },
  { title: 'RUNG', of: (row) => row['rung'] },
  { title: 'HELD BY', of: (row) => row['capped_by'] },
  { title: 'EARNED', of: (row) => row['earned'] },
  { title: 'SCORE', of: (row) => parts(row['score_ppm']), align: 'right' },
  { title: 'FROZEN', of: (row) => row['frozen_by'] },
];
const SIGNAL_COLUMNS: readonly Column<Doc>[] = [
  { title: 'SIGNAL', of: (row) => row['signal'] },
  { title: 'SAID', of: (row) => parts(row['stated_ppm']) ?? '-', align: 'right' },
  { title: 'COUNTS', of: (row) => parts(row['value_ppm']), align: 'right' },
  { title: 'WEIGHT', of: (row) => weight(row['weight_percent']), align: 'right' },
  { title: 'ADDS', of: added, align: 'right' },
  { title: 'BY', of: (row) => row['source'] },
  { title: 'AT', of: (row) => instant(row['stated_at']) },
];
const CHANGE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'CHANGED', of: (row) => instant(row['decided_at']) },
  { title: 'CAUSE', of: (row) => row['cause'] },
  { title: 'WHAT', of: (row) => row['signal'] ?? row['mutation_id'] },
  { title: 'BY', of: (row) => row['by'] ?? row['source'] },
  { title: 'FROM', of: (row) => row['before'] },
  { title: 'TO', of: (row) => row['rung'] },
  { title: 'HELD BY', of: (row) => row['capped_by'] },
  { title: 'SCORE', of: (row) => parts(row['score_ppm']), align: 'right' },
];
/** Changes that are shown, the newest last. */
const CHANGES_SHOWN = 20;
/** Changes that are looked through. */
const CHANGES_MAX = 10_000;
const PPM = 1_000_000;

const autonomyPath = pathBelow('/v1/autonomy');

export function addAutonomy(program: Command, act: Act): void {
  const autonomy = program.command('autonomy').description('what agents have earned, at each kind of task by itself');
  addListAction<{ agent?: string; task?: string }>(
    autonomy
      .command('show')
      .description('shows how far agents may go alone, and what holds them')
      .option('--agent <id>', 'of one agent')
      .option('--task <kind>', 'at one kind of task'),
    act,
    {
      service: 'budgets',
      path: '/v1/autonomy',
      columns: COLUMNS,
      query: ({ agent, task }) => ({ agent_id: agent, task_kind: task }),
    },
  );
  autonomy
    .command('explain')
    .description('explains one rung: eight signals with their weights, what holds it, and how it came about')
    .argument('<autonomy>', 'autonomy id')
    .action(
      act(async (session, _options, id = '') => {
        await explain(session, id);
      }),
    );
  addVerbs(autonomy, act, 'budgets');
}

async function explain(session: Session, id: string): Promise<void> {
  const accountant = session.service('budgets');
  const found = await accountant.get(autonomyPath(id), { tenant: session.tenant });
  const { items } = await accountant.list(
    '/v1/autonomy-changes',
    { autonomy_id: id, tenant: session.tenant },
    CHANGES_MAX,
  );
  const changes = items.toSorted((one, other) => Number(one['decided_at']) - Number(other['decided_at']));
  session.show({ ...found, changes }, () => describe(found, changes));
}

function describe(found: Doc, changes: readonly Doc[]): string {
  const signals = Array.isArray(found['signals']) ? found['signals'].map(docOf) : [];
  return [
    formatFields([
      ['autonomy', found['autonomy_id']],
      ['agent', found['agent_id']],
      ['task', found['task_kind']],
      ['rung', found['rung']],
      ['held by', found['capped_by']],
      ['earned', found['earned']],
      ['score', parts(found['score_ppm'])],
      ['frozen by', found['frozen_by']],
      ['frozen since', instant(found['frozen_at'])],
      ['violation holds until', instant(found['held_until'])],
      ['judged anew', instant(found['reconsider_at'])],
      ['policy version', found['policy_version']],
    ]),
    formatTable(SIGNAL_COLUMNS, signals),
    formatTable(CHANGE_COLUMNS, changes.slice(-CHANGES_SHOWN)),
  ].join('\n\n');
}

/** Millionths as people read them: 0.71. */
function parts(ppm: unknown): string | null {
  return typeof ppm === 'number' ? String(ppm / PPM) : null;
}

function weight(percent: unknown): string | null {
  return typeof percent === 'number' ? (percent / 100).toFixed(2) : null;
}

function added({ value_ppm: value, weight_percent: percent }: Doc): string {
  return typeof value === 'number' && typeof percent === 'number'
    ? (parts((value * percent) / 100) ?? '')
    : cellText(null);
}
