// What was asked and agreed to before an effect, as the end of its hold asks for it (P4, P5).
//
// Boundary: hears of agreements that were used, and compares them with what is held. How many people suffice is the orchestrator's to say.
import { forwardApprovalId, forwardDigest, jsonOfPayload } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { append } from '@recourse/event-log';
import type { DecideContext, Decision } from '@recourse/event-log';
import type { ForwardApprovalUsed } from '@recourse/messages';
import { agreementIn } from '../rows/agreement.rows.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { record } from '../rules/record.messages.js';

/** Keeps what was agreed to: its effect may be held, and be planned later. */
export function onAgreed({
  mutation_id,
  tenant,
  run_id,
  approval_id,
  agreed_by,
}: Pick<ForwardApprovalUsed, 'mutation_id' | 'tenant' | 'run_id' | 'approval_id' | 'agreed_by'>): Decision {
  return append(record('EffectAgreed', { mutation_id, tenant, run_id, approval_id, agreed_by }));
}

/** Does a held effect go without the agreement that its contract wants before it, to exactly what is held? */
export function lacksAgreement(
  { state }: Pick<DecideContext, 'state'>,
  { mutation_id, tenant, run_id, effect_key, capability, terms, execution: { args, subject_ref } }: Mutation,
  contract: Contract | null,
): boolean {
  if (contract === null || (contract.forward_approval ?? 'policy') === 'policy') return false;
  const held = jsonOfPayload(args);
  const agreed = agreementIn(state, run_id, mutation_id);
  if (held === undefined || agreed?.tenant !== tenant) return true;
  const contractDigest = terms?.contract_digest.toString('hex') ?? null;
  const about = { tenant, runId: run_id, effectKey: effect_key, capability, contractDigest, args: held };
  // Whoever asked may have left the subject to the contract, which reads it off the arguments.
  return ![subject_ref, null]
    .map((subjectRef) => forwardApprovalId(tenant, run_id, effect_key, forwardDigest({ ...about, subjectRef })))
    .includes(agreed.approval_id);
}
