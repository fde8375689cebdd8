// HTTP edge of the budget accountant: its verbs and its lists. Every command of a tenant has the tenant as its key.
import { Controller, Delete, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  CommandRoute,
  Commands,
  FromCaller,
  Id,
  idText,
  listsController,
  Reads,
  verbsController,
} from '@recourse/service';
import type { Caller } from '@recourse/service';
import { z } from 'zod';
import { BUDGET_COMMANDS, BUDGETS_LOG } from '../core.js';

const tag = 'budgets';
const phase = idText.optional();

export const BudgetVerbsController = verbsController({
  tag,
  wire: BUDGET_COMMANDS,
  fields: {
    currency: z.string().regex(/^(?:[A-Z]{3}|exposure)$/, 'must be an ISO 4217 code, or exposure for disclosures'),
  },
});

export const BudgetListsController = listsController({
  tag,
  log: BUDGETS_LOG,
  lists: {
    budgets: {
      kind: 'budget',
      summary: 'Budgets and what is used of them.',
      where: { scope: z.enum(['run', 'tenant']).optional(), scope_id: idText.optional() },
    },
    reservations: {
      kind: 'reservation',
      summary: 'Reservations and what became of them.',
      where: { run_id: idText.optional(), phase },
    },
    escalations: {
      kind: 'escalation',
      summary: 'Questions for a person: what would exceed a ceiling, and what has.',
      where: { run_id: idText.optional(), phase },
    },
  },
});

@ApiTags(tag)
@ApiBearerAuth()
@Controller('v1')
export class ReservationsController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Reads) private readonly reads: Reads,
  ) {}

  @CommandRoute('reservations/:id', { summary: 'Gives a reservation back, by its id alone.', verb: Delete })
  async remove(@FromCaller() caller: Caller, @Id('id') id: string): Promise<void> {
    const { doc } = await this.reads.find(caller, {
      log: BUDGETS_LOG,
      kind: 'reservation',
      where: { reservation_id: id },
    });
    const fields = { run_id: String(doc['run_id']), effect_key: String(doc['effect_key']) };
    await this.commands.submit(caller, {
      type: 'recourse.budgets.ReleaseReservation',
      key: (tenant) => tenant,
      tenant: String(doc['tenant']),
      body: { id, ...fields },
      build: (envelope) => ({ envelope, ...fields }),
    });
  }
}
