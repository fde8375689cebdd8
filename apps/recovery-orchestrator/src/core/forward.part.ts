// Forward approvals as a part of the orchestrator's core: commands and timers in, records and rows out.
//
// Boundary: translates between the loop and the forward decider; rows are grouped by run, like everything of this log.
import { charterVerdict, entryView, forwardApprovalId, killVerdict, routinesFor } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { accepted, NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, TimerInput } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { DecideForwardApproval, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import { decideForward, forwardDue, useForward } from '../rules/forward/forward.decider.js';
import type { ForwardOutcome } from '../rules/forward/forward.decider.js';
import { requestForward } from '../rules/forward/request.decider.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { capShare } from '../rules/forward/routine.decisions.js';
import type { RoutineContext } from '../rules/forward/routine.decisions.js';
import { forwardAfter } from '../rules/forward/forward.transitions.js';
import type { RecoveryPolicy } from '../rules/policy.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { isBroken } from '../rows/kinds.js';
import { readForward } from '../rows/forward.rows.js';
import { readLetGo } from '../rows/routine.rows.js';
import { BROKEN, readEditors, readUpToContract, refuse, stepContext } from './context.js';
import type { CorePolicy } from './context.js';

/** An agent's guard asks: the contract it names may be newer than the view. */
export function onForwardAsked(
  { body, context }: Asked<RequestForwardApproval>,
  policy: CorePolicy,
): Decision<ForwardAnswer> {
  readUpToContract(context, body.contract_digest);
  const {
    envelope: { tenant },
    run_id: runId,
    effect_key: effectKey,
    action_digest,
  } = body;
  const world = worldOf(context, runId, policy);
  const id = forwardApprovalId(tenant, runId, effectKey, action_digest.toString('hex'));
  const standing = readForward(context.state, runId, id);
  const outcome = requestForward(standing, body, world.contractOf(body.contract_digest), {
    ...world,
    routine: (contract) => routineContext(context, body, contract, world.policy),
  });
  // A rule, a switch or an edit of a moment ago counts too.
  if (outcome.kind === 'recorded') context.views.readToEnd();
  return answered(standing, outcome, 201, context.now);
}

/** Rules and everything that could stop an action, as they stand; what was let go, as the rows have it. */
function routineContext(
  context: DecideContext,
  { envelope, agent_id, capability }: RequestForwardApproval,
  contract: Contract,
  { standing }: RecoveryPolicy,
): RoutineContext {
  const { now, partition, partitions, state, views } = context;
  const { tenant } = envelope;
  return {
    now,
    contract,
    standing: standing(tenant, capability),
    platform: standing('*', capability),
    rules: routinesFor(views.view(entryView.name), tenant, capability),
    stopped: stoppedBy(context, { tenant, agent_id, capability }, envelope),
    letGoAt: (cap) => readLetGo(state, tenant, cap),
    shareOf: (cap) => capShare(cap, partition, partitions),
  };
}

/** What stops an action before its effect: a kill switch, a breaker, the charter of its agent, or of who asks as it; null where nothing does. */
function stoppedBy(
  { state, views }: DecideContext,
  { tenant, agent_id: agent, capability }: Pick<ForwardDoc, 'tenant' | 'agent_id' | 'capability'>,
  asker: Asking,
): string | null {
  const entries = views.view(entryView.name);
  const names = [agent, asker.principal, ...asker.accounts];
  const verdicts = [
    killVerdict(entries, { tenant, agent, capability, asker }),
    ...(isBroken(state, tenant, capability) ? [BROKEN] : []),
    ...names.map((name) => charterVerdict(entries, tenant, name, capability)),
  ];
  return verdicts.flatMap((verdict) => (verdict.admitted ? [] : [verdict.reason]))[0] ?? null;
}

/** A person decides. Nobody agrees before it is known who edited the contract up to now. */
export function onForwardDecided(
  { body, context }: Asked<DecideForwardApproval>,
  policy: CorePolicy,
): Decision<ForwardAnswer> {
  const standing = ownOf(context, body);
  if (standing === undefined) return refuse(UNKNOWN);
  const decision = answered(
    standing,
    decideForward(standing, body, worldOf(context, body.run_id, policy)),
    200,
    context.now,
  );
  if (body.verdict === 'approve' && decision.records.length > 0) readEditors(context);
  return decision;
}

/** The guard uses what was agreed to; what a rule agreed to only while nothing stops it. */
export function onForwardUsed(
  { body, context }: Asked<UseForwardApproval>,
  policy: CorePolicy,
): Decision<ForwardAnswer> {
  const standing = ownOf(context, body);
  if (standing === undefined) return refuse(UNKNOWN);
  const stopped = standing.routine === null ? null : stoppedBy(context, standing, body.envelope);
  const outcome = useForward(standing, body, { ...worldOf(context, body.run_id, policy), stopped });
  if (standing.routine !== null && outcome.kind === 'recorded') context.views.readToEnd();
  return answered(standing, outcome, 200, context.now);
}

function worldOf(context: DecideContext, runId: string, policy: CorePolicy) {
  const { now, policy: within, contractOf, editorsOf } = stepContext(context, runId, policy, []);
  return { now, policy: within, contractOf, editorsOf };
}

/** What becomes of a question whose time has come. */
export function onForwardDue({ state, now }: DecideContext, { address: { group, key } }: TimerInput): Decision {
  const standing = readForward(state, group, key);
  const over = standing === undefined ? null : forwardDue(standing, now);
  return over === null ? NOTHING : { records: [over] };
}

/** A question that waits is pending to its caller. */
export type ForwardStatus = Exclude<ForwardDoc['phase'], 'awaiting'> | 'pending';

/** What a caller is told of a question; never its arguments. */
export type ForwardAnswer = Pick<
  ForwardDoc,
  | 'approval_id'
  | 'run_id'
  | 'round'
  | 'reason'
  | 'deadline_at'
  | 'expires_at'
  | 'attempt'
  | 'required_approvals'
  | 'decided_by'
  | 'routine'
  | 'not_routine'
> & { readonly status: ForwardStatus; readonly action_digest: string; readonly approvals: number };

export function forwardAnswer(doc: ForwardDoc): ForwardAnswer {
  const {
    approval_id,
    run_id,
    round,
    phase,
    action_digest,
    reason,
    deadline_at,
    expires_at,
    attempt,
    approvals,
    required_approvals,
    decided_by,
    routine,
    not_routine,
  } = doc;
  return {
    approval_id,
    run_id,
    round,
    status: phase === 'awaiting' ? 'pending' : phase,
    action_digest: action_digest.toString('hex'),
    reason,
    deadline_at,
    expires_at,
    attempt,
    approvals: approvals.length,
    required_approvals,
    decided_by,
    routine,
    not_routine,
  };
}

/** To a tenant, another's question does not exist. */
function ownOf(
  { state }: DecideContext,
  { envelope, run_id, approval_id }: DecideForwardApproval | UseForwardApproval,
): ForwardDoc | undefined {
  const found = readForward(state, run_id, approval_id);
  return found?.tenant === envelope.tenant ? found : undefined;
}

function answered(
  standing: ForwardDoc | undefined,
  outcome: ForwardOutcome,
  httpStatus: number,
  now: number,
): Decision<ForwardAnswer> {
  switch (outcome.kind) {
    case 'refused':
      return refuse(outcome.refusal);
    case 'unchanged':
      return accepted(200, answerOf(standing));
    case 'recorded': {
      const { records } = outcome;
      const after = records.reduce<ForwardDoc | undefined>((doc, told) => forwardAfter(doc, told, now), standing);
      return accepted(httpStatus, answerOf(after), ...records);
    }
  }
}

/** What is accepted stands. */
function answerOf(doc: ForwardDoc | undefined): ForwardAnswer {
  if (doc === undefined) throw new InvariantViolation('forward-unknown', 'no question stands that was accepted');
  return forwardAnswer(doc);
}

const UNKNOWN: Refusal = {
  code: 'APPROVAL_UNKNOWN',
  message: 'There is no such question in this run of this tenant.',
};
