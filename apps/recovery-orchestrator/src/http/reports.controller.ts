// HTTP edge of the orchestrator's reports: which tools end with people and why, and what was observed of recoveries.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, manualReport, pageQuery, Queried, ReadRoute, tenantOfRead } from '@recourse/service';
import type { Caller, ManualReport } from '@recourse/service';
import { z } from 'zod';
import { isUnprovable } from '../core/reports.decisions.js';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import type { ObservedRecoveries, Report } from '../reads/recovery-queries.js';

const LIMIT_DEFAULT = 200;
const reportQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, capability: idText.optional() });

@ApiTags('reports')
@ApiBearerAuth()
@Controller('v1/reports')
export class ReportsController {
  constructor(@Inject(RecoveryQueries) private readonly queries: RecoveryQueries) {}

  @ReadRoute(
    'manual-reasons',
    'Why steps of recoveries land with a person: tools by reason, the most frequent first, and those whose outcomes often cannot be proven.',
    reportQuery,
  )
  async manualReasons(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, capability }: z.infer<typeof reportQuery>,
  ): Promise<ManualReport> {
    const counted = await this.queries.manualReasons({ tenant: tenantOfRead(principal, tenant), capability }, limit);
    return manualReport(counted, isUnprovable);
  }

  @ReadRoute(
    'recoveries',
    'What was observed of recoveries per tool: how they ended, how often they were tried, and how long a compensation took.',
    reportQuery,
  )
  recoveries(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, capability }: z.infer<typeof reportQuery>,
  ): Promise<Report<ObservedRecoveries>> {
    return this.queries.recoveries({ tenant: tenantOfRead(principal, tenant), capability }, limit);
  }
}
