// Whom a guard asks before an effect: the budget, and people where the contract or the rung of the agent wants them.
//
// Boundary: asks the ports; what is reserved for an effect that does not come is given back.
import type { Json } from '@recourse/kernel';
import type { Action } from '../producer/producer.js';
import { actionDigestOf, reservationsOf } from './action.js';
import type { ReservationAnswer } from './budget.port.js';
import type { GuardOptions, GuardTrouble } from './guard.messages.js';
import { giveBack, objection, textOf, trouble } from './objections.js';
import type { Situation, Stop } from './objections.js';

/** Who is asked before an effect, the fewest first. */
const MODES = ['policy', 'human', 'dual_control'] as const;
type ForwardMode = (typeof MODES)[number];

/** Whom the rung that the agent has earned wants asked. */
interface Earned {
  readonly rungMode: ForwardMode;
}

/** What people are asked on. */
interface Question extends Earned {
  readonly rehearsal: Json;
  readonly attempt: number;
}

/** Asks people where the contract wants them, or the rung of the agent. A recovery was approved as one, before it came here. */
export async function approve({ call, action, options }: Situation, question: Question): Promise<Stop | null> {
  const { rehearsal, attempt, rungMode } = question;
  const mode = stricterMode(options.contract.forward_approval ?? 'policy', rungMode);
  if (mode === 'policy' || call.recovery !== undefined) return null;
  if (options.approvals === undefined)
    return denied(
      action,
      options,
      trouble('APPROVAL_UNAVAILABLE', `${mode} is wanted before it, and nobody can be asked`),
    );
  const { tenant, runId, effectKey, capability, initiator, agentId, objective, args, subjectRef } = action;
  const actionDigest = actionDigestOf(action);
  const answer = await options.approvals.ask({
    tenant,
    runId,
    effectKey,
    capability,
    contractDigest: action.contractDigest?.toString('hex') ?? null,
    subjectRef,
    initiator,
    agentId,
    objective,
    mode,
    actionDigest,
    args,
    rehearsal,
    attempt,
  });
  switch (answer.kind) {
    case 'approved':
      return answer.actionDigest === actionDigest
        ? null
        : denied(action, options, trouble('APPROVAL_DENIED', 'the approval is for another action'));
    case 'pending':
      return objection(options, trouble('APPROVAL_PENDING', 'nobody has decided yet'));
    case 'denied':
      return denied(action, options, trouble('APPROVAL_DENIED', answer.reason));
    case 'unavailable':
      return denied(action, options, trouble('APPROVAL_UNAVAILABLE', textOf(answer.cause)));
  }
}

/** Gives back what is reserved for an effect that does not come; while a person decides it stays, and the same call comes again. */
async function denied(action: Action, options: GuardOptions, found: GuardTrouble): Promise<Stop | null> {
  const stopped = objection(options, found);
  if (stopped !== null) await giveBack(action, options);
  return stopped;
}

/** The one that asks more people. */
function stricterMode(contract: ForwardMode, rung: ForwardMode): ForwardMode {
  return MODES.indexOf(contract) >= MODES.indexOf(rung) ? contract : rung;
}

/** What was reserved before an escalation stays reserved while a person decides: the same call comes again. */
export async function reserve({ action, options }: Situation): Promise<Stop | Earned> {
  const { budget, contract } = options;
  let rungMode: ForwardMode = 'policy';
  if (budget === undefined) return { rungMode };
  for (const request of reservationsOf(action, contract)) {
    const answer = await budget.reserve(request);
    const stopped = reservationStop(answer, options);
    if (stopped !== null) return stopped;
    if (answer.kind === 'reserved') rungMode = stricterMode(rungMode, answer.forwardApproval ?? 'policy');
  }
  return { rungMode };
}

function reservationStop(answer: ReservationAnswer, options: GuardOptions): Stop | null {
  switch (answer.kind) {
    case 'reserved':
      return null;
    case 'escalated':
      return objection(options, trouble('BUDGET_ESCALATED', answer.code));
    case 'refused':
      return objection(options, trouble('BUDGET_REFUSED', answer.code));
    case 'unavailable':
      return objection(options, trouble('BUDGET_UNAVAILABLE', textOf(answer.cause)));
  }
}
