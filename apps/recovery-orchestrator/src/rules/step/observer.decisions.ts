// Another worker's eyes: where one observes for the adapter, nothing counts as undone by the word of the one that acted.
//
// Boundary: pure; who may observe the keyring says, and comes with what is heard.
//
// Invariants
//   O1. A look for an observer is answered by another key than the one that acted.
//   O2. Without an observer for adapter and tenant nothing is asked in addition.
import { plainPayload } from '@recourse/contract';
import { deriveId, leaseIdOf } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import { callsMs, grantLookLease } from '../decision/recovery.decisions.js';
import { ownerOfLeg } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { identityOf } from './step.messages.js';
import type { StepDoc } from './step.messages.js';

/** Whose key signed a report, as far as a decision reads it. */
export type Signed = Pick<Speaker, 'keyId' | 'roles' | 'names' | 'observers'>;

/** Has another worker look at what the one with this key says it undid; null where nothing can be looked at. */
export function observerAsked(
  step: StepDoc,
  actedBy: string,
  now: number,
  policy: RecoveryPolicy,
): RecoveryRecord | null {
  const { call, terms, ref, attempt } = step;
  if (call === null || terms === null) return null;
  const lease = grantLookLease(callsMs(ref, terms), now, policy);
  if (lease.kind !== 'granted') return null;
  const legId = deriveId('observe', step.step_id, String(attempt));
  return record('LookDispatched', {
    ...identityOf(step),
    leg_id: legId,
    purpose: 'observe',
    adapter: call.adapter_id,
    lease_id: leaseIdOf(policy.leaseKey, legId, 1, lease.notAfter),
    not_after: lease.notAfter,
    answer_by: lease.answerBy,
    call,
    terms,
    ref,
    evidence: plainPayload({}),
    by: ownerOfLeg(call.adapter_id),
    reason: 'another worker observes what the one that acted says it undid',
    command_id: legId,
    owner: ownerOfLeg(call.adapter_id),
    deadline_at: lease.answerBy,
    not_by: actedBy,
  });
}
