// Who may agree to what (P3, P4, P5): every refusal of an approval or denial, in the order a caller learns of them.
import { isAmong, isPerson } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import { RESOLUTION_VALUES } from '@recourse/messages';
import type { DenyStep, ResolveStep } from '@recourse/messages';
import { refInForce } from '../decision/in-force.decisions.js';
import { windowOf } from '../decision/recovery.decisions.js';
import { factsLacked } from './readiness.decisions.js';
import type { StepDoc, StepPhase } from './step.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import type { Refusal } from '../refusal.messages.js';

/** What a command may be refused with depends on the phase. `null` = open to it. */
const REFUSED_IN = {
  held: 'STEP_WRONG_PHASE',
  awaiting_approval: null,
  approved: 'APPROVAL_USED',
  waiting: 'STEP_WRONG_PHASE',
  halted: 'STEP_WRONG_PHASE',
  observing: 'APPROVAL_USED',
  dispatched: 'APPROVAL_USED',
  uncertain: 'APPROVAL_USED',
  retrying: 'APPROVAL_USED',
  looking: 'STEP_WRONG_PHASE',
  compensated: 'APPROVAL_USED',
  not_needed: 'STEP_WRONG_PHASE',
  manual: 'STEP_WRONG_PHASE',
  denied: 'STEP_WRONG_PHASE',
  resolved: 'STEP_WRONG_PHASE',
} as const satisfies Record<StepPhase, 'STEP_WRONG_PHASE' | 'APPROVAL_USED' | null>;

/** What a later version may say is no resolution to this one. */
const KNOWN_RESOLUTIONS: readonly string[] = RESOLUTION_VALUES;

/** What everybody who ends an item is judged by beside the step. */
export interface EndingContext {
  readonly policy: Pick<RecoveryPolicy, 'ownersOf'>;
  /** Who wrote or confirmed the contract with a digest, and its newest version. */
  readonly editorsOf: (tenant: string, digest: Buffer) => readonly string[];
}

/** Who agrees to which action, or breaks the glass for it. */
export interface Agreement {
  readonly envelope: Asking;
  readonly action_digest: Buffer;
}

/** What an approval is judged by beside the step. */
export interface ApprovalContext extends EndingContext {
  readonly now: number;
  readonly policy: Pick<RecoveryPolicy, 'ownersOf' | 'marginMs' | 'ofOpen'>;
}

/**
 * Says why an approval is refused; null when it counts.
 *
 * Errors: none. The first code that applies, from identity to time.
 * Source: P3, P4, P5, P6; docs/design/edge.md.
 */
export function approvalRefusal(step: StepDoc, command: Agreement, context: ApprovalContext): Refusal | null {
  return glassRefusal(step, command, context) ?? repeatRefusal(step, command.envelope);
}

/** Says why the glass is not broken; null when it is. As for an approval: only the role, and how many there are, differ. */
export function glassRefusal(step: StepDoc, command: Agreement, context: ApprovalContext): Refusal | null {
  const { now, policy } = context;
  return (
    endingRefusal(step, command.envelope, context) ??
    digestRefusal(step, command) ??
    phaseRefusal(step) ??
    readinessRefusal(step) ??
    windowRefusal(step, now, policy)
  );
}

/** Says why a denial is refused; null when it counts. Anybody with the role may stop an action, its initiator too. */
export function denialRefusal(step: StepDoc, command: DenyStep): Refusal | null {
  return digestRefusal(step, command) ?? phaseRefusal(step);
}

/**
 * Says why a person may not close an item by hand; null when they may.
 *
 * Shape:  whoever acted, or on whose behalf it was done, does not accept their own harm; an agent closes nothing.
 * Source: C55 to C62, A47; P5.
 */
export function resolutionRefusal(
  step: StepDoc,
  { envelope, resolution }: Pick<ResolveStep, 'resolution'> & Pick<Agreement, 'envelope'>,
  context: EndingContext,
): Refusal | null {
  const refusal = endingRefusal(step, envelope, context);
  if (refusal !== null) return refusal;
  if (!KNOWN_RESOLUTIONS.includes(resolution))
    return { code: 'COMMAND_INVALID', message: 'An item is repaired, corrected or accepted.' };
  if (step.phase === 'manual' || step.phase === 'denied') return null;
  const message =
    step.phase === 'resolved'
      ? 'Somebody has closed this item already.'
      : `The step is ${step.phase}: only what is a person's is closed by hand.`;
  return { code: 'STEP_WRONG_PHASE', message };
}

