// HTTP edge of consumers: who was told of what and has answered, what is rolled back (for polls), and who is too slow.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  EdgeRefusal,
  FromCaller,
  idText,
  runText,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  render,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, ListAnswer, Rendered } from '@recourse/service';
import { z } from 'zod';
import { DELIVERY_PHASES } from '../rules/consumer/consumer.messages.js';
import type { Delivery, RolledBack } from '../rules/consumer/consumer.messages.js';
import { fitOf } from '../rules/consumer/misfit.decisions.js';
import type { Fit } from '../rules/consumer/misfit.decisions.js';
import { ConsumerQueries } from '../reads/consumer-queries.js';
import type { ConsumerReport } from '../reads/consumer-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { pollCursorOf, pollCursorText } from './poll-cursor.js';

const LIMIT_DEFAULT = 200;
/** Rollbacks of one id: a tenant has one. */
const ROLLBACKS_MAX = 1_000;
/** Parts of a scope: tenant, agent, run, and those of a subject. */
const scopeText = z
  .string()
  .max(600)
  .regex(
    /^(?:\*|[^/\s*]+)(?:\/(?:\*|[^/\s*]+)){0,9}$/,
    'must be a prefix of tenant/agent/run/subject; * stands for one part',
  );
const deliveriesQuery = z.strictObject({
  ...pageQuery,
  consumer: idText.optional(),
  phase: z.enum(DELIVERY_PHASES).optional(),
  run_id: runText.optional(),
  mutation_id: idText.optional(),
  rollback_id: idText.optional(),
});
const pollQuery = z.strictObject({
  scope: scopeText.default('*').describe('Prefix of tenant/agent/run/subject; * stands for one part.'),
  after: z.string().max(64_000).optional().describe('`after` of the poll before; all without it.'),
  limit: pageQuery.limit,
});
const reportQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, consumer: idText.optional() });

/** What a poll gets. */
interface PollAnswer {
  readonly items: readonly Rendered<RolledBack>[];
  /** Pass it as `after` next time: nothing is missed and nothing comes twice. */
  readonly after: string;
  readonly more: boolean;
}

interface ReportAnswer {
  readonly items: readonly (ConsumerReport & Fit)[];
  readonly more: boolean;
}

@ApiTags('consumers')
@ApiBearerAuth()
@Controller('v1')
export class ConsumersController {
  constructor(
    @Inject(Reads) private readonly reads: Reads,
    @Inject(ConsumerQueries) private readonly queries: ConsumerQueries,
  ) {}

  @ReadRoute(
    'deliveries',
    'Consumers that had to hear of a rollback, each with its answer, or by when it is waited for.',
    deliveriesQuery,
  )
  async deliveries(
    @FromCaller() caller: Caller,
    @Queried(deliveriesQuery)
    { consumer, phase, run_id, mutation_id, rollback_id, ...page }: z.infer<typeof deliveriesQuery>,
  ): Promise<ListAnswer<Rendered<Delivery>>> {
    return this.reads.list<Delivery>(caller, {
      log: MUTATIONS_LOG,
      kind: 'delivery',
      where: {
        consumer,
        phase,
        group_key: run_id,
        mutation_id: mutation_id ?? (await this.fallenBy(caller, rollback_id, page.tenant)),
        rollback_id,
      },
      ...page,
    });
  }

  /** What a rollback marked: deliveries are found by that. Undefined where none is named. */
  private async fallenBy(
    caller: Caller,
    rollback_id: string | undefined,
    tenant: string | undefined,
  ): Promise<readonly string[] | undefined> {
    if (rollback_id === undefined) return undefined;
    const query = { log: MUTATIONS_LOG, kind: 'rollback', where: { rollback_id }, tenant };
    return (await this.reads.every(caller, query, ROLLBACKS_MAX)).map(({ mutation_id }) => String(mutation_id));
  }

  @ReadRoute(
    'rolled-back',
    'Commits that are rolled back, for consumers that poll: those in a scope, behind a position.',
    pollQuery,
  )
  async rolledBack(
    @FromCaller() { principal }: Caller,
    @Queried(pollQuery) { scope: text, after, limit = LIMIT_DEFAULT }: z.infer<typeof pollQuery>,
  ): Promise<PollAnswer> {
    const tenant = tenantOfRead(principal);
    const scope = text.split('/');
    if (tenant !== undefined && scope[0] !== '*' && scope[0] !== tenant)
      throw new EdgeRefusal(
        'TENANT_FOREIGN',
        `the scope begins with ${scope[0] ?? ''}, the token speaks for ${tenant}`,
      );
    const { items, cursor, more } = await this.queries.rolledBack({ scope, tenant, after: pollCursorOf(after), limit });
    return { items: items.map((one) => render(one)), after: pollCursorText(cursor), more };
  }

  @ReadRoute(
    'reports/consumers',
    'Per consumer: answers, silence, how long rollbacks take to reach it, what it let out too late, and whether its mode fits.',
    reportQuery,
  )
  async report(
    @FromCaller() { principal }: Caller,
    @Queried(reportQuery) { tenant, limit = LIMIT_DEFAULT, consumer }: z.infer<typeof reportQuery>,
  ): Promise<ReportAnswer> {
    const rows = await this.queries.report(tenantOfRead(principal, tenant), consumer, limit);
    return { items: rows.slice(0, limit).map((row) => ({ ...row, ...fitOf(row) })), more: rows.length > limit };
  }
}
