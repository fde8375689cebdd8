// HTTP edge of the ledger: effects as recovery tools know them, and the windows that close next.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  FromCaller,
  idText,
  runText,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
  SERVICE_CONTEXT,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, ListAnswer, Rendered, ServiceContext } from '@recourse/service';
import type { BoundNow } from '@recourse/contract';
import type { Money, RecoveryApprovalMode, ReversalClass } from '@recourse/messages';
import { z } from 'zod';
import { agentEffectOf, EFFECT_STATUSES } from '../rules/effect/effect.decisions.js';
import type { AgentEffect } from '../rules/effect/effect.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { boundNowIn } from '../reads/bound-now.view.js';
import { LedgerQueries } from '../reads/ledger-queries.js';
import type { Stake } from '../reads/ledger-queries.js';
import type { Order } from '../reads/mutation-statements.js';
import { cursorOf, positionOf } from './page-cursor.js';

const LIMIT_DEFAULT = 100;
/** Ten years: longer than any window, and no sum of times leaves the safe integers. */
const WITHIN_MS_MAX = 10 * 366 * 86_400_000;
const effectQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(EFFECT_STATUSES).optional(),
  run_id: runText.optional(),
  tool_name: idText.optional(),
});
const horizonQuery = z.strictObject({
  ...pageQuery,
  within_ms: z.coerce
    .number()
    .int()
    .min(1)
    .max(WITHIN_MS_MAX)
    .optional()
    .describe('Only windows that close within so many milliseconds.'),
  capability: idText.optional(),
});

const newestQuery = z.strictObject({ ...pageQuery, run_id: runText.optional(), capability: idText.optional() });

/** What a person needs to see of a window that closes. */
interface ClosingWindow extends Pick<
  Mutation,
  'mutation_id' | 'tenant' | 'run_id' | 'capability' | 'subject_ref' | 'warned_at' | 'rollback_id'
> {
  readonly expires_at: number | null;
  readonly closes_in_ms: number | null;
  readonly value: Money | null;
  readonly effect: string | null;
  readonly reversal_class: ReversalClass | null;
  /** Who undoes it; null where people do. */
  readonly reversal_capability: string | null;
  readonly recovery_approval_mode: RecoveryApprovalMode | null;
}

interface HorizonAnswer extends ListAnswer<ClosingWindow> {
  /** Database time the answer was made at, epoch milliseconds. */
  readonly as_of: number;
  /** Over everything that closes, per tenant and currency; on the first page, null on later ones. */
  readonly at_stake: readonly Stake[] | null;
}

@ApiTags('mutations')
@ApiBearerAuth()
@Controller('v1')
export class EffectsController {
  constructor(
    @Inject(LedgerQueries) private readonly queries: LedgerQueries,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
  ) {}

  @ReadRoute(
    'agent-effects',
    'Effects of agents, and what was executed to undo some of them, in sixteen columns with one of nine status words; those of one status come longest untouched first.',
    effectQuery,
  )
  async effects(
    @FromCaller() caller: Caller,
    @Queried(effectQuery)
    { status, run_id, tool_name, tenant, cursor, limit = LIMIT_DEFAULT }: z.infer<typeof effectQuery>,
  ): Promise<ListAnswer<Rendered<AgentEffect>>> {
    const order: Order = status === undefined ? 'place' : 'updated';
    const filter = { tenant: tenantOfRead(caller.principal, tenant), status, run_id, capability: tool_name };
    const list = { list: 'agent-effects', order, filter };
    const { effects, next } = await this.queries.effects({ filter, order, after: positionOf(list, cursor), limit });
    // Their tenant stands in the rows alone: a page of several is recorded as what its reader may read.
    const { docs } = await this.reads.shown(
      caller,
      effects.map((executed) => ({ ...agentEffectOf(executed) })),
    );
    return { items: docs.map((doc) => render(doc)), next_cursor: cursorOf(list, next) };
  }

  @ReadRoute('effects', 'Recorded effects as /v1/mutations has them, what was heard of last first.', newestQuery)
  async newest(
    @FromCaller() caller: Caller,
    @Queried(newestQuery) { tenant, cursor, limit = LIMIT_DEFAULT, ...narrowed }: z.infer<typeof newestQuery>,
  ): Promise<ListAnswer<Rendered<Mutation>>> {
    const filter = { tenant: tenantOfRead(caller.principal, tenant), ...narrowed };
    const list = { list: 'effects', order: 'newest', filter } as const;
    const { mutations, next } = await this.queries.page({
      filter,
      order: 'newest',
      after: positionOf(list, cursor),
      limit,
    });
    const { docs } = await this.reads.shown(
      caller,
      mutations.map((mutation) => ({ ...mutation })),
    );
    return { items: docs.map((doc) => render(doc)), next_cursor: cursorOf(list, next) };
  }

  @ReadRoute(
    'horizon',
    "Windows that close next, by the database's clock, and the money at stake in them. They are chosen, summed and put in order by the contracts effects ran under; each says what binds it by now: when it closes, who has to agree, and who undoes it, null where people do.",
    horizonQuery,
  )
  async horizon(
    @FromCaller() { principal }: Caller,
    @Queried(horizonQuery)
    { within_ms, capability, tenant, cursor, limit = LIMIT_DEFAULT }: z.infer<typeof horizonQuery>,
  ): Promise<HorizonAnswer> {
    const filter = { tenant: tenantOfRead(principal, tenant), recoverability: 'reversal_available', capability };
    const list = { list: 'horizon', order: 'expiry', filter: { ...filter, within_ms } } as const;
    const after = positionOf(list, cursor);
    const now = await this.queries.now();
    const closing = { after: now, until: within_ms === undefined ? null : now + within_ms };
    const [{ mutations, next }, stakes, boundNow] = await Promise.all([
      this.queries.page({ filter, order: 'expiry', closing, after, limit }),
      after === undefined ? this.queries.stakes(filter, closing) : null,
      boundNowIn(this.service),
    ]);
    return {
      as_of: now,
      at_stake: stakes,
      items: mutations.map((mutation) => closingOf(mutation, boundNow(mutation), now)),
      next_cursor: cursorOf(list, next),
    };
  }
}

function closingOf(
  {
    mutation_id,
    tenant,
    run_id,
    capability,
    subject_ref,
    expires_at,
    warned_at,
    rollback_id,
    execution,
    terms,
    ref,
  }: Mutation,
  bound: BoundNow | null,
  now: number,
): ClosingWindow {
  const closesAt = bound === null ? expires_at : bound.reversal_expires_at;
  return {
    mutation_id,
    tenant,
    run_id,
    capability,
    subject_ref,
    expires_at: closesAt,
    closes_in_ms: closesAt === null ? null : Math.max(0, closesAt - now),
    warned_at,
    value: execution.value,
    effect: terms?.effect ?? null,
    reversal_class: ref?.reversal_class ?? null,
    reversal_capability: (bound?.withheld ?? null) === null ? (ref?.reversal_capability ?? null) : null,
    recovery_approval_mode: bound?.recovery_approval_mode ?? null,
    rollback_id,
  };
}
