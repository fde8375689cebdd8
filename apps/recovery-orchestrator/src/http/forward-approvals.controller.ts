// HTTP edge of forward approvals: an agent's guard asks, polls and uses; people look and decide.
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
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { forwardAnswer } from '../core/forward.part.js';
import { FORWARD_KIND } from '../rows/forward.rows.js';
import { RECOVERIES_LOG } from '../core.js';
import { FORWARD_PHASES } from '../rules/forward/forward.messages.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';

const request = z.strictObject({
  run_id: idText,
  effect_key: idText,
  capability: idText,
  contract_digest: hashHex,
  subject_ref: idText.nullable(),
  initiator: idText.nullable(),
  agent_id: idText,
  mode: z.enum(['human', 'dual_control']),
  action_digest: hashHex,
  args: z.json(),
  rehearsal: z.json(),
  tenant: tenantText.optional(),
});
const verdict = z.strictObject({ action_digest: hashHex, reason: reasonText });
const use = z.strictObject({ action_digest: hashHex, attempt: z.number().int().min(1).max(1_000_000) });
const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(['open', ...FORWARD_PHASES]).default('open'),
  run_id: idText.optional(),
});

@ApiTags('forward approvals')
@ApiBearerAuth()
@Controller('v1/forward-approvals')
export class ForwardApprovalsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary:
      'Asks people before an effect. The same action is one question; one that was used or ran out is opened anew.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(request) })
  request(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const { tenant, ...body } = parse(request, input);
    const { contract_digest, action_digest, args, rehearsal, ...rest } = body;
    return this.commands.submit(caller, {
      type: 'recourse.recoveries.RequestForwardApproval',
      key: body.run_id,
      tenant,
      body,
      build: (envelope) => ({
        envelope,
        ...rest,
        contract_digest: Buffer.from(contract_digest, 'hex'),
        action_digest: Buffer.from(action_digest, 'hex'),
        args: plainPayload(args),
        rehearsal: rehearsal === null ? null : plainPayload(rehearsal),
      }),
    });
  }

  @Get()
  @ApiOperation({ summary: 'Questions before effects: those that wait for a person, or those in one phase.' })
  @ApiQuery({ name: 'state', required: false })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { state, run_id, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: RECOVERIES_LOG,
      kind: FORWARD_KIND,
      where: { phase: state === 'open' ? 'awaiting' : state, run_id },
      ...page,
    });
  }

  @Get(':id')
  @ApiOperation({
    summary:
      'One question with everything an approver needs, and its `status`: pending, approved, denied, used or expired.',
  })
  async one(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    const doc = await this.rowOf(caller, id);
    // Lengths of lists and short codes on top; the row beneath them.
    const [shown] = await this.reads.shown([doc]);
    return { ...(render(shown) as object), status: forwardAnswer(doc)['status'] };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ApiOperation({ summary: 'Agrees to exactly the action whose digest is given.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(verdict) })
  approve(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.decide(caller, 'approve', id, input);
  }

  @Post(':id/deny')
  @HttpCode(200)
  @ApiOperation({ summary: 'Refuses the action; it is not done.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(verdict) })
  deny(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.decide(caller, 'deny', id, input);
  }

  @Post(':id/use')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Uses an approval up for one attempt, before the effect begins. The same attempt may say so again.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(use) })
  async use(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { action_digest, attempt } = parse(use, input);
    const { run_id: runId, tenant } = await this.rowOf(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.recoveries.UseForwardApproval',
      key: runId,
      tenant,
      body: { approval_id: id, action_digest, attempt },
      build: (envelope) => ({
        envelope,
        run_id: runId,
        approval_id: id,
        action_digest: Buffer.from(action_digest, 'hex'),
        attempt,
      }),
    });
  }

  private async decide(caller: Caller, said: 'approve' | 'deny', id: string, input: unknown): Promise<void> {
    const { action_digest, reason } = parse(verdict, input);
    const { run_id: runId, tenant } = await this.rowOf(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.recoveries.DecideForwardApproval',
      key: runId,
      tenant,
      body: { approval_id: id, action_digest, verdict: said, reason },
      build: (envelope) => ({
        envelope,
        run_id: runId,
        approval_id: id,
        action_digest: Buffer.from(action_digest, 'hex'),
        verdict: said,
        reason,
      }),
    });
  }

  private async rowOf(caller: Caller, id: string): Promise<ForwardDoc> {
    const { doc } = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: FORWARD_KIND,
      where: { approval_id: parse(idText, id) },
    });
    // Rows of this kind are written by the forward part alone.
    return doc as ForwardDoc;
  }
}
