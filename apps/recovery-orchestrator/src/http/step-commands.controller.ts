// HTTP edge of what people may have done about a step beside agreeing to it: try again, look again, give up, make an incident.
import { Body, Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { plainPayload } from '@recourse/contract';
import { LOOK_PURPOSE_VALUES, SEVERITY_VALUES } from '@recourse/messages';
import { Commands, FromCaller, hashHex, idText, openApiSchema, parse, Reads, reasonText } from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { RECOVERIES_LOG } from '../core.js';
import { GLASS_VALID_MAX_MS, GLASS_VALID_MIN_MS } from '../rules/step/glass.decisions.js';

const RUNBOOK_LENGTH_MAX = 2_000;
/** A quarter of an hour. */
const GLASS_VALID_DEFAULT_MS = 900_000;
const why = z.strictObject({ reason: reasonText });
const looking = z.strictObject({
  purpose: z.enum(LOOK_PURPOSE_VALUES),
  evidence: z.json().default({}),
  reason: reasonText,
});
const escalating = z.strictObject({
  severity: z.enum(SEVERITY_VALUES),
  runbook: z.string().min(1).max(RUNBOOK_LENGTH_MAX).nullable().default(null),
  reason: reasonText,
});

const glass = z.strictObject({
  action_digest: hashHex,
  valid_ms: z.number().int().min(GLASS_VALID_MIN_MS).max(GLASS_VALID_MAX_MS).default(GLASS_VALID_DEFAULT_MS),
  reason: reasonText,
});

type Verb = 'BreakGlass' | 'RetryStep' | 'AbandonStep' | 'CheckStep' | 'EscalateStep';

@ApiTags('recoveries')
@ApiBearerAuth()
@Controller('v1/steps/:id')
export class StepCommandsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post('retry')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Tries a compensation again that a person was given: under the same key, after reconciling, and with new approvals where its contract asks for them.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(why) })
  retry(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.send(caller, 'RetryStep', id, parse(why, input));
  }

  @Post('abandon')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Gives a compensation up: nothing is called any more, and the item is accepted as it is. Not while a worker may still act on it.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(why) })
  abandon(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.send(caller, 'AbandonStep', id, parse(why, input));
  }

  @Post('check')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Has a worker look whether the success condition holds: after a repair by hand, or because an earlier attempt may have taken effect. Nothing is changed by it.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(looking) })
  check(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(looking, input);
    return this.send(caller, 'CheckStep', id, body, { purpose: body.purpose, evidence: plainPayload(body.evidence) });
  }

  @Post('escalate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Makes an incident of a step, with a severity and the page that says what to do.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(escalating) })
  escalate(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(escalating, input);
    return this.send(caller, 'EscalateStep', id, body, { severity: body.severity, runbook: body.runbook });
  }

  @Post('break-glass')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Agrees in an emergency, in the place of the people the contract asks for: two people, a reason each, for an hour at the most. Everything else stands as ever.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(glass) })
  breakGlass(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const body = parse(glass, input);
    return this.send(caller, 'BreakGlass', id, body, {
      action_digest: Buffer.from(body.action_digest, 'hex'),
      valid_ms: body.valid_ms,
    });
  }

  private async send(
    caller: Caller,
    verb: Verb,
    id: string,
    body: { readonly reason: string },
    more: object = {},
  ): Promise<void> {
    const { doc } = await this.reads.find(caller, {
      log: RECOVERIES_LOG,
      kind: 'step',
      where: { step_id: parse(idText, id) },
    });
    const runId = String(doc['run_id']);
    await this.commands.submit(caller, {
      type: `recourse.recoveries.${verb}`,
      key: runId,
      tenant: String(doc['tenant']),
      body: { step_id: id, ...body },
      build: (envelope) => ({ envelope, run_id: runId, step_id: id, reason: body.reason, ...more }),
    });
  }
}
