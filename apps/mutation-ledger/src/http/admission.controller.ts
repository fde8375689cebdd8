// HTTP edge of falls: triggers, rollbacks and held triggers one by one, breakers, sources, limits.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { OUT_OF_BAND_VERDICT_VALUES } from '@recourse/messages';
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
  tenantOfRead,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { precisionOf } from '../rules/admission/admission.decisions.js';
import type { AdmissionLimits, BreakerDoc } from '../rules/admission/admission.messages.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { RollbackQueries } from '../reads/rollback-queries.js';
import type { CountedRollbacks, Report, TriggerSource } from '../reads/rollback-queries.js';
import type { RollbackDoc } from '../rules/rollback/rollback.messages.js';

/** Limits over all partitions, as the process was started with them. */
export interface LimitsInForce {
  readonly limits: AdmissionLimits;
  /** How far back a rollback reaches, milliseconds; null without a bound. */
  readonly boundMs: number | null;
}
export const LIMITS_IN_FORCE = Symbol('limits in force');

const LIMIT_DEFAULT = 200;
const trigger = z.strictObject({
  run_id: idText,
  mutation_id: idText,
  reason: reasonText,
  tenant: tenantText.optional(),
});
const listQuery = z.strictObject({ ...pageQuery, run_id: idText.optional(), phase: idText.optional() });
const because = z.strictObject({ reason: reasonText });
const review = z.strictObject({ verdict: z.enum(OUT_OF_BAND_VERDICT_VALUES), reason: reasonText });
const breakerQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(['open', 'closed']).default('open'),
  scope: z.enum(['tenant', 'source', 'capability']).optional(),
  breaker_id: idText.optional(),
});
const sourceQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, source: idText.optional() });
const rollbackQuery = z.strictObject({
  tenant: pageQuery.tenant,
  limit: pageQuery.limit,
  by: z.enum(['agent', 'policy', 'source']).default('source'),
});

/** Precision: the part of the judged triggers that people confirmed; null while none is judged (E42). */
type SourceAnswer = TriggerSource & { readonly precision: number | null };

/** Every limit of triggers. */
interface LimitsAnswer {
  readonly settings: {
    readonly source_trust_threshold_permille: number | null;
    readonly storm_limit: number | null;
    readonly storm_window_ms: number | null;
    readonly closure_max: number | null;
    readonly rollback_bound_ms: number | null;
    readonly trend_min: number | null;
    readonly trend_factor: number | null;
    readonly trend_window_ms: number | null;
  };
}

