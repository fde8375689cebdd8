// HTTP edge of drills: what a source would cause by saying that an assumption is false. A read: nothing is stated.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { entryView } from '@recourse/contract';
import {
  FromCaller,
  idText,
  runText,
  Queried,
  ReadRoute,
  Reads,
  SERVICE_CONTEXT,
  tenantOfCommand,
} from '@recourse/service';
import type { Caller, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { hearersNow } from '../reads/hearers.view.js';
import { LineageQueries } from '../reads/lineage-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { scopeIdOf } from '../rules/admission/admission.decisions.js';
import type { Scope } from '../rules/admission/admission.decisions.js';
import type { SourceDoc } from '../rules/admission/admission.messages.js';
import { declaredSource, UNDECLARED } from '../rules/admission/context.decisions.js';
import type { FallAsked } from '../rules/lineage-view/preview.decisions.js';
import { scopesOfSaid, statementPreview } from '../rules/lineage-view/statement.decisions.js';
import type { DrillAsked, Said, StatementPreview } from '../rules/lineage-view/statement.decisions.js';
import { LIMITS_IN_FORCE } from './admission.controller.js';
import type { LimitsInForce } from './admission.controller.js';

/** Commits that rely on one ref and are looked behind. */
const RELYING_MAX = 10_000;
/** Commits that are added up. */
const CLOSURE_MAX = 250_000;
/** Partitions that may each have a row of the same thing. */
const ROWS_MAX = 1_000;
const drillQuery = z.strictObject({
  tenant: idText.optional().describe('Only a token for all tenants may name one.'),
  source: idText.describe('Who would say it, as a token or a record names it.'),
  ref: idText.describe('The assumption that would be false, as in order/4711#not_shipped.'),
  run_id: runText.optional().describe('The run it would be said of; all runs without one.'),
});

@ApiTags('rollbacks')
@ApiBearerAuth()
@Controller('v1')
export class DrillController {
  constructor(
    @Inject(LineageQueries) private readonly lineage: LineageQueries,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
    @Inject(LIMITS_IN_FORCE) private readonly inForce: LimitsInForce,
  ) {}

  @ReadRoute(
    'sources/drill',
    'A drill of a source: what would fall if it said now that an assumption is false, or why a person would be asked first. Nothing is stated, recorded or told.',
    drillQuery,
  )
  async drill(
    @FromCaller() caller: Caller,
    @Queried(drillQuery) query: z.infer<typeof drillQuery>,
  ): Promise<StatementPreview> {
    const { source, ref, run_id: runId = null } = query;
    const said = { tenant: tenantOfCommand(caller.principal, query.tenant), source, ref };
    const now = await this.lineage.now();
    return statementPreview({
      said,
      fall: await this.fall(said, runId, now),
      known: await this.known(caller, said),
      open: await this.open(caller, scopesOfSaid(said, now)),
      limits: this.inForce.limits,
      now,
    });
  }

  private async fall({ tenant, ref }: Said, runId: string | null, now: number): Promise<FallAsked> {
    const partitions = await this.service.partitionCount(MUTATIONS_LOG);
    const { commits, truncated } = await this.lineage.relying({ tenant, ref, runId }, partitions, RELYING_MAX);
    const closure = await this.lineage.closure(commits, CLOSURE_MAX);
    const { boundMs } = this.inForce;
    return {
      roots: commits.map(({ id }) => id),
      ...closure,
      truncated: truncated || closure.truncated,
      boundAt: boundMs === null ? null : now - boundMs,
      hearersOf: await hearersNow(this.service, closure.reached),
    };
  }

  /** Each partition keeps its own weight of a source: the least counts. */
  private async known(caller: Caller, { tenant, source }: Said): Promise<DrillAsked['known']> {
    const rows = { log: MUTATIONS_LOG, kind: 'source', where: { source }, tenant };
    const judged = (await this.reads.every(caller, rows, ROWS_MAX)) as readonly Pick<SourceDoc, 'weight_permille'>[]; // rows of sources
    const entries = (await this.service.view?.(entryView.name)) ?? null;
    return {
      source: judged.toSorted((a, b) => a.weight_permille - b.weight_permille)[0],
      declared: entries === null ? UNDECLARED : declaredSource(entries, tenant, source),
    };
  }

  private async open(caller: Caller, scopes: readonly Scope[]): Promise<readonly Scope[]> {
    const found = await Promise.all(
      scopes.map(async (scope) => {
        const where = { breaker_id: scopeIdOf(scope), phase: 'open' };
        const rows = { log: MUTATIONS_LOG, kind: 'breaker', where, tenant: scope.tenant };
        return (await this.reads.every(caller, rows, ROWS_MAX)).length === 0 ? [] : [scope];
      }),
    );
    return found.flat();
  }
}
