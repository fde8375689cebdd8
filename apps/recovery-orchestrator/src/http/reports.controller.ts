// HTTP edge of the orchestrator's reports: which tools end with people and why, and what was observed of recoveries.
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, manualReport, pageQuery, parse, tenantOfRead } from '@recourse/service';
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

  @Get('manual-reasons')
  @ApiOperation({
    summary:
      'Why steps of recoveries land with a person: tools by reason, the most frequent first, and those whose outcomes often cannot be proven.',
  })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async manualReasons(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<ManualReport> {
    const { tenant, limit = LIMIT_DEFAULT, capability } = parse(reportQuery, query);
    const counted = await this.queries.manualReasons({ tenant: tenantOfRead(principal, tenant), capability }, limit);
    return manualReport(counted, isUnprovable);
  }

  @Get('recoveries')
  @ApiOperation({
    summary:
      'What was observed of recoveries per tool: how they ended, how often they were tried, and how long a compensation took.',
  })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  recoveries(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Report<ObservedRecoveries>> {
    const { tenant, limit = LIMIT_DEFAULT, capability } = parse(reportQuery, query);
    return this.queries.recoveries({ tenant: tenantOfRead(principal, tenant), capability }, limit);
  }
}