@ApiTags('rollbacks')
@ApiBearerAuth()
@Controller('v1')
export class AdmissionController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(RollbackQueries) private readonly queries: RollbackQueries,
    @Inject(LIMITS_IN_FORCE) private readonly inForce: LimitsInForce,
  ) {}

  @Post('triggers')
  @HttpCode(200)
  @ApiOperation({ summary: 'States that a commit should not stand.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(trigger) })
  trigger(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const body = parse(trigger, input);
    const { run_id, mutation_id, reason, tenant } = body;
    return this.commands.submit(caller, {
      type: 'recourse.mutations.TriggerRollback',
      key: run_id,
      tenant,
      body,
      build: (envelope) => ({ envelope, run_id, mutation_id, reason }),
    });
  }

  @Get('rollbacks')
  @ApiOperation({ summary: 'Rollbacks: what fell, what is held for a person, what waits for its commit.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'phase', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  listRollbacks(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, phase, ...page } = parse(listQuery, query);
    return this.reads.list(caller, { log: MUTATIONS_LOG, kind: 'rollback', where: { run_id, phase }, ...page });
  }

  @Get('rollbacks/:id')
  @ApiOperation({ summary: 'One rollback or held trigger: the evidence, what holds it, what people said of it.' })
  async rollback(@FromCaller() caller: Caller, @Param('id') id: string): Promise<unknown> {
    return render((await this.reads.shown([await this.rollbackOf(caller, id)]))[0]);
  }

  @Post('rollbacks/:id/confirm')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Says that a trigger was right: a held one is admitted, and its source gains weight. Of a closure limit it lets the whole event through.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(because) })
  confirm(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.judge(caller, 'ConfirmTrigger', id, input);
  }

  @Post('rollbacks/:id/reject')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Says that a trigger was wrong: a held one is closed, and its source loses weight. What is rolled back already stays so.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(because) })
  reject(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.judge(caller, 'RejectTrigger', id, input);
  }

  @Post('rollbacks/:id/review')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Says what becomes of a commit that a fall reaches beyond its bound, or that a later bundle cannot judge: it stands, or a rollback of its own is opened.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(review) })
  async review(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { verdict, reason } = parse(review, input);
    const { run_id, mutation_id, tenant } = await this.rollbackOf(caller, id);
    await this.commands.submit(caller, {
      type: 'recourse.mutations.ReviewOutOfBand',
      key: run_id,
      tenant,
      body: { rollback_id: id, verdict, reason },
      build: (envelope) => ({ envelope, run_id, mutation_id, verdict, reason }),
    });
  }

  @Get('breakers')
  @ApiOperation({
    summary: 'Breakers that a burst of triggers opened, or that people closed. Each partition has its own.',
  })
  @ApiQuery({ name: 'state', required: false, enum: ['open', 'closed'] })
  @ApiQuery({ name: 'scope', required: false, enum: ['tenant', 'source', 'capability'] })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  breakers(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { state, scope, breaker_id, ...page } = parse(breakerQuery, query);
    return this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: 'breaker',
      where: { phase: state, scope, breaker_id },
      ...page,
    });
  }

  @Post('breakers/:run_id/:id/close')
  @HttpCode(200)
  @ApiOperation({ summary: 'Closes a breaker: what it held is decided again, one by one. The list names the run.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(because) })
  async close(
    @FromCaller() caller: Caller,
    @Param('run_id') run: string,
    @Param('id') id: string,
    @Body() input: unknown,
  ): Promise<void> {
    const { reason } = parse(because, input);
    const where = { breaker_id: parse(idText, id), run_id: parse(idText, run) };
    const { run_id, tenant } = (await this.reads.find(caller, { log: MUTATIONS_LOG, kind: 'breaker', where }))
      .doc as BreakerDoc; // rows of this kind are breakers
    await this.commands.submit(caller, {
      type: 'recourse.mutations.CloseBreaker',
      key: run_id,
      tenant,
      body: { breaker_id: id, run_id, reason },
      build: (envelope) => ({ envelope, run_id, breaker_id: id, reason }),
    });
  }

  @Get('sources')
  @ApiOperation({
    summary: 'Sources of triggers: what people said of them, their precision, their weight, what is held of them.',
  })
  @ApiQuery({ name: 'source', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async sources(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Report<SourceAnswer>> {
    const { tenant, limit = LIMIT_DEFAULT, source } = parse(sourceQuery, query);
    const { items, more } = await this.queries.sources({ tenant: tenantOfRead(principal, tenant), source }, limit);
    return { items: items.map((row) => ({ ...row, precision: precisionOf(row) })), more };
  }

  @Get('reports/rollbacks')
  @ApiOperation({
    summary:
      'Rollbacks by agent, by source of the trigger, or by policy bundle: the recovery policy of an effect, the gate of a commit without one.',
  })
  @ApiQuery({ name: 'by', required: false, enum: ['agent', 'policy', 'source'] })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  rollbacks(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Report<CountedRollbacks>> {
    const { tenant, limit = LIMIT_DEFAULT, by } = parse(rollbackQuery, query);
    return this.queries.rollbacks(by, { tenant: tenantOfRead(principal, tenant) }, limit);
  }

  @Get('limits')
  @ApiOperation({ summary: 'Limits of triggers that are set, and what is told as a steady rise of rollbacks.' })
  limits(): LimitsAnswer {
    const {
      limits: { trustThresholdPermille, storm, closureMax, trend },
      boundMs,
    } = this.inForce;
    return {
      settings: {
        source_trust_threshold_permille: trustThresholdPermille,
        storm_limit: storm?.limit ?? null,
        storm_window_ms: storm?.windowMs ?? null,
        closure_max: closureMax,
        rollback_bound_ms: boundMs,
        trend_min: trend?.min ?? null,
        trend_factor: trend?.factor ?? null,
        trend_window_ms: trend?.windowMs ?? null,
      },
    };
  }

  private async judge(
    caller: Caller,
    verb: 'ConfirmTrigger' | 'RejectTrigger',
    id: string,
    input: unknown,
  ): Promise<void> {
    const { reason } = parse(because, input);
    const { run_id, mutation_id, tenant } = await this.rollbackOf(caller, id);
    await this.commands.submit(caller, {
      type: `recourse.mutations.${verb}`,
      key: run_id,
      tenant,
      body: { rollback_id: id, reason },
      build: (envelope) => ({ envelope, run_id, rollback_id: id, mutation_id, reason }),
    });
  }

  private async rollbackOf(caller: Caller, id: string): Promise<RollbackDoc> {
    const { doc } = await this.reads.find(caller, {
      log: MUTATIONS_LOG,
      kind: 'rollback',
      where: { rollback_id: parse(idText, id) },
    });
    return doc as RollbackDoc; // rows of this kind are rollbacks
  }
}
