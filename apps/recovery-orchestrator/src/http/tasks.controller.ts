// HTTP edge of the work of people: corrections, support and notes that follow what nothing undoes.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { TASK_KIND_VALUES, TASK_OUTCOME_VALUES } from '@recourse/messages';
import {
  FromCaller,
  Id,
  runText,
  listsController,
  oneQuery,
  Queried,
  readerOf,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
} from '@recourse/service';
import type { Caller, Offers, Rendered, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { RECOVERIES_LOG } from '../core.js';
import { wordsOfTask } from '../reads/reader.rules.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { TaskDoc } from '../rules/task/task.messages.js';

export const TaskListsController = listsController<{ readonly tasks: TaskDoc }>({
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
    },
  },
});

/** A task with what its reader may say. */
type TaskShown = TaskDoc & Offers;

@ApiTags('tasks')
@ApiBearerAuth()
@Controller('v1/tasks')
export class TasksController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: Pick<ServiceContext, 'access' | 'view'>,
  ) {}

  @ReadRoute(
    ':id',
    'One task, with what its author wrote, and whether its reader may end it (`may`, `may_not`).',
    oneQuery,
  )
  async one(
    @FromCaller() caller: Caller,
    @Id('id') task_id: string,
    @Queried(oneQuery) { tenant: named }: z.infer<typeof oneQuery>,
  ): Promise<Rendered<TaskShown>> {
    const found = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: 'task',
      where: { task_id },
      tenant: named,
    });
    const task = found.doc as TaskDoc; // rows of this kind are tasks
    const { step_id, tenant } = task;
    const { doc } = await this.reads.find(caller, { log: RECOVERIES_LOG, kind: 'step', where: { step_id }, tenant });
    const [shown = task] = (await this.reads.shown(caller, [task], task.phase === 'open')).docs;
    // Rows of that kind are steps.
    return render({ ...shown, ...wordsOfTask(task, doc as StepDoc, await readerOf(this.service, caller)) });
  }
}
