// Decides about a question before an effect: asked of people, or decided by a routine rule in the same turn. Pure.
//
// Invariants: F1, F3, F5 and F6 of forward.decider.ts.
import {
  briefOf,
  forwardApprovalId,
  forwardDigest,
  isUnsaid,
  jsonOfPayload,
  readPayload,
  termsOf,
} from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { isAmong, personBehind, policyDecider } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { RequestForwardApproval } from '@recourse/messages';
import { OWNER_OF_APPROVALS } from '../policy.messages.js';
import { record } from '../record.messages.js';
import type { Body } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import { barredFrom, recorded } from './forward.decider.js';
import type { ForwardContext, ForwardOutcome } from './forward.decider.js';
import type { ForwardDoc } from './forward.messages.js';
import { routineVerdict } from './routine.decisions.js';
import type { RoutineContext, RoutineVerdict } from './routine.decisions.js';

/** What a request needs beside. */
export interface AskContext extends ForwardContext {
  /** What routine rules are judged with, about the contract that is named. */
  readonly routine: (contract: Contract) => RoutineContext;
}

/** Asks people, or lets a routine rule decide; `contract` is the one the digest names, null when there is none. */
export function requestForward(
  standing: ForwardDoc | undefined,
  command: RequestForwardApproval,
  contract: Contract | null,
  context: AskContext,
): ForwardOutcome {
  const refusal = requestRefusal(command, contract);
  if (refusal !== null) return { kind: 'refused', refusal };
  const question = questionOf(standing, command, contract, context);
  if (standing !== undefined && !isOpenedBy(standing, question)) return { kind: 'unchanged' };
  const verdict: RoutineVerdict =
    contract === null ? { grant: null, refusals: [] } : routineOf(question, command.envelope, contract, context);
  if (verdict.grant === null)
    return recorded(record('ForwardApprovalRequested', { ...question, not_routine: verdict.refusals }));
  const by = policyDecider(verdict.grant.bundle, verdict.grant.version);
  const { approval_id, tenant, run_id, round, action_digest, command_id } = question;
  return recorded(
    record('ForwardApprovalRequested', { ...question, decided_by: by }),
    record('ForwardApprovalDecided', {
      approval_id,
      tenant,
      run_id,
      round,
      action_digest,
      verdict: 'approve',
      by,
      reason: verdict.reason,
      command_id,
      expires_at: context.now + context.policy.forwardValidMs,
      routine: verdict.grant,
    }),
  );
}

type Question = Body<'ForwardApprovalRequested'>;

/** What was used or ran out is opened anew, and so is what fewer people were asked about: their approvals are void. A denial stays. */
function isOpenedBy({ phase, required_approvals }: ForwardDoc, { required_approvals: asked }: Question): boolean {
  if (phase === 'awaiting' || phase === 'approved') return asked > required_approvals;
  return phase !== 'denied';
}

function questionOf(
  standing: ForwardDoc | undefined,
  { envelope, objective, ...asked }: RequestForwardApproval,
  contract: Contract | null,
  { now, policy }: ForwardContext,
): Question {
  const { tenant, principal, accounts } = envelope;
  const { agent_id, initiator } = asked;
  const owner = policy.ownerOf(tenant, agent_id);
  const isForTwo =
    asked.mode === 'dual_control' ||
    // Who names an older version asks nobody less (F3).
    [contract, policy.standing(tenant, asked.capability)].some((each) => each?.forward_approval === 'dual_control') ||
    (personBehind({ initiator, acting: [agent_id, principal, ...accounts] }) === null &&
      !isAnswered(asked, envelope, policy));
  const named = { tenant, agent_id, initiator, answerable_to: owner, requested_by: principal };
  const known = [agent_id, initiator, owner, principal];
  const barred = barredFrom({ ...named, barred: accounts }, policy).filter((name) => !known.includes(name));
  return {
    ...asked,
    ...named,
    barred,
    approval_id: forwardApprovalId(tenant, asked.run_id, asked.effect_key, asked.action_digest.toString('hex')),
    brief: briefOf(objective, contract === null ? null : termsOf(contract, asked.contract_digest)),
    round: (standing?.round ?? 0) + 1,
    mode: isForTwo ? 'dual_control' : 'human',
    required_approvals: isForTwo ? 2 : 1,
    owner: OWNER_OF_APPROVALS,
    deadline_at: now + policy.reviewDeadlineMs,
    decided_by: null,
    not_routine: [],
    command_id: envelope.command_id,
  };
}

/** Does somebody answer for the agent that is named, and for who names it? Which agent acts the asker says, so neither is enough. */
function isAnswered(
  { agent_id }: Pick<RequestForwardApproval, 'agent_id'>,
  { tenant, principal, accounts }: Asking & { readonly tenant: string },
  { ownerOf }: ForwardContext['policy'],
): boolean {
  const hasOwner = (...names: readonly string[]): boolean => names.some((name) => ownerOf(tenant, name) !== null);
  const asker = [principal, ...accounts];
  return isAmong([agent_id], { principal, accounts })
    ? hasOwner(agent_id, ...asker)
    : hasOwner(agent_id) && hasOwner(...asker);
}

/** A request that was not refused has arguments that can be read. */
function routineOf(question: Question, asker: Asking, contract: Contract, context: AskContext): RoutineVerdict {
  const { tenant, run_id, agent_id, initiator, contract_digest, args } = question;
  return routineVerdict(
    {
      tenant,
      runId: run_id,
      agentId: agent_id,
      asker,
      initiator,
      capability: question.capability,
      subjectRef: question.subject_ref,
      args: readPayload(args),
      content_type: args.content_type,
      people: question.required_approvals,
      barred: [...barredFrom(question, context.policy), ...context.editorsOf(tenant, contract_digest)],
    },
    context.routine(contract),
  );
}

function requestRefusal(command: RequestForwardApproval, contract: Contract | null): Refusal | null {
  const {
    envelope: { tenant },
    run_id: runId,
    effect_key: effectKey,
    capability,
    contract_digest,
    subject_ref: subjectRef,
    action_digest,
  } = command;
  if (command.mode !== 'human' && command.mode !== 'dual_control')
    return { code: 'MODE_UNKNOWN', message: 'People are asked as human or as dual_control.' };
  if (isUnsaid(command.objective))
    return {
      code: 'OBJECTIVE_MISSING',
      message: 'Nobody can judge an action without knowing what it is for: say the objective of the run.',
    };
  const isUsable =
    contract !== null && (contract.tenant === undefined || contract.tenant === '*' || contract.tenant === tenant);
  if (!isUsable)
    return { code: 'CONTRACT_UNKNOWN', message: 'No contract with this digest is registered for this tenant.' };
  if (contract.name !== capability)
    return { code: 'CONTRACT_MISMATCH', message: 'The contract is for another capability.' };
  const args = jsonOfPayload(command.args);
  if (args === undefined)
    return { code: 'ARGS_UNREADABLE', message: 'The arguments cannot be read, so nobody could say what they approve.' };
  const digest = forwardDigest({
    tenant,
    runId,
    effectKey,
    capability,
    contractDigest: contract_digest.toString('hex'),
    subjectRef,
    args,
  });
  return digest === action_digest.toString('hex')
    ? null
    : { code: 'DIGEST_MISMATCH', message: 'The digest is not that of the action that would be shown.' };
}
