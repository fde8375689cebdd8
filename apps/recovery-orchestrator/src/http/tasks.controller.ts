// HTTP edge of the work of people: corrections, support and notes that follow what nothing undoes.
import { TASK_KIND_VALUES, TASK_OUTCOME_VALUES } from '@recourse/messages';
import { runText, listsController } from '@recourse/service';
import { z } from 'zod';
import { RECOVERIES_LOG } from '../core.js';

export const TasksController = listsController({
  tag: 'tasks',
  log: RECOVERIES_LOG,
  lists: {
    tasks: {
      kind: 'task',
      summary: 'Work for people that follows what cannot be undone: what is open, or what ended so.',
      where: {
        state: z.enum(['open', ...TASK_OUTCOME_VALUES]).default('open'),
        kind: z.enum(TASK_KIND_VALUES).optional(),
        run_id: runText.optional(),
      },
      columns: { state: 'phase', kind: 'task_kind', run_id: 'group_key' },
      one: {
        column: 'task_id',
        summary: 'One task, with what its author wrote.',
        asks: ({ phase }) => phase === 'open',
      },
    },
  },
});
