// HTTP edge of expected harm: what stands and what taking it back costs, what soon can no longer be taken back, and what uses the
// bounds of a question (A4).
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { contractByDigest, contractView } from '@recourse/contract';
import {
  FromCaller,
  Id,
  idText,
  pageQuery,
  Queried,
  ReadRoute,
  Reads,
  SERVICE_CONTEXT,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, Limited, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { BUDGETS_LOG } from '../core.js';
import { HarmQueries } from '../reads/harm-queries.js';
import type { BoundUse, Question } from '../reads/harm-queries.js';
import type { HarmFilter } from '../reads/harm-statements.js';
import { spellingsOf } from '../reads/spellings.query.js';
import { HARM_GROUPS } from '../rules/harm/harm.messages.js';
import type { Closing, DeclaredCost, Harm } from '../rules/harm/harm.messages.js';

const LIMIT_DEFAULT = 200;
const harmQuery = z.strictObject({
  tenant: pageQuery.tenant,
  limit: pageQuery.limit,
  by: z.enum(HARM_GROUPS).default('agent').describe('What sums are made by.'),
  agent_id: idText.optional(),
  capability: idText.optional(),
});
const tenantQuery = z.strictObject({ tenant: pageQuery.tenant });

/** A report with the database time it was made at, epoch milliseconds. */
type Told<Row> = Limited<Row> & { readonly as_of: number };

@ApiTags('budgets')
@ApiBearerAuth()
@Controller('v1')
export class HarmController {
  constructor(
    @Inject(HarmQueries) private readonly queries: HarmQueries,
    @Inject(Reads) private readonly reads: Reads,
    @Inject(SERVICE_CONTEXT) private readonly service: ServiceContext,
  ) {}

  @ReadRoute(
    'reports/harm',
    'Expected harm: debt that stands by unit, reserved, open or beyond taking back, and what recoveries cost so far, at most, and as expected from the part of effects taken back so far.',
    harmQuery,
  )
  async harm(
    @FromCaller() caller: Caller,
    @Queried(harmQuery) { tenant, limit = LIMIT_DEFAULT, ...filter }: z.infer<typeof harmQuery>,
  ): Promise<Told<Harm>> {
    const narrowed = await this.narrowed(caller, tenant, filter);
    const now = await this.queries.now();
    return { as_of: now, ...(await this.queries.harm(narrowed, now, limit, await this.declaredCosts())) };
  }

  @ReadRoute(
    'reports/forecast',
    'Value that nothing takes back once its window has closed: within the next hour, and within the next day.',
    harmQuery,
  )
  async forecast(
    @FromCaller() caller: Caller,
    @Queried(harmQuery) { tenant, limit = LIMIT_DEFAULT, ...filter }: z.infer<typeof harmQuery>,
  ): Promise<Told<Closing>> {
    const now = await this.queries.now();
    const narrowed = await this.narrowed(caller, tenant, filter);
    return { as_of: now, ...(await this.queries.closing(narrowed, now, limit)) };
  }

  @ReadRoute(
    'escalations/:id/uses',
    'By which mutations each bound of a question is used, the largest first.',
    tenantQuery,
  )
  async uses(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(tenantQuery) { tenant }: z.infer<typeof tenantQuery>,
  ): Promise<{ readonly as_of: number; readonly items: readonly BoundUse[] }> {
    const where = { group_key: id }; // a question is the group of its id, which the primary key finds
    const { doc } = await this.reads.find(caller, { log: BUDGETS_LOG, kind: 'escalation', where, tenant });
    const question = doc as Question; // rows of this kind are escalations
    const now = await this.queries.now();
    const items = await this.queries.uses(question, now, (agent) =>
      spellingsOf(this.reads, caller, agent, question.tenant),
    );
    return { as_of: now, items };
  }

  /** To a tenant, and to every spelling of an agent. */
  private async narrowed(
    caller: Caller,
    tenant: string | undefined,
    { agent_id: agent, ...filter }: Omit<z.infer<typeof harmQuery>, 'tenant' | 'limit'>,
  ): Promise<HarmFilter> {
    const agent_id = agent === undefined ? undefined : await spellingsOf(this.reads, caller, agent, tenant);
    return { ...filter, agent_id, tenant: tenantOfRead(caller.principal, tenant) };
  }

  /** What contracts declare; nothing before the loop has read them. */
  private async declaredCosts(): Promise<DeclaredCost> {
    const contracts = (await this.service.view?.(contractView.name)) ?? null;
    return (digest) =>
      contracts === null
        ? null
        : (contractByDigest(contracts, Buffer.from(digest, 'hex'))?.contract.recovery_cost?.value ?? null);
  }
}
