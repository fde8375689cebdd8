// Decides about forward approvals: decided, used, run out; how they are asked for stands in request.decider.ts. Pure.
//
// Invariants
//   F1. An approval covers one action digest, which is computed anew from what the approver is shown (P4).
//   F2. Nobody approves their own action: neither its agent, nor who it acts for, nor who asked, nor who owns any of them (P5). Which agent it is
//       the asker says, so who the token names counts beside it.
//   F3. The contract says how many people are asked, the one that is named and the one that stands; a caller may only ask for more, and
//       what fewer agreed to is void then.
//   F4. An approval is used once, by one attempt, before it runs out, and unless somebody denies the action before that.
//   F5. A routine rule decides in the turn in which it is asked, under the name of its policy, which no person or program can carry.
//       What people have denied, or are deciding, it does not decide.
//   F6. Nobody is asked about an action of which its agent does not say what it is for (C55).
import { deriveId, isAmong, policyDecider } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { DecideForwardApproval, UseForwardApproval } from '@recourse/messages';
import type { RecoveryPolicy } from '../policy.messages.js';
import { editorRefusal, saidBy, selfRefusal } from '../step/approval.decisions.js';
import type { Refusal, RefusalCode } from '../refusal.messages.js';
import type { ForwardDoc, ForwardRecord } from './forward.messages.js';
import { forwardDueAt } from './forward.transitions.js';
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
  | { readonly kind: 'recorded'; readonly records: readonly ForwardRecord[] }
  /** It was said before. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Records that follow. */
export function recorded(...records: readonly ForwardRecord[]): ForwardOutcome {
  return { kind: 'recorded', records };
}

/** Who says what about which action. */
export interface ForwardWord {
  readonly envelope: Asking;
  readonly verdict: DecideForwardApproval['verdict'];
  readonly action_digest: Buffer;
}

/** What a word is judged by beside the question. */
export interface WordContext extends Pick<ForwardContext, 'now' | 'editorsOf'> {
  readonly policy: Pick<RecoveryPolicy, 'ownersOf'>;
}

/** Says why a verdict does not count; null when it does. Anybody with the role may stop an action, its initiator too. */
export function forwardRefusal(standing: ForwardDoc, word: ForwardWord, context: WordContext): Refusal | null {
  return (
    (word.verdict === 'approve' ? approverRefusal(standing, word.envelope, context) : null) ??
    verdictRefusal(standing, word, context.now)
  );
}

/** Takes a verdict of a person. */
export function decideForward(
  standing: ForwardDoc,
  command: DecideForwardApproval,
  context: ForwardContext,
): ForwardOutcome {
  const { now, policy } = context;
  const refusal = forwardRefusal(standing, command, context);
  if (refusal !== null) return { kind: 'refused', refusal };
  const { approval_id, tenant, run_id, round, action_digest, required_approvals, approvals, deadline_at } = standing;
  const {
    envelope: { principal, command_id },
    verdict,
    reason,
  } = command;
  const isLast = verdict === 'approve' && approvals.length + 1 >= required_approvals;
  const expires = isLast ? now + policy.forwardValidMs : (deadline_at ?? now);
  return recorded(
    record('ForwardApprovalDecided', {
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
      routine: null,
    }),
  );
}

/** Uses an approval up for one attempt; the same attempt may say so again until it runs out. `stopped`: what stops an action that a rule let go. */
export function useForward(
  standing: ForwardDoc,
  command: UseForwardApproval,
  { now, stopped }: Pick<ForwardContext, 'now'> & { readonly stopped: string | null },
): ForwardOutcome {
  const { approval_id, tenant, run_id, round, phase, effect_key, expires_at, requested_by } = standing;
  if (!isAmong([requested_by], command.envelope))
    return refused('APPROVAL_OF_ANOTHER', 'An approval is used by whoever asked for it.');
  if (!standing.action_digest.equals(command.action_digest))
    return refused('DIGEST_MISMATCH', 'The approval is for another action.');
  const isUsed = phase === 'used';
  if (isUsed && standing.attempt !== command.attempt)
    return refused('APPROVAL_USED', 'The approval was used by another attempt; ask again.');
  if (phase === 'expired' || (expires_at !== null && now >= expires_at))
    return refused('APPROVAL_EXPIRED', `The approval ran out ${isUsed ? 'since' : 'before'} it was used; ask again.`);
  if (isUsed) return { kind: 'unchanged' };
  if (phase !== 'approved') return refused('APPROVAL_WRONG_PHASE', `The question is ${phase}.`);
  if (stopped !== null) return refused('ROUTINE_STOPPED', `A routine rule let it go before this: ${stopped}.`);
  const { principal, command_id } = command.envelope;
  return recorded(
    record('ForwardApprovalUsed', {
      approval_id,
      tenant,
      run_id,
      round,
      mutation_id: deriveId('mut', tenant, run_id, effect_key),
      attempt: command.attempt,
      used_by: principal,
      command_id,
      agreed_by: agreedBy(standing),
    }),
  );
}

/** Who agreed to an action: people, or a policy with its rule. */
export function agreedBy({ approvals, routine }: ForwardDoc): readonly string[] {
  return routine === null
    ? approvals.map(({ by }) => by)
    : [`${policyDecider(routine.bundle, routine.version)}/${routine.rule}`];
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

function verdictRefusal(standing: ForwardDoc, command: ForwardWord, now: number): Refusal | null {
  if (!VERDICTS.includes(command.verdict)) return { code: 'VERDICT_UNKNOWN', message: 'A verdict is approve or deny.' };
  if (!standing.action_digest.equals(command.action_digest))
    return { code: 'DIGEST_MISMATCH', message: 'The action has another digest than the one named: read it again.' };
  const endsAt = forwardDueAt(standing);
  if (standing.phase === 'expired' || (endsAt !== null && now >= endsAt))
    return { code: 'APPROVAL_EXPIRED', message: 'The question is over; the agent may ask again.' };
  // What nobody has used yet can still be stopped.
  const isTakenBack = standing.phase === 'approved' && command.verdict === 'deny';
  if (standing.phase !== 'awaiting' && !isTakenBack)
    return { code: 'APPROVAL_WRONG_PHASE', message: `The question is ${standing.phase}.` };
  if (command.verdict === 'approve' && saidBy(standing.approvals, command.envelope))
    return { code: 'SAME_APPROVER', message: 'This person has approved already; another one is needed.' };
  return null;
}

function approverRefusal(question: ForwardDoc, asking: Asking, { policy, editorsOf }: WordContext): Refusal | null {
  const { tenant, contract_digest } = question;
  return selfRefusal(barredFrom(question, policy), asking) ?? editorRefusal(editorsOf(tenant, contract_digest), asking);
}

/** Who does not approve a question: whom it names, as it was asked, and who answers for any of them by now (P5). */
export function barredFrom(
  {
    tenant,
    agent_id,
    initiator,
    answerable_to,
    requested_by,
    barred = [],
  }: Pick<ForwardDoc, 'tenant' | 'agent_id' | 'initiator' | 'answerable_to' | 'requested_by' | 'barred'>,
  { ownersOf }: Pick<RecoveryPolicy, 'ownersOf'>,
): readonly string[] {
  const named = [agent_id, initiator, answerable_to, requested_by, ...barred].filter((name) => name !== null);
  return [...new Set([...named, ...named.flatMap((name) => ownersOf(tenant, name))])];
}

function refused(code: RefusalCode, message: string): ForwardOutcome {
  return { kind: 'refused', refusal: { code, message } };
}
