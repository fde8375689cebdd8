// HTTP edge of outcomes: what work cost and what came of it, per workflow, intent and version (D39 to D42, D66).
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, pageQuery, parse, tenantOfRead } from '@recourse/service';
import type { Caller, Limited } from '@recourse/service';
import { z } from 'zod';
import { OutcomeQueries } from '../reads/outcome-queries.js';
import type { ReportedOutcomes } from '../reads/outcome-queries.js';

const LIMIT_DEFAULT = 200;
const instant = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();
const reportQuery = z.strictObject({
  tenant: pageQuery.tenant,
  limit: pageQuery.limit,
  workflow_id: idText.optional(),
  intent: idText.optional(),
  version: idText.optional(),
  from: instant,
  to: instant,
});

@ApiTags('reports')
@ApiBearerAuth()
@Controller('v1/reports')
export class OutcomesController {
  constructor(@Inject(OutcomeQueries) private readonly queries: OutcomeQueries) {}

  @Get('outcomes')
  @ApiOperation({
    summary:
      'What work cost and what came of it, per workflow, intent and version: cost per trusted outcome, ratios of tokens and caches, results of the business, and what recoveries cost beside it. Null where there is nothing to divide by.',
  })
  @ApiQuery({ name: 'workflow_id', required: false })
  @ApiQuery({ name: 'intent', required: false })
  @ApiQuery({ name: 'version', required: false })
  @ApiQuery({ name: 'from', required: false, description: 'Ended at or after it; epoch milliseconds.' })
  @ApiQuery({ name: 'to', required: false, description: 'Ended before it; epoch milliseconds.' })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  outcomes(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Limited<ReportedOutcomes>> {
    const { tenant, limit = LIMIT_DEFAULT, ...filter } = parse(reportQuery, query);
    return this.queries.outcomes({ ...filter, tenant: tenantOfRead(principal, tenant) }, limit);
  }
}
