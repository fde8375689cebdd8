// HTTP edge of falls: triggers, rollbacks and held triggers one by one, breakers, sources, limits.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  CommandRoute,
  Commands,
  FromCaller,
  Given,
  Id,
  idText,
  runText,
  listsController,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  reasonText,
  tenantOfRead,
  tenantText,
} from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { precisionOf } from '../rules/admission/admission.decisions.js';
import type { AdmissionLimits, BreakerDoc } from '../rules/admission/admission.messages.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { RollbackQueries } from '../reads/rollback-queries.js';
import type { CountedRollbacks, Report, TriggerSource } from '../reads/rollback-queries.js';
import type { RollbackDoc } from '../rules/rollback/rollback.messages.js';
import type { TrendDoc } from '../rules/trend/trend.messages.js';

/** Limits over all partitions, as the process was started with them. */
export interface LimitsInForce {
  readonly limits: AdmissionLimits;
  /** How far back a rollback reaches, milliseconds; null without a bound. */
  readonly boundMs: number | null;
}
export const LIMITS_IN_FORCE = Symbol('limits in force');

const LIMIT_DEFAULT = 200;
const because = z.strictObject({ reason: reasonText, tenant: tenantText.optional() });
/** The run is named here where no path can hold it: a client takes one that is called `..` for a way up. */
const closing = because.extend({ run_id: runText.optional() });
const sourceQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, source: idText.optional() });
const rollbackQuery = z.strictObject({
  tenant: pageQuery.tenant,
  limit: pageQuery.limit,
  by: z.enum(['agent', 'policy', 'source']).default('source'),
});

/** Precision: the part of the judged triggers that people confirmed; null while none is judged (E42). */
type SourceAnswer = TriggerSource & { readonly precision: number | null };

/** Every limit of triggers. */
interface LimitsAnswer {
  readonly settings: {
    readonly source_trust_threshold_permille: number | null;
    readonly storm_limit: number | null;
    readonly storm_window_ms: number | null;
    readonly closure_max: number | null;
    readonly rollback_bound_ms: number | null;
    readonly trend_min: number | null;
    readonly trend_factor: number | null;
    readonly trend_window_ms: number | null;
  };
}

export const RollbackListsController = listsController<{
  readonly rollbacks: RollbackDoc;
  readonly trends: TrendDoc;
  readonly breakers: BreakerDoc;
}>({
  tag: 'rollbacks',
  log: MUTATIONS_LOG,
  lists: {
    rollbacks: {
      kind: 'rollback',
      summary: 'Rollbacks: what fell, what is held for a person, what waits for its commit.',
      where: { run_id: runText.optional(), phase: idText.optional() },
      columns: { run_id: 'group_key' },
      one: {
        column: 'rollback_id',
        summary: 'One rollback or held trigger: the evidence, what holds it, what people said of it.',
        asks: ({ phase }) => phase === 'held',
      },
    },
    trends: {
      kind: 'trend',
      summary:
        'Tenants and agents whose rollbacks rise steadily, until a person has looked: windows, owner and deadline. Each partition counts its own.',
      where: { state: z.enum(['rising', 'usual']).default('rising') },
      columns: { state: 'phase' },
    },
    breakers: {
      kind: 'breaker',
      summary: 'Breakers that a burst of triggers opened, or that people closed. Each partition has its own.',
      where: {
        state: z.enum(['open', 'closed']).default('open'),
        scope: z.enum(['tenant', 'source', 'capability']).optional(),
        breaker_id: idText.optional(),
      },
      columns: { state: 'phase' },
    },
  },
});

@ApiTags('rollbacks')
@ApiBearerAuth()
@Controller('v1')
export class AdmissionController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(RollbackQueries) private readonly queries: RollbackQueries,
    @Inject(LIMITS_IN_FORCE) private readonly inForce: LimitsInForce,
  ) {}

  @CommandRoute('breakers/:run_id/:id/close', {
    summary:
      'Closes a breaker: what it held is decided again, one by one. The list names the run; `run_id` in the body stands above the path, for runs that no path can name.',
    body: closing,
  })
  async close(
    @FromCaller() caller: Caller,
    @Id('run_id') runInPath: string,
    @Id('id') breaker_id: string,
    @Given(closing) { reason, tenant, run_id = runInPath }: z.infer<typeof closing>,
  ): Promise<void> {
    const where = { breaker_id, run_id };
    const { doc } = await this.reads.find(caller, { log: MUTATIONS_LOG, kind: 'breaker', where, tenant });
    await this.commands.submit(caller, {
      type: 'recourse.mutations.CloseBreaker',
      key: run_id,
      tenant: String(doc['tenant']),
      body: { ...where, reason },
      build: (envelope) => ({ envelope, ...where, reason }),
    });
  }

  @ReadRoute(
    'sources',
    'Sources of triggers: what people said of them, their precision, their weight, what is held of them.',
    sourceQuery,
  )
  async sources(
    @FromCaller() { principal }: Caller,
    @Queried(sourceQuery) { tenant, limit = LIMIT_DEFAULT, source }: z.infer<typeof sourceQuery>,
  ): Promise<Report<SourceAnswer>> {
    const { items, more } = await this.queries.sources({ tenant: tenantOfRead(principal, tenant), source }, limit);
    return { items: items.map((row) => ({ ...row, precision: precisionOf(row) })), more };
  }

  @ReadRoute(
    'reports/rollbacks',
    'Rollbacks by agent, by source of the trigger, or by policy bundle: the recovery policy of an effect, the gate of a commit without one.',
    rollbackQuery,
  )
  rollbacks(
    @FromCaller() { principal }: Caller,
    @Queried(rollbackQuery) { tenant, limit = LIMIT_DEFAULT, by }: z.infer<typeof rollbackQuery>,
  ): Promise<Report<CountedRollbacks>> {
    return this.queries.rollbacks(by, { tenant: tenantOfRead(principal, tenant) }, limit);
  }

  @ReadRoute('limits', 'Limits of triggers that are set, and what is told as a steady rise of rollbacks.')
  limits(): LimitsAnswer {
    const {
      limits: { trustThresholdPermille, storm, closureMax, trend },
      boundMs,
    } = this.inForce;
    return {
      settings: {
        source_trust_threshold_permille: trustThresholdPermille,
        storm_limit: storm?.limit ?? null,
        storm_window_ms: storm?.windowMs ?? null,
        closure_max: closureMax,
        rollback_bound_ms: boundMs,
        trend_min: trend?.min ?? null,
        trend_factor: trend?.factor ?? null,
        trend_window_ms: trend?.windowMs ?? null,
      },
    };
  }
}
