// HTTP edge of the ledger's reports: what stands exposed, per tenant, tool, contract and currency (A4), and why what agents did
// landed with people (C72).
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, manualReport, pageQuery, parse, tenantOfRead } from '@recourse/service';
import type { Caller, ManualReport } from '@recourse/service';
import { z } from 'zod';
import { isUnprovable } from '../rules/mutation/manual.decisions.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import type { Exposure } from '../reads/ledger-queries.js';

const LIMIT_DEFAULT = 200;
const reportQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, capability: idText.optional() });

interface ExposureAnswer {
  /** Database time the answer was made at, epoch milliseconds. */
  readonly as_of: number;
  readonly items: readonly Exposure[];
  readonly more: boolean;
}

@ApiTags('reports')
@ApiBearerAuth()
@Controller('v1/reports')
export class ReportsController {
  constructor(@Inject(LedgerQueries) private readonly queries: LedgerQueries) {}

  @Get('exposure')
  @ApiOperation({
    summary:
      'What is exposed: effects that can be reversed and until when, those beyond reversal that stand, and those nobody knows the outcome of, with the money in each.',
  })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async exposure(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<ExposureAnswer> {
    const { tenant, limit = LIMIT_DEFAULT, capability } = parse(reportQuery, query);
    const filter = { tenant: tenantOfRead(principal, tenant), capability };
    const now = await this.queries.now();
    return { as_of: now, ...(await this.queries.exposure(filter, now, limit)) };
  }

  @Get('manual-reasons')
  @ApiOperation({
    summary:
      'Why what agents did lands with a person before any recovery: tools by reason, the most frequent first, and those whose outcomes often cannot be proven.',
  })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async manualReasons(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<ManualReport> {
    const { tenant, limit = LIMIT_DEFAULT, capability } = parse(reportQuery, query);
    const filter = { tenant: tenantOfRead(principal, tenant), capability };
    return manualReport(await this.queries.manualReasons(filter, limit), isUnprovable);
  }
}
