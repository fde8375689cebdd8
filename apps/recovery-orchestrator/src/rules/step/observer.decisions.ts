// Another worker's eyes: where one observes for the adapter, nothing counts as undone by the word of the one that acted.
//
// Boundary: pure; who may observe the keyring says, and comes with what is heard.
//
// Invariants
//   O1. A look for an observer is answered by another key than the one that acted, or that said it saw.
//   O2. Without an observer for adapter and tenant nothing is asked in addition.
//   O3. What the worker that acted saw is kept with the look: its call was made, whether anybody confirms it or not (P8).
import { plainPayload } from '@recourse/contract';
import { deriveId, isObserved, leaseIdOf } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import { callsMs, grantLookLease } from '../decision/recovery.decisions.js';
import { ownerOfLeg } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { FACT_ROUNDS_MAX } from './facts.decisions.js';
import { identityOf } from './step.messages.js';
import type { ActedLeg } from './leg.messages.js';
import type { LookDoc, StepDoc } from './step.messages.js';

/** Whose key signed a report, as far as a decision reads it. */
export type Signed = Pick<Speaker, 'keyId' | 'roles' | 'names' | 'observers'>;

/** What a look is asked for, and by whom. */
type Wanted = Pick<LookDoc, 'purpose' | 'evidence' | 'by' | 'reason' | 'command_id' | 'acted'> & {
  readonly legId: string;
};

/** When and by which bounds it is asked. */
interface Asking {
  readonly now: number;
  readonly policy: RecoveryPolicy;
}

/** Has another worker look at what the one with this key says it undid, and keeps what that one saw; null where nothing can be looked at. */
export function observerAsked(step: StepDoc, actedBy: string, acted: ActedLeg, asking: Asking): RecoveryRecord | null {
  const legId = deriveId('observe', step.step_id, String(step.attempt));
  const reason = 'another worker observes what the one that acted says it undid';
  const by = step.call === null ? '' : ownerOfLeg(step.call.adapter_id);
  const wanted = { purpose: 'observe', evidence: plainPayload({}), by, reason, command_id: legId } as const;
  return lookFor(step, { ...wanted, legId, acted }, actedBy, asking);
}

/** Has another worker see what the one that a person had look says it saw; null where none observes, or it is the other (O1). */
export function seenByAnother(
  step: StepDoc,
  look: LookDoc,
  speaker: Signed | undefined,
  asking: Asking,
): RecoveryRecord | null {
  if (speaker === undefined || look.not_by !== null || !isObserved(speaker, look.adapter, step.tenant)) return null;
  const legId = deriveId('observe', step.step_id, look.leg_id);
  return lookFor(step, { ...look, legId }, speaker.keyId, asking);
}

/** Is an observer asked anew that does not say what it sees? It answers for all of a leg one after the other, and its tools may be down. */
export function isAskedAgain({ not_by, round = 1 }: LookDoc): boolean {
  return not_by !== null && round < FACT_ROUNDS_MAX;
}

/** Asks an observer anew; null where it was asked often enough. */
export function observerAskedAgain(step: StepDoc, look: LookDoc, asking: Asking): RecoveryRecord | null {
  const { not_by } = look;
  if (not_by === null || !isAskedAgain(look)) return null;
  return lookFor(step, { ...look, legId: deriveId('observe', step.step_id, look.leg_id) }, not_by, asking);
}

function lookFor(
  step: StepDoc,
  { legId, purpose, evidence, by, reason, command_id, acted }: Wanted,
  notBy: string,
  { now, policy }: Asking,
): RecoveryRecord | null {
  const { call, terms, ref } = step;
  if (call === null || terms === null) return null;
  const lease = grantLookLease(callsMs(ref, terms), now, policy);
  if (lease.kind !== 'granted') return null;
  return record('LookDispatched', {
    ...identityOf(step),
    leg_id: legId,
    purpose,
    adapter: call.adapter_id,
    lease_id: leaseIdOf(policy.leaseKey, legId, 1, lease.notAfter),
    not_after: lease.notAfter,
    answer_by: lease.answerBy,
    call,
    terms,
    ref,
    evidence,
    by,
    reason,
    command_id,
    owner: ownerOfLeg(call.adapter_id),
    deadline_at: lease.answerBy,
    not_by: notBy,
    acted_leg_id: acted?.leg_id ?? null,
    acted: acted?.observations ?? [],
  });
}
