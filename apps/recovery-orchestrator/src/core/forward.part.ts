// Forward approvals as a part of the orchestrator's core: commands and timers in, records and rows out.
//
// Boundary: translates between the loop and the forward decider; rows are grouped by run, like everything of this log.
import { accepted, NOTHING } from '@recourse/event-log';
import type { Asked, DecideContext, Decision, TimerInput } from '@recourse/event-log';
import type { DecideForwardApproval, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import {
  decideForward,
  forwardDue,
  forwardIdOf,
  requestForward,
  useForward,
} from '../rules/forward/forward.decider.js';
import type { ForwardOutcome } from '../rules/forward/forward.decider.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { forwardAfter } from '../rules/forward/forward.transitions.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { readForward } from '../rows/forward.rows.js';
import { readEditors, readUpToContract, refuse, stepContext } from './context.js';
import type { CorePolicy } from './context.js';

/** An agent's guard asks: the contract it names may be newer than the view. */
export function onForwardAsked({ body, context }: Asked<RequestForwardApproval>, policy: CorePolicy): Decision {
  readUpToContract(context, body.contract_digest);
  const {
    envelope: { tenant },
    run_id: runId,
    effect_key: effectKey,
    action_digest,
  } = body;
  const world = worldOf(context, runId, policy);
  const id = forwardIdOf(tenant, runId, effectKey, action_digest.toString('hex'));
  const standing = readForward(context.state, runId, id);
  const outcome = requestForward(standing, body, world.contractOf(body.contract_digest), world);
  return answered(standing, outcome, 201, context.now);
}

/** A person decides. Nobody agrees before it is known who edited the contract up to now. */
export function onForwardDecided({ body, context }: Asked<DecideForwardApproval>, policy: CorePolicy): Decision {
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

/** The guard uses what was agreed to. */
export function onForwardUsed({ body, context }: Asked<UseForwardApproval>, policy: CorePolicy): Decision {
  const standing = ownOf(context, body);
  if (standing === undefined) return refuse(UNKNOWN);
  return answered(standing, useForward(standing, body, worldOf(context, body.run_id, policy)), 200, context.now);
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

/** What a caller is told of a question; never its arguments. */
export function forwardAnswer(doc: ForwardDoc): Readonly<Record<string, unknown>> {
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
): Decision {
  switch (outcome.kind) {
    case 'refused':
      return refuse(outcome.refusal);
    case 'unchanged':
      return accepted(200, standing === undefined ? {} : forwardAnswer(standing));
    case 'recorded':
      return accepted(httpStatus, forwardAnswer(forwardAfter(standing, outcome.record, now)), outcome.record);
  }
}

const UNKNOWN: Refusal = {
  code: 'APPROVAL_UNKNOWN',
  message: 'There is no such question in this run of this tenant.',
};
