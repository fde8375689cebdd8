// HTTP edge of expected harm: what stands and what taking it back costs, what soon can no longer be taken back, and what uses the
// bounds of a question (A4).
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { contractByDigest, contractView } from '@recourse/contract';
import {
  FromCaller,
  idText,
  pageQuery,
  parse,
  Reads,
  SERVICE_CONTEXT,
  tenantOfRead,
  tenantText,
} from '@recourse/service';
import type { Caller, Limited, ServiceContext } from '@recourse/service';
import { z } from 'zod';
import { BUDGETS_LOG } from '../core.js';
import { HarmQueries } from '../reads/harm-queries.js';
import type { BoundUse, Question } from '../reads/harm-queries.js';
import { HARM_GROUPS } from '../rules/harm/harm.messages.js';
import type { Closing, DeclaredCost, Harm } from '../rules/harm/harm.messages.js';

const LIMIT_DEFAULT = 200;
const harmQuery = z.strictObject({
  tenant: pageQuery.tenant,
  limit: pageQuery.limit,
  by: z.enum(HARM_GROUPS).default('agent'),
  agent_id: idText.optional(),
  capability: idText.optional(),
});
const tenantQuery = z.strictObject({ tenant: tenantText.optional() });

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

  @Get('reports/harm')
  @ApiOperation({
    summary:
      'Expected harm: debt that stands by unit, reserved, open or beyond taking back, and what recoveries cost so far, at most, and as expected from the part of effects taken back so far.',
  })
  @ApiQuery({ name: 'by', required: false, enum: [...HARM_GROUPS], description: 'What sums are made by.' })
  @ApiQuery({ name: 'agent_id', required: false })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async harm(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Told<Harm>> {
    const { tenant, limit = LIMIT_DEFAULT, ...filter } = parse(harmQuery, query);
    const narrowed = { ...filter, tenant: tenantOfRead(principal, tenant) };
    const now = await this.queries.now();
    return { as_of: now, ...(await this.queries.harm(narrowed, now, limit, await this.declaredCosts())) };
  }

  @Get('reports/forecast')
  @ApiOperation({
    summary: 'Value that nothing takes back once its window has closed: within the next hour, and within the next day.',
  })
  @ApiQuery({ name: 'by', required: false, enum: [...HARM_GROUPS], description: 'What sums are made by.' })
  @ApiQuery({ name: 'agent_id', required: false })
  @ApiQuery({ name: 'capability', required: false })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  @ApiQuery({ name: 'limit', required: false })
  async forecast(@FromCaller() { principal }: Caller, @Query() query: unknown): Promise<Told<Closing>> {
    const { tenant, limit = LIMIT_DEFAULT, ...filter } = parse(harmQuery, query);
    const now = await this.queries.now();
    const narrowed = { ...filter, tenant: tenantOfRead(principal, tenant) };
    return { as_of: now, ...(await this.queries.closing(narrowed, now, limit)) };
  }

  @Get('escalations/:id/uses')
  @ApiOperation({ summary: 'By which mutations each bound of a question is used, the largest first.' })
  @ApiQuery({ name: 'tenant', required: false, description: 'Only a token for all tenants may name one.' })
  async uses(
    @FromCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: unknown,
  ): Promise<{ readonly as_of: number; readonly items: readonly BoundUse[] }> {
    const { tenant } = parse(tenantQuery, query);
    const where = { escalation_id: parse(idText, id) };
    const { doc } = await this.reads.find(caller, { log: BUDGETS_LOG, kind: 'escalation', where, tenant });
    const now = await this.queries.now();
    return { as_of: now, items: await this.queries.uses(doc as Question, now) }; // rows of this kind are escalations
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
