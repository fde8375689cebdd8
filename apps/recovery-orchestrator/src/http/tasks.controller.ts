// HTTP edge of the work of people: corrections, support and notes that follow what nothing undoes.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { plainPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { TASK_KIND_VALUES, TASK_OUTCOME_VALUES } from '@recourse/messages';
import {
  Commands,
  FromCaller,
  idText,
  openApiSchema,
  pageQuery,
  parse,
  Reads,
  reasonText,
  render,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { RECOVERIES_LOG } from '../core.js';
import type { TaskDoc } from '../rules/task/task.messages.js';

const PHASES = ['open', ...TASK_OUTCOME_VALUES] as const;
const said = z.string().min(1).max(20_000);
const closing = z.strictObject({
  outcome: z.enum(TASK_OUTCOME_VALUES),
  reason: reasonText,
  correction_ref: idText.nullable().default(null),
  content: z.strictObject({ message: said, safe_state: said.optional(), user_visible_outcome: said.optional() }),
});
const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(PHASES).default('open'),
  kind: z.enum(TASK_KIND_VALUES).optional(),
  run_id: idText.optional(),
});

function saidIn({ message, safe_state, user_visible_outcome }: z.infer<typeof closing>['content']): Json {
  return {
    message,
    ...(safe_state === undefined ? {} : { safe_state }),
    ...(user_visible_outcome === undefined ? {} : { user_visible_outcome }),
  };
}

@ApiTags('tasks')
@ApiBearerAuth()
@Controller('v1/tasks')
export class TasksController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Work for people that follows what cannot be undone: what is open, or what ended so.' })
  @ApiQuery({ name: 'state', required: false, enum: PHASES })
  @ApiQuery({ name: 'kind', required: false, enum: TASK_KIND_VALUES })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { state, kind, run_id, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: RECOVERIES_LOG,
      kind: 'task',
      where: { phase: state, task_kind: kind, run_id },
      ...page,
    });
  }

  @Get(':id')
  @ApiOperation({ summary: 'One task, with what its author wrote.' })
  async one(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    return render((await this.reads.shown([await this.rowOf(caller, id)]))[0]);
  }

  @Post(':id/close')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Ends a task in words. A correction that is done says in which state it leaves things and what whom it concerns sees, and closes its step as corrected, not as compensated.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(closing) })
  async close(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(closing, input);
    const { run_id, tenant } = await this.rowOf(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.recoveries.CloseTask',
      key: run_id,
      tenant,
      body: { task_id: id, ...body },
      build: (envelope) => ({
        envelope,
        run_id,
        task_id: id,
        outcome: body.outcome,
        content: plainPayload(saidIn(body.content)),
        correction_ref: body.correction_ref,
        reason: body.reason,
      }),
    });
  }

  private async rowOf(caller: Caller, id: string): Promise<TaskDoc> {
    const { doc } = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: 'task',
      where: { task_id: parse(idText, id) },
    });
    return doc as TaskDoc; // rows of this kind are tasks
  }
}