/**
 * Says why somebody may not end what waits about a step, by whichever command; null when they may.
 *
 * Shape:  it was theirs, done for them, or done by an agent they own; they are no person; or the contract is of their making.
 * Source: P5.
 */
export function endingRefusal(
  { execution: { agent_id: agentId, initiator }, answerable_to: answerable, terms, tenant }: StepDoc,
  asking: Asking,
  { policy, editorsOf }: EndingContext,
): Refusal | null {
  // An agent may act for another one, which has owners of its own.
  const named = [agentId, initiator, answerable].filter((name) => name !== null);
  const refusal =
    selfRefusal([...named, ...named.flatMap((name) => policy.ownersOf(tenant, name))], asking) ??
    (terms === null ? null : editorRefusal(editorsOf(tenant, terms.contract_digest), asking));
  return refusal === null ? null : { ...refusal };
}

/** Has somebody given one of these already, under whichever account? */
export function saidBy(given: readonly { readonly by: string }[], asking: Asking): boolean {
  return isAmong(
    given.map(({ by }) => by),
    asking,
  );
}

/** Says why somebody may not approve what these answer for; null when they may. An agent is no person, however it spells its name. */
export function selfRefusal(
  concerned: readonly (string | null)[],
  asking: Asking,
): { readonly code: 'SELF_APPROVAL' | 'APPROVER_NOT_A_PERSON'; readonly message: string } | null {
  if (isAmong(concerned, asking))
    return { code: 'SELF_APPROVAL', message: 'Nobody approves their own action nor one done on their behalf.' };
  return isPerson(asking.principal)
    ? null
    : { code: 'APPROVER_NOT_A_PERSON', message: 'Only a person approves: no agent, no service account, no role.' };
}

/**
 * Says why somebody may not approve under a contract of their own making; null when they may.
 *
 * Shape:  editors are those of the version executed under and of the newest one: who can weaken the rule is not who it asks.
 * Source: issue 5, people.
 */
export function editorRefusal(
  editors: readonly string[],
  asking: Asking,
): { readonly code: 'EDITOR_APPROVAL'; readonly message: string } | null {
  if (!isAmong(editors, asking)) return null;
  return {
    code: 'EDITOR_APPROVAL',
    message: 'Nobody approves under a contract they registered or confirmed; ask somebody else.',
  };
}

function digestRefusal(step: StepDoc, command: Pick<Agreement, 'action_digest'>): Refusal | null {
  if (step.action_digest === null)
    return {
      code: 'STEP_WRONG_PHASE',
      message: 'This step proposes no action that could be approved or denied.',
    };
  if (step.action_digest.equals(command.action_digest)) return null;
  return {
    code: 'DIGEST_MISMATCH',
    message: 'The action has another digest than the one named: read the step again.',
  };
}

function phaseRefusal(step: StepDoc): Refusal | null {
  const wasSent = step.legs.length > 0;
  const hasExpired = step.phase === 'manual' && !wasSent && step.reason === 'REVERSAL_EXPIRED';
  if (hasExpired) return windowClosed();
  const code = step.phase === 'manual' && wasSent ? 'APPROVAL_USED' : REFUSED_IN[step.phase];
  if (code === null) return null;
  const wasAgreedTo = step.approvals.length > 0 || step.glass.length > 0;
  return code === 'APPROVAL_USED' && wasAgreedTo
    ? { code, message: 'The approval of this action was used.' }
    : { code: 'STEP_WRONG_PHASE', message: `The step is ${step.phase}.` };
}

/** Nobody agrees to what nobody can judge; anybody may still deny it (C63). */
function readinessRefusal(step: StepDoc): Refusal | null {
  const lacked = factsLacked(step);
  if (lacked.length === 0) return null;
  return {
    code: 'ITEM_NOT_READY',
    message: `Nobody can judge this yet: ${lacked.join(', ')} missing. Deny it, or have it resolved by hand.`,
    missing: lacked,
  };
}

function windowRefusal(step: StepDoc, now: number, policy: ApprovalContext['policy']): Refusal | null {
  return windowOf(refInForce(step, policy), step.terms, now, policy.marginMs) === 'open' ? null : windowClosed();
}

function windowClosed(): Refusal {
  return {
    code: 'WINDOW_CLOSED',
    message: 'The reversal window has closed; a person must resolve this by hand.',
  };
}

function repeatRefusal({ approvals }: StepDoc, asking: Asking): Refusal | null {
  if (!saidBy(approvals, asking)) return null;
  return {
    code: 'SAME_APPROVER',
    message: 'This person has approved already; another one is needed.',
  };
}
