// HTTP edge of the recovery orchestrator: reviews, approvals.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { plainPayload } from '@recourse/contract';
import {
  Commands,
  FromCaller,
  hashHex,
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
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERIES_LOG } from '../core.js';
import { FORWARD_PHASES } from '../rules/forward/forward.messages.js';
import { reviewItem } from '../reads/review-item.query.js';
import type { ReviewItem } from '../reads/review-item.messages.js';
import { MARGIN_MS } from '../rules/policy.messages.js';
import { STEP_PHASES } from '../rules/step/step.messages.js';
import type { StepDoc, StepPhase } from '../rules/step/step.messages.js';

/** Steps that wait for a person. */
const PHASES_IN_REVIEW: readonly StepPhase[] = ['awaiting_approval', 'halted', 'manual', 'uncertain'];
const reviewQuery = z.strictObject({
  ...pageQuery,
  kind: z.enum(['recovery', 'forward']).default('recovery'),
  state: z.enum(['open', ...new Set([...STEP_PHASES, ...FORWARD_PHASES])]).default('open'),
  run_id: idText.optional(),
});
const runQuery = z.strictObject({ ...pageQuery, run_id: idText.optional(), phase: idText.optional() });
const resolution = z.strictObject({
  resolution: z.enum(['repaired', 'corrected', 'accepted']),
  evidence: z.json(),
  reason: reasonText,
});
const verdict = z.strictObject({ action_digest: hashHex, reason: reasonText });

/** Where people look at a trace, as a dependency; null where nobody said. */
export const TRACE_URL = Symbol('trace url');

@ApiTags('recoveries')
@ApiBearerAuth()
@Controller('v1')
export class RecoveriesController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(TRACE_URL) private readonly traceUrl: string | null,
  ) {}

  @Get('reviews')
  @ApiOperation({
    summary:
      'What waits for a person, or is in one phase: steps of recoveries, or with `kind=forward` questions before effects.',
  })
  @ApiQuery({ name: 'kind', required: false })
  @ApiQuery({ name: 'state', required: false })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  reviews(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { kind, state, run_id, ...page } = parse(reviewQuery, query);
    if (kind === 'forward')
      return this.reads.list(caller, {
        log: RECOVERIES_LOG,
        kind: FORWARD_KIND,
        where: { phase: state === 'open' ? 'awaiting' : state, run_id },
        ...page,
      });
    return this.reads.list(caller, {
      log: RECOVERIES_LOG,
      kind: 'step',
      where: { phase: state === 'open' ? PHASES_IN_REVIEW : state, run_id },
      ...page,
    });
  }

  @Get('reviews/:step_id')
  @ApiOperation({
    summary:
      'One step as a person decides about it: facts then and now, what is proposed, what may be done. Long texts are folded, misleading characters escaped.',
  })
  async review(@FromCaller() caller: Caller, @Param('step_id') id: string): Promise<ReviewItem> {
    const { doc, partition } = await this.stepRow(caller, id);
    const [shown] = await this.reads.shown([doc]);
    // Rows of this kind are steps; opened payloads keep their place.
    return reviewItem((shown ?? doc) as StepDoc, {
      log: RECOVERIES_LOG,
      partition,
      now: Date.now(),
      marginMs: MARGIN_MS,
      traceUrl: this.traceUrl,
    });
  }

  @Get('recoveries')
  @ApiOperation({ summary: 'Recoveries, one per run.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'phase', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  recoveries(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, phase, ...page } = parse(runQuery, query);
    return this.reads.list(caller, { log: RECOVERIES_LOG, kind: 'recovery', where: { run_id, phase }, ...page });
  }

  @Get('steps')
  @ApiOperation({ summary: 'Steps of a run.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'phase', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  steps(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, phase, ...page } = parse(runQuery, query);
    return this.reads.list(caller, { log: RECOVERIES_LOG, kind: 'step', where: { run_id, phase }, ...page });
  }

  @Get('steps/:id')
  @ApiOperation({
    summary: 'One step as it is stored: what happened, what is proposed, which facts are known, who has agreed.',
  })
  async step(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    return render((await this.reads.shown([(await this.stepRow(caller, id)).doc]))[0]);
  }

  @Post('steps/:id/approve')
  @HttpCode(200)
  @ApiOperation({ summary: 'Agrees to exactly the action whose digest is given.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(verdict) })
  approve(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.decide(caller, 'ApproveStep', id, input);
  }

  @Post('steps/:id/deny')
  @HttpCode(200)
  @ApiOperation({ summary: 'Refuses the action; the mutation goes to a person.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(verdict) })
  deny(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.decide(caller, 'DenyStep', id, input);
  }

  @Post('steps/:id/resolve')
  @HttpCode(200)
  @ApiOperation({
    summary:
      "Closes an item that is a person's: repaired or corrected by hand, or accepted as it is. Evidence stays with it; nothing becomes compensated by it.",
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(resolution) })
  async resolve(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(resolution, input);
    const { doc } = await this.stepRow(caller, id);
    const runId = String(doc['run_id']);
    await this.commands.submit(caller, {
      type: 'recourse.recoveries.ResolveStep',
      key: runId,
      tenant: String(doc['tenant']),
      body: { step_id: id, ...body },
      build: (envelope) => ({
        envelope,
        run_id: runId,
        step_id: id,
        resolution: body.resolution,
        evidence: plainPayload(body.evidence),
        reason: body.reason,
      }),
    });
  }

  private async decide(caller: Caller, verb: 'ApproveStep' | 'DenyStep', id: string, input: unknown): Promise<void> {
    const { action_digest, reason } = parse(verdict, input);
    const { doc } = await this.stepRow(caller, id);
    const runId = String(doc['run_id']);
    await this.commands.submit(caller, {
      type: `recourse.recoveries.${verb}`,
      key: runId,
      tenant: String(doc['tenant']),
      body: { step_id: id, action_digest, reason },
      build: (envelope) => ({
        envelope,
        run_id: runId,
        step_id: id,
        action_digest: Buffer.from(action_digest, 'hex'),
        reason,
      }),
    });
  }

  private stepRow(caller: Caller, id: string): ReturnType<Reads['find']> {
    return this.reads.find(caller, { log: RECOVERIES_LOG, kind: 'step', where: { step_id: parse(idText, id) } });
  }
}
