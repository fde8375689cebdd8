// HTTP edge of outcomes: what work cost and what came of it, per workflow, intent and version (D39 to D42, D66).
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, pageQuery, Queried, ReadRoute, tenantOfRead } from '@recourse/service';
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
  release: idText.optional().describe('Version of the agent.'),
  from: instant.describe('Ended at or after it; epoch milliseconds.'),
  to: instant.describe('Ended before it; epoch milliseconds.'),
});

@ApiTags('reports')
@ApiBearerAuth()
@Controller('v1/reports')
export class OutcomesController {
  constructor(@Inject(OutcomeQueries) private readonly queries: OutcomeQueries) {}

  @ReadRoute(
    'outcomes',
    'What work cost and what came of it, per workflow, intent and version: cost per trusted outcome, ratios of tokens and caches, results of the business, and what recoveries cost beside it. Null where there is nothing to divide by.',
    reportQuery,
  )
  outcomes(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, release: version, ...filter }: z.infer<typeof reportQuery>,
  ): Promise<Limited<ReportedOutcomes>> {
    return this.queries.outcomes({ ...filter, version, tenant: tenantOfRead(principal, tenant) }, limit);
  }
}
