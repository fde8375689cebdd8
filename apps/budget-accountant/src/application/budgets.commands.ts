// Commands of the budget wire, read from their records.
import type { RecordInput } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type {
  CommandEnvelope,
  DecideEscalation,
  OpenBudget,
  ReleaseReservation,
  ReserveBudget,
} from '@recourse/messages';
import type { Asker, BudgetCommand } from '../domain/budget/budget.messages.js';

export const BUDGET_COMMAND_TYPES = ['OpenBudget', 'ReserveBudget', 'ReleaseReservation', 'DecideEscalation'] as const;

/** Reads a command. Errors: InvariantViolation for a type the core did not ask for. */
export function commandOf(input: RecordInput): BudgetCommand {
  // The codec made the body from the schema of this type.
  const body = input.body as unknown as OpenBudget & ReserveBudget & ReleaseReservation & DecideEscalation;
  const asker = askerOf(body.envelope);
  switch (input.type) {
    case 'OpenBudget':
      return {
        type: 'OpenBudget',
        asker,
        scope: body.scope,
        scopeId: body.scope_id,
        currency: body.currency,
        ceilingMinor: body.ceiling_minor,
      };
    case 'ReserveBudget':
      return {
        type: 'ReserveBudget',
        asker,
        runId: body.run_id,
        effectKey: body.effect_key,
        capability: body.capability,
        value: body.value,
        agentId: body.agent_id,
      };
    case 'ReleaseReservation':
      return { type: 'ReleaseReservation', asker, runId: body.run_id, effectKey: body.effect_key };
    case 'DecideEscalation':
      return {
        type: 'DecideEscalation',
        asker,
        escalationId: body.escalation_id,
        approved: body.approved,
        reason: body.reason,
      };
    default:
      throw new InvariantViolation('budget inputs', `no command ${input.type}`);
  }
}

function askerOf(envelope: CommandEnvelope): Asker {
  return {
    commandId: envelope.command_id,
    tenant: envelope.tenant,
    principal: envelope.principal,
    roles: envelope.roles,
  };
}
