// HTTP edge of consumers: who was told of what and has answered, what is rolled back (for polls), and who is too slow.
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { EdgeRefusal, FromCaller, idText, pageQuery, parse, Reads, render, tenantOfRead } from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { DELIVERY_PHASES } from '../rules/consumer/consumer.messages.js';
import { fitOf } from '../rules/consumer/misfit.decisions.js';
import type { Fit } from '../rules/consumer/misfit.decisions.js';
import { ConsumerQueries } from '../reads/consumer-queries.js';
import type { ConsumerReport } from '../reads/consumer-queries.js';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';
import { pollCursorOf, pollCursorText } from './poll-cursor.js';

const LIMIT_DEFAULT = 200;
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
  run_id: idText.optional(),
  mutation_id: idText.optional(),
  rollback_id: idText.optional(),
});
const pollQuery = z.strictObject({
  scope: scopeText.default('*'),
  after: z.string().max(64_000).optional(),
  limit: pageQuery.limit,
});
const reportQuery = z.strictObject({ tenant: pageQuery.tenant, limit: pageQuery.limit, consumer: idText.optional() });

/** What a poll gets. */
interface PollAnswer {
  readonly items: readonly unknown[];
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

  @Get('deliveries')
  @ApiOperation({
    summary: 'Consumers that had to hear of a rollback, each with its answer, or by when it is waited for.',
  })
  @ApiQuery({ name: 'consumer', required: false })
  @ApiQuery({ name: 'phase', required: false, enum: DELIVERY_PHASES })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'mutation_id', required: false })
  @ApiQuery({ name: 'rollback_id', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  deliveries(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { consumer, phase, run_id, mutation_id, rollback_id, ...page } = parse(deliveriesQuery, query);
    return this.reads.list(caller, {
      log: MUTATIONS_LOG,
      kind: 'delivery',
      where: { consumer, phase, run_id, mutation_id, rollback_id },
      ...page,
    });
  }

  @Get('rolled-back')
  @ApiOperation({
    summary: 'Commits that are rolled back, for consumers that poll: those in a scope, behind a position.',
  })
  @ApiQuery({
    name: 'scope',
    required: false,
    description: 'Prefix of tenant/agent/run/subject; * stands for one part.',
  })
  @ApiQuery({ name: 'after', required: false, description: '`after` of the poll before; all without it.' })
  @ApiQuery({ name: 'limit', required: false })
  async rolledBack(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<PollAnswer> {
    const { scope: text, after, limit = LIMIT_DEFAULT } = parse(pollQuery, query);
    const tenant = tenantOfRead(principal);
    const scope = text.split('/');
    if (tenant !== undefined && scope[0] !== '*' && scope[0] !== tenant)
      throw new EdgeRefusal(
        'TENANT_FOREIGN',
        `the scope begins with ${scope[0] ?? ''}, the token speaks for ${tenant}`,
      );
    const { items, cursor, more } = await this.queries.rolledBack({ scope, tenant, after: pollCursorOf(after), limit });
    return { items: items.map(render), after: pollCursorText(cursor), more };
  }

  @Get('reports/consumers')
  @ApiOperation({
    summary:
      'Per consumer: answers, silence, how long rollbacks take to reach it, what it let out too late, and whether its mode fits.',
  })
  @ApiQuery({ name: 'consumer', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async report(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<ReportAnswer> {
    const { tenant, limit = LIMIT_DEFAULT, consumer } = parse(reportQuery, query);
    const rows = await this.queries.report(tenantOfRead(principal, tenant), consumer, limit);
    return { items: rows.slice(0, limit).map((row) => ({ ...row, ...fitOf(row) })), more: rows.length > limit };
  }
}
