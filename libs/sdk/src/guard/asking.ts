// Whom a guard asks before an effect: the budget, and people where the contract or the rung of the agent wants them.
//
// Boundary: asks the ports; what is reserved for an effect that does not come is given back.
import { forwardApprovalId } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { actionDigestOf, reservationOf } from './action.js';
import type { ApprovalAnswer } from './approval.port.js';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';
import { exceededText } from './exceeded.js';
import type { GuardOptions, GuardTrouble } from './guard.messages.js';
import { calledOff, giveBack, objection, textOf, trouble } from './objections.js';
import type { Numbered, Stop } from './objections.js';

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
}

/** Asks people where the contract wants them, or the rung of the agent. A recovery was approved as one, before it came here. */
export async function approve(situation: Numbered, { rungMode, rehearsal }: Question): Promise<Stop | null> {
  const { call, action, options, attempt } = situation;
  const mode = stricterMode(options.contract.forward_approval ?? 'policy', rungMode);
  if (mode === 'policy' || call.recovery !== undefined) return null;
  if (options.approvals === undefined)
    return denied(situation, trouble('APPROVAL_UNAVAILABLE', `${mode} is wanted before it, and nobody can be asked`));
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
  return answered(answer, actionDigest, situation);
}

/** What an answer of people means to the call. */
function answered(
  answer: ApprovalAnswer,
  actionDigest: string,
  situation: Numbered,
): Promise<Stop | null> | Stop | null {
  const { call, action, options } = situation;
  switch (answer.kind) {
    case 'approved':
      return answer.actionDigest === actionDigest
        ? null
        : denied(situation, trouble('APPROVAL_DENIED', 'the approval is for another action'));
    case 'pending':
      // Whoever called it off does not come again: `agreed` gives back what is reserved.
      if (calledOff(call) !== null) return null;
      return objection(
        options,
        trouble(
          'APPROVAL_PENDING',
          `nobody has decided ${forwardApprovalId(action.tenant, action.runId, action.effectKey, actionDigest)} yet`,
        ),
      );
    case 'denied':
      return denied(situation, trouble('APPROVAL_DENIED', answer.reason));
    case 'unavailable':
      return denied(situation, trouble('APPROVAL_UNAVAILABLE', textOf(answer.cause)));
  }
}

/** Gives back what is reserved for an effect that does not come; while a person decides it stays, and the same call comes again. */
async function denied(situation: Numbered, found: GuardTrouble): Promise<Stop | null> {
  const stopped = objection(situation.options, found);
  if (stopped !== null) await giveBack(situation);
  return stopped;
}

/** The one that asks more people. */
function stricterMode(contract: ForwardMode, rung: ForwardMode): ForwardMode {
  return MODES.indexOf(contract) >= MODES.indexOf(rung) ? contract : rung;
}

/** All units in one round trip and one decision. What nobody can read is not reserved as if it were nothing. */
export async function reserve(situation: Numbered): Promise<Stop | Earned> {
  const { call, action, options, attempt } = situation;
  const { budget, contract } = options;
  const reserving = budget === undefined ? NOTHING : reservationOf(action, contract, call.reach ?? null);
  if (budget === undefined || reserving.kind === 'nothing') return UNASKED;
  if (reserving.kind === 'unread') {
    const why = `nothing says how much ${reserving.units.join(' and ')} the call moves`;
    return objection(options, trouble('CONSEQUENCE_UNREADABLE', why)) ?? UNASKED;
  }
  const answer = await reserved({ ...reserving.request, attempt }, budget, options, call.signal);
  const stopped = reservationStop(answer, options);
  if (stopped !== null) {
    const off = calledOff(call);
    // What nobody answered may be reserved, and what a person was asked is nobody's question any more.
    if (off !== null && answer.kind !== 'refused') await giveBack(situation);
    return off ?? stopped;
  }
  return answer.kind === 'reserved' ? { rungMode: answer.forwardApproval ?? 'policy' } : UNASKED;
}

const NOTHING = { kind: 'nothing' } as const;
const UNASKED: Earned = { rungMode: 'policy' };

/** Asks, and asks again while a person decides, as long as the caller has patience; who observes holds no call for an answer. */
async function reserved(
  request: ReservationRequest,
  budget: Budget,
  { clock, mode, budgetPatience }: GuardOptions,
  signal: AbortSignal | undefined,
): Promise<ReservationAnswer> {
  const { waitMs = 0, everyMs = ASK_AGAIN_MS } = budgetPatience ?? {};
  const until = clock.monotonic() + (mode === 'enforce' ? waitMs : 0);
  let answer = await budget.reserve(request);
  const isWanted = (): boolean => signal?.aborted !== true;
  while (answer.kind === 'escalated' && clock.monotonic() + everyMs <= until && isWanted()) {
    await clock.sleep(everyMs, signal);
    if (!isWanted()) break;
    answer = await budget.reserve(request);
  }
  return answer;
}

/** A person takes longer than this, and an answer is not kept waiting for more. */
const ASK_AGAIN_MS = 1_000;

function reservationStop(answer: ReservationAnswer, options: GuardOptions): Stop | null {
  switch (answer.kind) {
    case 'reserved':
      return null;
    case 'escalated':
      return objection(options, trouble('BUDGET_ESCALATED', `${answer.code}: ${escalatedText(answer)}`));
    case 'refused':
      return objection(
        options,
        trouble('BUDGET_REFUSED', answer.message === undefined ? answer.code : `${answer.code}: ${answer.message}`),
      );
    case 'unavailable':
      return objection(options, trouble('BUDGET_UNAVAILABLE', textOf(answer.cause)));
  }
}

function escalatedText({
  escalationId: id,
  exceeded,
}: Extract<ReservationAnswer, { readonly kind: 'escalated' }>): string {
  const where = id === undefined ? 'recourse budgets escalations' : `recourse budgets show ${id}`;
  const bounds = exceededText(exceeded);
  return `it would go over a ceiling${bounds === null ? '' : ` (${bounds})`}, and a person decides (\`${where}\`); make the same call again once they have, or set budgetPatience`;
}
