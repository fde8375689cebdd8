// What was asked and agreed to before an effect, as the end of its hold asks for it (P4, P5).
//
// Boundary: hears of agreements that were used, and compares them with what is held. How many people suffice is the orchestrator's to say,
// but for an effect under a contract that binds no more: that has as many as the one that stands asks.
import { contractByName, forwardApprovalId, forwardDigest, jsonOfPayload } from '@recourse/contract';
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

/** People that a contract wants asked before its effect. */
const PEOPLE = { policy: 0, human: 1, dual_control: 2 } as const;

function peopleAsked(contract: Contract | null): number {
  return PEOPLE[contract?.forward_approval ?? 'policy'];
}

/** Does a held effect go without the agreement that its contract wants before it, to exactly what is held? */
export function lacksAgreement(
  context: Pick<DecideContext, 'state' | 'views'>,
  mutation: Mutation,
  contract: Contract | null,
): boolean {
  const { mutation_id, tenant, run_id, effect_key, capability, terms, execution } = mutation;
  const { args, subject_ref } = execution;
  const atLeast = peopleAsked(standingInstead(context, mutation));
  if (peopleAsked(contract) === 0 && atLeast === 0) return false;
  const held = jsonOfPayload(args);
  const agreed = agreementIn(context.state, run_id, mutation_id);
  if (held === undefined || agreed?.tenant !== tenant) return true;
  if (agreed.agreed_by.length < atLeast) return true;
  const contractDigest = terms?.contract_digest.toString('hex') ?? null;
  const about = { tenant, runId: run_id, effectKey: effect_key, capability, contractDigest, args: held };
  // Whoever asked may have left the subject to the contract, which reads it off the arguments.
  return ![subject_ref, null]
    .map((subjectRef) => forwardApprovalId(tenant, run_id, effect_key, forwardDigest({ ...about, subjectRef })))
    .includes(agreed.approval_id);
}

/** The contract that stands, where the one that an effect names bound no more: who names an older version asks nobody less. */
function standingInstead(
  { views }: Pick<DecideContext, 'views'>,
  { tenant, capability, terms }: Pick<Mutation, 'tenant' | 'capability' | 'terms'>,
): Contract | null {
  return terms?.superseded === true
    ? (contractByName(views.view('contracts'), tenant, capability)?.contract ?? null)
    : null;
}
