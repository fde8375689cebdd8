// HTTP edge of rates: how many compensations may start in a minute, and which schedules are in use.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { FromCaller, pageQuery, Queried, ReadRoute, tenantOfRead } from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import type { Rates } from '../rules/admission/pace.decisions.js';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import type { BusyPace } from '../reads/recovery-queries.js';

/** Rates over all partitions, as the process was started with them. */
export const RATES_IN_FORCE = Symbol('rates in force');

const LIMIT_DEFAULT = 200;
const rateQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit });

interface RatesAnswer {
  readonly settings: { readonly tenant_per_minute: number | null; readonly capability_per_minute: number | null };
  readonly rates: readonly BusyPace[];
  readonly more: boolean;
}

@ApiTags('rates')
@ApiBearerAuth()
@Controller('v1/rates')
export class RatesController {
  constructor(
    @Inject(RecoveryQueries) private readonly queries: RecoveryQueries,
    @Inject(RATES_IN_FORCE) private readonly inForce: Rates,
  ) {}

  @ReadRoute('', 'Rates of compensations that are set, and their schedules that are in use.', rateQuery)
  async rates(
    @FromCaller() { principal }: Caller,
    @Queried(rateQuery) { tenant: named, limit = LIMIT_DEFAULT }: z.infer<typeof rateQuery>,
  ): Promise<RatesAnswer> {
    const { items, more } = await this.queries.paces({ tenant: tenantOfRead(principal, named) }, Date.now(), limit);
    const { tenantPerMinute, capabilityPerMinute } = this.inForce;
    return {
      settings: { tenant_per_minute: tenantPerMinute, capability_per_minute: capabilityPerMinute },
      rates: items,
      more,
    };
  }
}
