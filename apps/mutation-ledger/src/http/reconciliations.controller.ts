// HTTP edge of reconciliations: a runtime says what it holds, and hears what of it fell.
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  Commands,
  EdgeRefusal,
  FromCaller,
  idText,
  openApiSchema,
  pageQuery,
  parse,
  Reads,
  reasonText,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { COMMITS_MAX } from '../rules/reconciliation/reconciliation.decider.js';
import type { Divergence } from '../rules/reconciliation/reconciliation.decider.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const PARENTS_MAX = 100;
/** Bytes of a comparison as JSON: it fits the wire (256 KB), and its answer, which may name everything twice, one decision (900 KB). */
const BYTES_MAX = 160 * 1_024;
const ref = z.strictObject({ run_id: idText, commit_id: idText });
const held = z.strictObject({
  ...ref.shape,
  derived_from: z.array(ref).max(PARENTS_MAX).default([]),
  stands: z.boolean().default(true),
  reached_user_at: z.number().int().min(0).nullable().default(null),
});
const comparison = z.strictObject({ runtime: idText, tenant: tenantText.optional(), commits: z.array(held) });
const listQuery = z.strictObject({
  ...pageQuery,
  runtime: idText.optional(),
  diverges: z.enum(['true', 'false']).optional(),
});

const DIVERGENCES = { log: MUTATIONS_LOG, kind: 'divergence' } as const;
const pagesOnly = z.strictObject(pageQuery);
const reviewBody = z.strictObject({ reason: reasonText });

@ApiTags('lineage')
@ApiBearerAuth()
@Controller('v1/reconciliations')
export class ReconciliationsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post()
  @ApiOperation({
    summary:
      'Compares the commits a runtime holds with what was rolled back, and records where it diverges: what fell, what was made from it, and when that reached users.',
  })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(comparison) })
  reconcile(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const { tenant, ...body } = parse(comparison, input);
    if (body.commits.length > COMMITS_MAX || Buffer.byteLength(JSON.stringify(body)) > BYTES_MAX) {
      throw new EdgeRefusal('INPUT_INVALID', `a comparison takes ${COMMITS_MAX} commits and ${BYTES_MAX} bytes`, [
        { code: 'RECONCILIATION_TOO_LARGE', message: 'Split it; `recourse lineage reconcile` does.', path: '/commits' },
      ]);
    }
    return this.commands.submit(caller, {
      type: 'recourse.mutations.ReconcileLineage',
      key: body.runtime,
      tenant,
      body,
      build: (envelope) => ({ envelope, ...body }),
    });
  }

  @Get()
  @ApiOperation({ summary: 'Comparisons that were made, with what diverged.' })
  @ApiQuery({ name: 'runtime', required: false })
  @ApiQuery({ name: 'diverges', required: false, enum: ['true', 'false'] })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  list(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { runtime, diverges, ...page } = parse(listQuery, query);
    return this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: 'reconciliation',
      where: { runtime, diverges: diverges === undefined ? undefined : diverges === 'true' },
      ...page,
    });
  }

  @Get('divergences')
  @ApiOperation({ summary: 'Runtimes that keep what fell, until a person has dealt with it: owner and deadline.' })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  divergences(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    return this.reads.list(caller, { ...DIVERGENCES, where: {}, ...parse(pagesOnly, query) });
  }

  @Post('divergences/:id/review')
  @HttpCode(200)
  @ApiOperation({ summary: 'Says what was done about what a runtime kept, which ends the question.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(reviewBody) })
  async review(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { reason } = parse(reviewBody, input);
    const { doc } = await this.reads.find(caller, { ...DIVERGENCES, where: { divergence_id: parse(idText, id) } });
    const { runtime, tenant } = doc as Divergence; // rows of this kind are divergences
    await this.commands.submit(caller, {
      type: 'recourse.mutations.ReviewDivergence',
      key: runtime,
      tenant,
      body: { runtime, reason },
      build: (envelope) => ({ envelope, runtime, reason }),
    });
  }
}
