// Decides about forward approvals: asked for, decided, used, run out. Pure.
//
// Invariants
//   F1. An approval covers one action digest, which is computed anew from what the approver is shown (P4).
//   F2. Nobody approves their own action: neither its agent, nor who it acts for, nor its owner, nor who asked (P5).
//   F3. The contract says how many people are asked; a caller may only ask for more.
//   F4. An approval is used once, by one attempt, before it runs out.
import { forwardDigest, readPayload } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { deriveId, isAmong } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { DecideForwardApproval, Payload, RequestForwardApproval, UseForwardApproval } from '@recourse/messages';
import { OWNER_OF_APPROVALS } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { editorRefusal, saidBy, selfRefusal } from '../step/approval.decisions.js';
import type { Refusal, RefusalCode } from '../refusal.messages.js';
import type { ForwardDoc, ForwardRecord } from './forward.messages.js';
import { record } from '../record.messages.js';

/** A word of a newer producer is no verdict. */
const VERDICTS: readonly string[] = ['approve', 'deny'];

/** What a decision needs beside the row and the command. */
export interface ForwardContext {
  readonly now: number;
  readonly policy: RecoveryPolicy;
  /** Who wrote or confirmed the contract with a digest, and its newest version. */
  readonly editorsOf: (tenant: string, digest: Buffer) => readonly string[];
}

export type ForwardOutcome =
  | { readonly kind: 'recorded'; readonly record: ForwardRecord }
  /** It was said before. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Whoever asks the same again finds the same question: its id follows from what it is about. */
export function forwardIdOf(tenant: string, runId: string, effectKey: string, actionDigest: string): string {
  return deriveId('fwa', tenant, runId, effectKey, actionDigest);
}

/** Asks people; `contract` is the one the digest names, null when there is none. */
export function requestForward(
  standing: ForwardDoc | undefined,
  command: RequestForwardApproval,
  contract: Contract | null,
  context: ForwardContext,
): ForwardOutcome {
  const refusal = requestRefusal(command, contract);
  if (refusal !== null) return { kind: 'refused', refusal };
  const isOver = standing === undefined || standing.phase === 'used' || standing.phase === 'expired';
  if (!isOver) return { kind: 'unchanged' };
  const { envelope, ...asked } = command;
  const { now, policy } = context;
  const answerableTo = asked.initiator ?? policy.ownerOf(envelope.tenant, asked.agent_id);
  const isForTwo =
    asked.mode === 'dual_control' || contract?.forward_approval === 'dual_control' || answerableTo === null;
  return {
    kind: 'recorded',
    record: record('ForwardApprovalRequested', {
      ...asked,
      tenant: envelope.tenant,
      approval_id: forwardIdOf(envelope.tenant, asked.run_id, asked.effect_key, asked.action_digest.toString('hex')),
      round: (standing?.round ?? 0) + 1,
      mode: isForTwo ? 'dual_control' : 'human',
      answerable_to: policy.ownerOf(envelope.tenant, asked.agent_id),
      required_approvals: isForTwo ? 2 : 1,
      requested_by: envelope.principal,
      owner: OWNER_OF_APPROVALS,
      deadline_at: now + policy.reviewDeadlineMs,
      command_id: envelope.command_id,
    }),
  };
}

/** Takes a verdict of a person. */
export function decideForward(
  standing: ForwardDoc,
  command: DecideForwardApproval,
  { now, policy, editorsOf }: ForwardContext,
): ForwardOutcome {
  const refusal =
    (command.verdict === 'approve' ? approverRefusal(standing, command.envelope, editorsOf) : null) ??
    verdictRefusal(standing, command, now);
  if (refusal !== null) return { kind: 'refused', refusal };
  const { approval_id, tenant, run_id, round, action_digest, required_approvals, approvals, deadline_at } = standing;
  const {
    envelope: { principal, command_id },
    verdict,
    reason,
  } = command;
  const isLast = verdict === 'approve' && approvals.length + 1 >= required_approvals;
  const expires = isLast ? now + policy.forwardValidMs : (deadline_at ?? now);
  return {
    kind: 'recorded',
    record: record('ForwardApprovalDecided', {
      approval_id,
      tenant,
      run_id,
      round,
      action_digest,
      verdict,
      by: principal,
      reason,
      command_id,
      expires_at: expires,
    }),
  };
}

