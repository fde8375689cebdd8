// HTTP edge of the budget accountant. Every command of a tenant has the tenant as its key.
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  Commands,
  FromCaller,
  idText,
  openApiSchema,
  pageQuery,
  parse,
  Reads,
  reasonText,
  tenantText,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { BUDGETS_LOG } from '../core.js';

const tenant = tenantText.optional();
const currency = z.string().regex(/^(?:[A-Z]{3}|exposure)$/, 'must be an ISO 4217 code, or exposure for disclosures');
const minor = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const opening = z.strictObject({
  scope: z.enum(['run', 'tenant']),
  scope_id: idText,
  currency,
  ceiling_minor: minor,
  tenant,
});
const reservation = z.strictObject({
  run_id: idText,
  effect_key: idText,
  capability: idText,
  agent_id: idText.nullable().default(null),
  initiator: idText.nullable().default(null),
  value: z.strictObject({ amount_minor: minor, currency }),
  tenant,
});
const release = z.strictObject({ run_id: idText, effect_key: idText, tenant });
const decision = z.strictObject({ approved: z.boolean(), reason: reasonText, tenant });
const budgetQuery = z.strictObject({
  ...pageQuery,
  scope: z.enum(['run', 'tenant']).optional(),
  scope_id: idText.optional(),
});
const reservationQuery = z.strictObject({ ...pageQuery, run_id: idText.optional(), phase: idText.optional() });
const ownTenant = (own: string): string => own;

@ApiTags('budgets')
@ApiBearerAuth()
@Controller('v1')
export class BudgetsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @Post('budgets')
  @HttpCode(201)
  @ApiOperation({ summary: 'Opens a budget of a run or the tenant.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(opening) })
  open(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const body = parse(opening, input);
    const { tenant: named, ...fields } = body;
    return this.commands.submit(caller, {
      type: 'recourse.budgets.OpenBudget',
      key: ownTenant,
      tenant: named,
      body,
      build: (envelope) => ({ envelope, ...fields }),
    });
  }

  @Post('reservations')
  @HttpCode(201)
  @ApiOperation({ summary: 'Reserves before an action; over a ceiling it becomes an escalation.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(reservation) })
  reserve(@FromCaller() caller: Caller, @Body() input: unknown): Promise<void> {
    const body = parse(reservation, input);
    const { tenant: named, ...fields } = body;
    return this.commands.submit(caller, {
      type: 'recourse.budgets.ReserveBudget',
      key: ownTenant,
      tenant: named,
      body,
      build: (envelope) => ({ envelope, ...fields }),
    });
  }

  @Post('reservations/:id/release')
  @HttpCode(200)
  @ApiOperation({ summary: 'Gives a reservation back: the action will not happen.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(release) })
  release(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    return this.giveBack(caller, parse(idText, id), parse(release, input));
  }

  @Delete('reservations/:id')
  @HttpCode(200)
  @ApiOperation({ summary: 'Gives a reservation back, by its id alone.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  async remove(@FromCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    const { doc } = await this.reads.find(caller, {
      log: BUDGETS_LOG,
      kind: 'reservation',
      where: { reservation_id: parse(idText, id) },
    });
    await this.giveBack(caller, id, {
      run_id: String(doc['run_id']),
      effect_key: String(doc['effect_key']),
      tenant: String(doc['tenant']),
    });
  }

  @Get('budgets')
  @ApiOperation({ summary: 'Budgets and what is used of them.' })
  @ApiQuery({ name: 'scope', required: false })
  @ApiQuery({ name: 'scope_id', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  budgets(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { scope, scope_id, ...page } = parse(budgetQuery, query);
    return this.reads.list(caller, { log: BUDGETS_LOG, kind: 'budget', where: { scope, scope_id }, ...page });
  }

  @Get('reservations')
  @ApiOperation({ summary: 'Reservations and what became of them.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'phase', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  reservations(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, phase, ...page } = parse(reservationQuery, query);
    return this.reads.list(caller, { log: BUDGETS_LOG, kind: 'reservation', where: { run_id, phase }, ...page });
  }

  @Get('escalations')
  @ApiOperation({ summary: 'Questions for a person: what would exceed a ceiling, and what has.' })
  @ApiQuery({ name: 'run_id', required: false })
  @ApiQuery({ name: 'phase', required: false })
  @ApiQuery({ name: 'cursor', required: false })
  @ApiQuery({ name: 'limit', required: false })
  escalations(@FromCaller() caller: Caller, @Query() query: unknown): Promise<ListAnswer> {
    const { run_id, phase, ...page } = parse(reservationQuery, query);
    return this.reads.list(caller, { log: BUDGETS_LOG, kind: 'escalation', where: { run_id, phase }, ...page });
  }

  @Post('escalations/:id/decide')
  @HttpCode(200)
  @ApiOperation({ summary: 'Decides an escalation.' })
  @ApiHeader({ name: 'Idempotency-Key', required: false })
  @ApiBody({ schema: openApiSchema(decision) })
  decide(@FromCaller() caller: Caller, @Param('id') id: string, @Body() input: unknown): Promise<void> {
    const { approved, reason, tenant: named } = parse(decision, input);
    const escalation_id = parse(idText, id);
    return this.commands.submit(caller, {
      type: 'recourse.budgets.DecideEscalation',
      key: ownTenant,
      tenant: named,
      body: { escalation_id, approved, reason },
      build: (envelope) => ({ envelope, escalation_id, approved, reason }),
    });
  }

  private giveBack(
    caller: Caller,
    id: string,
    { run_id, effect_key, tenant: named }: z.infer<typeof release>,
  ): Promise<void> {
    return this.commands.submit(caller, {
      type: 'recourse.budgets.ReleaseReservation',
      key: ownTenant,
      tenant: named,
      body: { id, run_id, effect_key },
      build: (envelope) => ({ envelope, run_id, effect_key }),
    });
  }
}
