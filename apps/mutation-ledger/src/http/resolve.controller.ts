// HTTP edge of the ledger: what an id on a wire, in a log line or on a ticket is about (A36).
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  Id,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, Rendered, ServiceContext } from '@recourse/service';
import type { MutationRef } from '@recourse/messages';
import { z } from 'zod';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

const resolveQuery = z.strictObject({ tenant: pageQuery.tenant });

/** What an id names. */
interface Resolved {
  readonly id: string;
  readonly names: 'mutation' | 'rollback' | 'recovery' | 'run';
  readonly tenant: string;
  readonly run_id: string;
  /** Null for a run and for a recovery, which are about many. */
  readonly mutation_id: string | null;
  readonly rollback_id: string | null;
  /** The typed pointer that recovery runs from; null where none is recorded. */
  readonly ref: Rendered<MutationRef> | null;
}

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1/resolve')
export class ResolveController {
  constructor(
    @Inject(LedgerQueries) private readonly queries: LedgerQueries,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
  ) {}

  @ReadRoute(
    ':any_id',
    'The mutation, rollback, recovery or run that an id names, looked for in that order.',
    resolveQuery,
  )
  async resolve(
    @FromCaller() caller: Caller,
    @Id('any_id') id: string,
    @Queried(resolveQuery) { tenant: named }: z.infer<typeof resolveQuery>,
  ): Promise<Resolved> {
    const tenant = tenantOfRead(caller.principal, named);
    const found = await this.lookUp(caller, id, tenant);
    if (found !== null) return found;
    // Nobody says that there is nothing while rows are behind their log.
    const isReached = await this.service.projection.isReached(MUTATIONS_LOG);
    const again = await this.lookUp(caller, id, tenant);
    if (again !== null) return again;
    throw isReached
      ? new EdgeRefusal('NOT_FOUND', 'this id names nothing of this tenant')
      : new EdgeRefusal('PROJECTION_BEHIND', `rows of ${MUTATIONS_LOG} are behind`);
  }

  private async shown(caller: Caller, mutation: Mutation | null): Promise<Rendered<MutationRef> | null> {
    if (mutation === null || mutation.ref === null) return null;
    const { tenant, run_id, mutation_id, ref } = mutation;
    const { docs } = await this.reads.shown(caller, [{ tenant, run_id, mutation_id, ref }]);
    return render(docs[0]?.ref ?? ref);
  }

  private async lookUp(caller: Caller, id: string, tenant: string | undefined): Promise<Resolved | null> {
    const mutation = await this.queries.mutation(id, tenant);
    if (mutation !== null)
      return {
        id,
        names: 'mutation',
        tenant: mutation.tenant,
        run_id: mutation.run_id,
        mutation_id: id,
        rollback_id: mutation.rollback_id,
        ref: await this.shown(caller, mutation),
      };
    const named = await this.queries.named(id, tenant);
    if (named !== null) {
      const { names, run_id, mutation_id } = named;
      const about = mutation_id === null ? null : await this.queries.mutation(mutation_id, named.tenant);
      return {
        id,
        names,
        tenant: named.tenant,
        run_id,
        mutation_id,
        rollback_id: names === 'rollback' ? id : null,
        ref: await this.shown(caller, about),
      };
    }
    const run = await this.queries.run(id, tenant);
    return run === null
      ? null
      : { id, names: 'run', tenant: run.tenant, run_id: id, mutation_id: null, rollback_id: null, ref: null };
  }
}