/** Uses an approval up for one attempt; the same attempt may say so again. */
export function useForward(standing: ForwardDoc, command: UseForwardApproval, { now }: ForwardContext): ForwardOutcome {
  const { approval_id, tenant, run_id, round, phase, effect_key, expires_at, requested_by } = standing;
  if (!isAmong([requested_by], command.envelope))
    return refused('APPROVAL_OF_ANOTHER', 'An approval is used by whoever asked for it.');
  if (!standing.action_digest.equals(command.action_digest))
    return refused('DIGEST_MISMATCH', 'The approval is for another action.');
  if (phase === 'used')
    return standing.attempt === command.attempt
      ? { kind: 'unchanged' }
      : refused('APPROVAL_USED', 'The approval was used by another attempt; ask again.');
  if (phase === 'expired' || (expires_at !== null && now >= expires_at))
    return refused('APPROVAL_EXPIRED', 'The approval ran out before it was used; ask again.');
  if (phase !== 'approved') return refused('APPROVAL_WRONG_PHASE', `The question is ${phase}.`);
  const { principal, command_id } = command.envelope;
  return {
    kind: 'recorded',
    record: record('ForwardApprovalUsed', {
      approval_id,
      tenant,
      run_id,
      round,
      mutation_id: deriveId('mut', tenant, run_id, effect_key),
      attempt: command.attempt,
      used_by: principal,
      command_id,
    }),
  };
}

/** What time ends: a question nobody decided, an approval nobody used. */
export function forwardDue(
  { approval_id, tenant, run_id, round, phase, deadline_at, expires_at }: ForwardDoc,
  now: number,
): ForwardRecord | null {
  if (phase === 'awaiting' && deadline_at !== null && now >= deadline_at)
    return record('ForwardApprovalExpired', { approval_id, tenant, run_id, round, reason: 'NOBODY_DECIDED' });
  if (phase === 'approved' && expires_at !== null && now >= expires_at)
    return record('ForwardApprovalExpired', { approval_id, tenant, run_id, round, reason: 'NOT_USED' });
  return null;
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
  const isUsable =
    contract !== null && (contract.tenant === undefined || contract.tenant === '*' || contract.tenant === tenant);
  if (!isUsable)
    return { code: 'CONTRACT_UNKNOWN', message: 'No contract with this digest is registered for this tenant.' };
  if (contract.name !== capability)
    return { code: 'CONTRACT_MISMATCH', message: 'The contract is for another capability.' };
  const args = jsonOf(command.args);
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

function verdictRefusal(standing: ForwardDoc, command: DecideForwardApproval, now: number): Refusal | null {
  if (!VERDICTS.includes(command.verdict)) return { code: 'VERDICT_UNKNOWN', message: 'A verdict is approve or deny.' };
  if (!standing.action_digest.equals(command.action_digest))
    return { code: 'DIGEST_MISMATCH', message: 'The action has another digest than the one named: read it again.' };
  if (
    standing.phase === 'expired' ||
    (standing.phase === 'awaiting' && standing.deadline_at !== null && now >= standing.deadline_at)
  )
    return { code: 'APPROVAL_EXPIRED', message: 'The question is over; the agent may ask again.' };
  if (standing.phase !== 'awaiting')
    return { code: 'APPROVAL_WRONG_PHASE', message: `The question is ${standing.phase}.` };
  if (command.verdict === 'approve' && saidBy(standing.approvals, command.envelope))
    return { code: 'SAME_APPROVER', message: 'This person has approved already; another one is needed.' };
  return null;
}

function approverRefusal(
  { tenant, agent_id, initiator, answerable_to, requested_by, contract_digest }: ForwardDoc,
  asking: Asking,
  editorsOf: ForwardContext['editorsOf'],
): Refusal | null {
  return (
    selfRefusal([agent_id, initiator, answerable_to, requested_by], asking) ??
    editorRefusal(editorsOf(tenant, contract_digest), asking)
  );
}

function refused(code: RefusalCode, message: string): ForwardOutcome {
  return { kind: 'refused', refusal: { code, message } };
}

function jsonOf(payload: Payload): Json | undefined {
  try {
    return readPayload(payload);
  } catch {
    return undefined;
  }
}
