// HTTP edge of workers: what waits for them, who is silent, and whose keys act and observe.
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Keyring } from '@recourse/kernel';
import { FromCaller, pageQuery, parse, tenantOfRead } from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { RecoveryQueries } from '../reads/recovery-queries.js';
import { workerKeys } from '../rules/step/workers.decisions.js';
import type { WorkersView } from '../rules/step/workers.decisions.js';

/** The keyring as it is now; null where wires are open. */
export const KEYRING = Symbol('keyring');
export type KeyringNow = () => Keyring | null;

const LIMIT_DEFAULT = 200;
const workersQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit });

@ApiTags('workers')
@ApiBearerAuth()
@Controller('v1/workers')
export class WorkersController {
  constructor(
    @Inject(RecoveryQueries) private readonly queries: RecoveryQueries,
    @Inject(KEYRING) private readonly keyring: KeyringNow,
  ) {}

  @Get()
  @ApiOperation({
    summary:
      'What is asked of the workers of each adapter: how much waits, since when, and what nobody answered in time; and whose keys act and observe.',
  })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async workers(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<WorkersView> {
    const { tenant: named, limit = LIMIT_DEFAULT } = parse(workersQuery, query);
    const tenant = tenantOfRead(principal, named);
    const now = Date.now();
    const ring = this.keyring();
    return {
      as_of: now,
      ...(await this.queries.asked({ tenant }, now, limit)),
      keys: ring === null ? null : workerKeys(ring, tenant, now),
    };
  }
}
