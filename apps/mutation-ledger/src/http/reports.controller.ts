// HTTP edge of the ledger's reports: what stands exposed, per tenant, tool, contract and currency (A4), and why what agents did
// landed with people (C72).
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { FromCaller, idText, manualReport, pageQuery, Queried, ReadRoute, tenantOfRead } from '@recourse/service';
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

  @ReadRoute(
    'exposure',
    'What is exposed: effects that can be reversed and until when, those beyond reversal that stand, and those nobody knows the outcome of, with the money in each.',
    reportQuery,
  )
  async exposure(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, capability }: z.infer<typeof reportQuery>,
  ): Promise<ExposureAnswer> {
    const filter = { tenant: tenantOfRead(principal, tenant), capability };
    const now = await this.queries.now();
    return { as_of: now, ...(await this.queries.exposure(filter, now, limit)) };
  }

  @ReadRoute(
    'manual-reasons',
    'Why what agents did lands with a person before any recovery: tools by reason, the most frequent first, and those whose outcomes often cannot be proven.',
    reportQuery,
  )
  async manualReasons(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, capability }: z.infer<typeof reportQuery>,
  ): Promise<ManualReport> {
    const filter = { tenant: tenantOfRead(principal, tenant), capability };
    return manualReport(await this.queries.manualReasons(filter, limit), isUnprovable);
  }
}
