// recourse tasks …: what people do about effects that nothing undoes, and how each piece of it ended.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { cellText, formatFields, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { IDEMPOTENCY_KEY, LIMIT } from './options.js';
import type { Act } from './options.js';

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
  readonly reason: string;
  readonly idempotencyKey?: string;
}

export function addTasks(program: Command, act: Act): void {
  const tasks = program
    .command('tasks')
    .description('work for people that follows what cannot be undone: correction, support, note for the file');
  tasks
    .command('list')
    .description('what is open, or what ended so')
    .addOption(new Option('--state <state>', 'which').choices(['open', 'done', 'dropped']).default('open'))
    .addOption(new Option('--kind <kind>', 'of one kind').choices(['correction', 'support', 'audit_note']))
    .option('--run <id>', 'of one run')
    .addOption(LIMIT())
    .action(
      act<{ state: string; kind?: string; run?: string; limit: number }>(
        async (session, { state, kind, run, limit }) => {
          const listed = await session
            .service('recoveries')
            .list('/v1/tasks', { state, kind, run_id: run, tenant: session.tenant }, limit);
          session.show(listed, () => listText(COLUMNS, listed));
        },
      ),
    );
  tasks
    .command('show')
    .description('one task, with what its author wrote')
    .argument('<task>', 'task id')
    .action(
      act(async (session, _options, id = '') => {
        const task = await session.service('recoveries').get(pathOf(id));
        session.show(task, () => describeTask(task));
      }),
    );
  tasks
    .command('close')
    .description(
      'ends a task in your words; a correction that is done closes its item as corrected, not as compensated',
    )
    .argument('<task>', 'task id')
    .addOption(new Option('--outcome <outcome>', 'how it ended').choices(['done', 'dropped']).makeOptionMandatory())
    .requiredOption('--message <text>', 'what was sent or done')
    .option('--safe-state <text>', 'the state things are left in')
    .option('--user-visible-outcome <text>', 'what whom it concerns sees of it')
    .option('--correction <mutation>', 'mutation of the correcting action, where it ran under a contract')
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<CloseOptions>(async (session, options, id = '') => {
        const { outcome, message, safeState, userVisibleOutcome, correction, reason, idempotencyKey } = options;
        const content = {
          message,
          ...(safeState === undefined ? {} : { safe_state: safeState }),
          ...(userVisibleOutcome === undefined ? {} : { user_visible_outcome: userVisibleOutcome }),
        };
        const answer = await session
          .service('recoveries')
          .command(
            `${pathOf(id)}/close`,
            { outcome, content, reason, ...(correction === undefined ? {} : { correction_ref: correction }) },
            idempotencyKey,
          );
        session.show(answer, () => formatFields(Object.entries(answer)));
      }),
    );
}

function describeTask(task: Doc): string {
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
    ['ended by', closed['by']],
    ['ended', instant(closed['at'])],
    ['reason', closed['reason']],
    ['correction', closed['correction_ref']],
    ['content', contentOf(closed['content'])],
  ]);
}

/** What a payload holds; sealed ones say so. */
function contentOf(value: unknown): string | null {
  const payload = docOf(value);
  return payload['body'] === undefined ? null : cellText(payload['body']);
}

function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}
