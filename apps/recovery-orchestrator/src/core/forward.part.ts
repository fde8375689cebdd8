// Forward approvals as a part of the orchestrator's core: commands and timers in, records and rows out.
//
// Boundary: translates between the loop and the forward decider; rows are grouped by run, like everything of this log.
import { accepted, refused } from '@recourse/event-log';
import type { Decision, StateView } from '@recourse/event-log';
import type { Contract } from '@recourse/contract';
import type { DecideForwardApproval, RecordOf, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import {
  decideForward,
  forwardDue,
  forwardIdOf,
  requestForward,
  useForward,
} from '../rules/forward/forward.decider.js';
import type { ForwardContext, ForwardOutcome } from '../rules/forward/forward.decider.js';
import { FORWARD_REFUSALS } from '../rules/forward/forward.messages.js';
import type { ForwardDoc, ForwardRefusalCode } from '../rules/forward/forward.messages.js';
import type { RecoveryRecord } from '../rules/record.messages.js';
import { forwardAfter } from '../rules/forward/forward.transitions.js';
import { readForward } from '../rows/forward.rows.js';
import { roleRefusal } from '../rules/step/approval.decisions.js';

export const FORWARD_COMMANDS = ['RequestForwardApproval', 'DecideForwardApproval', 'UseForwardApproval'] as const;
export type ForwardCommandType = (typeof FORWARD_COMMANDS)[number];

type Command = RecordOf<'recourse.recovery-commands'>;
export type ForwardCommand = Extract<Command, { readonly type: ForwardCommandType }>;

/** Is this command about forward approvals? */
export function isForwardCommand(command: Command): command is ForwardCommand {
  return FORWARD_COMMANDS.some((type) => type === command.type);
}

/** What the part needs of the world. */
export interface ForwardWorld extends ForwardContext {
  readonly state: StateView;
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
}

/** Answers a command that came under a record key. */
export function decideForwardCommand({ type, body }: ForwardCommand, key: string, world: ForwardWorld): Decision {
  if (key !== body.run_id) return refusal('KEY_MISMATCH', 'The record key must be the run the command is about.');
  switch (type) {
    case 'RequestForwardApproval':
      return onRequest(body, world);
    case 'DecideForwardApproval':
      return onVerdict(body, world);
    case 'UseForwardApproval':
      return onUse(body, world);
  }
}

/** What becomes of a question whose time has come. */
export function dueForward(state: StateView, runId: string, id: string, now: number): readonly RecoveryRecord[] {
  const standing = readForward(state, runId, id);
  const over = standing === undefined ? null : forwardDue(standing, now);
  return over === null ? [] : [over];
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

function onRequest(command: RequestForwardApproval, world: ForwardWorld): Decision {
  const {
    envelope: { tenant },
    run_id: runId,
    effect_key: effectKey,
    action_digest,
  } = command;
  const standing = readForward(
    world.state,
    runId,
    forwardIdOf(tenant, runId, effectKey, action_digest.toString('hex')),
  );
  return answered(
    standing,
    requestForward(standing, command, world.contractOf(command.contract_digest), world),
    201,
    world.now,
  );
}

function onVerdict(command: DecideForwardApproval, world: ForwardWorld): Decision {
  const lacking = roleRefusal('DecideForwardApproval', command.envelope);
  if (lacking !== null) return refusal('ROLE_REQUIRED', lacking.message);
  const standing = ownOf(world, command);
  return standing === undefined
    ? unknown()
    : answered(standing, decideForward(standing, command, world), 200, world.now);
}

function onUse(command: UseForwardApproval, world: ForwardWorld): Decision {
  const standing = ownOf(world, command);
  return standing === undefined ? unknown() : answered(standing, useForward(standing, command, world), 200, world.now);
}

/** To a tenant, another's question does not exist. */
function ownOf(
  { state }: ForwardWorld,
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
      return refusal(outcome.refusal.code, outcome.refusal.message);
    case 'unchanged':
      return accepted(200, standing === undefined ? {} : forwardAnswer(standing));
    case 'recorded':
      return accepted(httpStatus, forwardAnswer(forwardAfter(standing, outcome.record, now)), outcome.record);
  }
}

function unknown(): Decision {
  return refusal('APPROVAL_UNKNOWN', 'There is no such question in this run of this tenant.');
}

function refusal(code: ForwardRefusalCode, message: string): Decision {
  return refused(FORWARD_REFUSALS[code], code, message);
}
