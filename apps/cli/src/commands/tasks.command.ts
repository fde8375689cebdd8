// recourse tasks …: what people do about effects that nothing undoes, and how each piece of it ended.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { briefFields } from '../output/brief.js';
import { payload } from '../output/payload.js';
import { offerFields } from '../output/offers.js';
import { cellText, formatFields, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction, addSendAction, addShowAction, pathBelow } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'TASK', of: (row) => row['task_id'] },
  { title: 'KIND', of: (row) => row['task_kind'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'STATE', of: (row) => row['phase'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];

interface CloseOptions {
  readonly outcome: string;
  readonly message: string;
  readonly safeState?: string;
  readonly userVisibleOutcome?: string;
  readonly correction?: string;
}

const taskPath = pathBelow('/v1/tasks');

export function addTasks(program: Command, act: Act): void {
  const tasks = program
    .command('tasks')
    .description('work for people that follows what cannot be undone: correction, support, note for the file');
  addList(tasks, act);
  addShowAction(
    tasks.command('show').description('shows one task, with what its author wrote').argument('<task>', 'task id'),
    act,
    { service: 'recoveries', path: taskPath, text: describeTask },
  );
  addSendAction<CloseOptions>(
    tasks
      .command('close')
      .description(
        'closes a task in your words; a finished correction closes its item as corrected, not as compensated',
      )
      .argument('<task>', 'task id')
      .addOption(new Option('--outcome <outcome>', 'how it ended').choices(['done', 'dropped']).makeOptionMandatory())
      .requiredOption('--message <text>', 'what was sent or done')
      .option('--safe-state <text>', 'the state things are left in')
      .option('--user-visible-outcome <text>', 'what whom it concerns sees of it')
      .option('--correction <mutation>', 'mutation of the correcting action, where it ran under a contract'),
    act,
    { service: 'recoveries', path: (id) => taskPath(id, 'close'), body: closing },
  );
}

function addList(tasks: Command, act: Act): void {
  addListAction<{ state: string; kind?: string; run?: string }>(
    tasks
      .command('list')
      .description('what is open, or what ended so')
      .addOption(new Option('--state <state>', 'which').choices(['open', 'done', 'dropped']).default('open'))
      .addOption(new Option('--kind <kind>', 'of one kind').choices(['correction', 'support', 'audit_note']))
      .option('--run <id>', 'of one run'),
    act,
    {
      service: 'recoveries',
      path: '/v1/tasks',
      by: 'deadline_at',
      columns: COLUMNS,
      query: ({ state, kind, run }) => ({ state, kind, run_id: run }),
    },
  );
}

function closing({ outcome, message, safeState, userVisibleOutcome, correction }: CloseOptions): object {
  const content = { message, safe_state: safeState, user_visible_outcome: userVisibleOutcome };
  return { outcome, content, correction_ref: correction };
}

/** Text of a task. */
export function describeTask(task: Doc): string {
  const closed = docOf(task['closed']);
  return formatFields([
    ['task', task['task_id']],
    ['kind', task['task_kind']],
    ['state', task['phase']],
    ['owner', task['owner']],
    ['deadline', instant(task['deadline_at'])],
    ['tenant', task['tenant']],
    ['run', task['run_id']],
    ['mutation', task['mutation_id']],
    ['step', task['step_id']],
    ['capability', task['capability']],
    ['effect', task['effect']],
    ...briefFields(task['brief']),
    ['ended by', closed['by']],
    ['ended', instant(closed['at'])],
    ['reason', closed['reason']],
    ['correction', closed['correction_ref']],
    ['content', contentOf(closed['content'])],
    ...offerFields(task),
  ]);
}

/** What a payload holds; sealed ones say so. */
function contentOf(value: unknown): string | null {
  const held = payload(value);
  return held === undefined ? null : cellText(held);
}
