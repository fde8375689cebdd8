// HTTP edge of incidents: what people made of steps that need more than a decision.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { plainPayload } from '@recourse/contract';
import { SEVERITY_VALUES } from '@recourse/messages';
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
import { timelineOf } from '../reads/incident.query.js';
import { RECOVERIES_LOG } from '../core.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { IncidentDoc } from '../rules/task/task.messages.js';

const closing = z.strictObject({ summary: z.json(), reason: reasonText });
const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(['open', 'closed']).default('open'),
  severity: z.enum(SEVERITY_VALUES).optional(),
  run_id: idText.optional(),
});

@ApiTags('incidents')
@ApiBearerAuth()
@Controller('v1/incidents')
export class IncidentsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Incidents that are open, or ended.' })
  @ApiQuery({ name: 'state', required: false, enum: ['open', 'closed'] })
  @ApiQuery({ name: 'severity', required: false, enum: SEVERITY_VALUES })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { state, severity, run_id, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: RECOVERIES_LOG,
      kind: 'incident',
      where: { phase: state, severity, run_id },
      ...page,
    });
  }

  @Get(':id')
  @ApiOperation({ summary: 'One incident, with what happened in its order.' })
  async one(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    const incident = await this.rowOf(caller, id);
    const { doc } = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: 'step',
      where: { step_id: incident.step_id },
    });
    const [shown] = await this.reads.shown([incident]);
    return render({ ...shown, timeline: timelineOf(incident, doc as StepDoc) }); // rows of that kind are steps
  }

  @Post(':id/close')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ends an incident: what it was, and what was done.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(closing) })
  async close(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(closing, input);
    const { run_id, tenant } = await this.rowOf(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.recoveries.CloseIncident',
      key: run_id,
      tenant,
      body: { incident_id: id, ...body },
      build: (envelope) => ({
        envelope,
        run_id,
        incident_id: id,
        summary: plainPayload(body.summary),
        reason: body.reason,
      }),
    });
  }

  private async rowOf(caller: Caller, id: string): Promise<IncidentDoc> {
    const { doc } = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: 'incident',
      where: { incident_id: parse(idText, id) },
    });
    return doc as IncidentDoc; // rows of this kind are incidents
  }
}
