// HTTP edge of workers: what waits for them, who is silent, and whose keys act and observe.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Keyring } from '@recourse/kernel';
import { FromCaller, pageQuery, Queried, ReadRoute, tenantOfRead } from '@recourse/service';
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

  @ReadRoute(
    '',
    'What is asked of the workers of each adapter: how much waits, since when, and what nobody answered in time; and whose keys act and observe.',
    workersQuery,
  )
  async workers(
    @FromCaller() { principal }: Caller,
    @Queried(workersQuery) { tenant: named, limit = LIMIT_DEFAULT }: z.infer<typeof workersQuery>,
  ): Promise<WorkersView> {
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
