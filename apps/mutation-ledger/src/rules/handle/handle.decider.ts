// Whose the handle of an effect is (docs/adr/0034-the-first-to-name-a-handle-owns-it.md). Pure.
//
//   MutationRecorded, or MutationPlanned where a held effect is staged ── HandleNamed, to the partition of the handle ── HandleClaimed ── HandleJudged, in the run's partition
//
// Invariants
//   H1. A handle belongs to the tenant, run and agent that named it first; who names it later owns nothing of it.
//   H3. What is staged for a held effect is let go or taken back by a machine for the one that named it first alone.
//   H2. Nothing falls while it is asked whose its handle is: an effect is undone by its owner's word or by a person's.
//   H4. Where some contract gives a reversal's argument the handle, whatever else another contract puts there is asked about too, and
//       names nothing: what is no handle today is nobody's by being in its place.
import { adapterOf } from '@recourse/contract';
import type { HandleClaimed, HandleNamed } from '@recourse/messages';
import { OWNER_OF_EXPOSED } from '../owners.js';
import { isRecorded } from '../mutation/mutation.messages.js';
import type { Awaited, Mutation, ReasonCode } from '../mutation/mutation.messages.js';
import type { NamedContract } from '../mutation/bound.decisions.js';
import { moveToPerson } from '../mutation/recoverability.decider.js';
import { record } from '../record.messages.js';
import { handleRef } from './handle-ref.js';
import { boundCallsOf, refsOfStandIns } from './stand-in.decisions.js';
import type { Body, MutationRecord } from '../record.messages.js';

/** Why a person has an effect whose handle somebody else named first. */
export const HANDLE_CLAIMED = 'HANDLE_CLAIMED' satisfies ReasonCode;

/** Who named a handle first, as its row holds it. */
export type HandleOwner = Omit<Body<HandleNamed>, 'is_question'>;

/**
 * The ref to ask about before anything is undone by it; null where no reversal goes by a handle, or it was asked about.
 *
 * Shape:  the handle, where its contract requires one; else what stands where other contracts give the handle (H4): one at the most, see `bind`.
 */
export function handleToAsk(
  { ref, recoverability }: Pick<Body<RecordedExecution>, 'ref' | 'recoverability'>,
  named: NamedContract | null,
  mutation: Mutation | undefined,
): string | null {
  if (recoverability !== 'reversal_available' || named === null) return null;
  const own = named.contract.requires_external_handle === true ? ownHandle(ref) : null;
  const [asked = own] = refsOfStandIns(named, boundCallsOf(ref));
  return asked === null || mutation?.claim?.ref === asked ? null : asked;
}

/** The handle of the effect, as those are asked about that name one. */
function ownHandle({
  external_transaction_ref: handle,
  reversal_capability: reversal,
}: Pick<RecordedExecution['ref'], 'external_transaction_ref' | 'reversal_capability'>): string | null {
  return handle === null || reversal === null ? null : handleRef(adapterOf(reversal), handle);
}

/** The ref to ask about before what is staged for a held effect is let go or taken back; null where nothing is. */
export function stagedToAsk({
  execution: { capability, staged_ref },
  hold_until,
}: Pick<Body<MutationRecord<'MutationPlanned'>['body']>, 'execution' | 'hold_until'>): string | null {
  return hold_until === null || staged_ref === null ? null : handleRef(adapterOf(capability), staged_ref);
}

type RecordedExecution = MutationRecord<'MutationRecorded'>['body'];

/** Whose a handle is, for a mutation that names it. `owner` is who named it before; undefined for nobody. */
export function claimHandle(named: Body<HandleNamed>, owner: HandleOwner | undefined): Body<HandleClaimed> {
  const first = owner ?? named;
  return {
    ...named,
    is_owner: first.tenant === named.tenant && first.run_id === named.run_id && first.agent_id === named.agent_id,
    owner_mutation_id: first.mutation_id,
  };
}

/** Is an effect's handle only asked about, and not named by it? */
export function isQuestion({ handle_ref, ref }: Pick<Body<RecordedExecution>, 'handle_ref' | 'ref'>): boolean {
  return handle_ref !== ownHandle(ref);
}

/** What the answer makes of the mutation: it may fall, or a person has it. */
export function judgeHandle(
  { is_owner, ref, mutation_id, tenant, run_id }: Body<HandleClaimed>,
  position: number,
  mutation: Mutation,
  { now, reviewDeadlineMs }: { readonly now: number; readonly reviewDeadlineMs: number },
): readonly MutationRecord[] {
  const moved = is_owner || !isRecorded(mutation) ? null : moveToPerson(mutation, HANDLE_CLAIMED);
  const review_by = is_owner ? null : now + reviewDeadlineMs;
  return [
    ...(moved === null ? [] : [moved]),
    record('HandleJudged', { mutation_id, tenant, run_id, ref, is_owner, position, review_by }),
  ];
}

/** The claim as an execution leaves it. */
export function claimAfter({ handle_ref }: Pick<RecordedExecution, 'handle_ref'>, before?: Mutation) {
  return handle_ref === null ? (before?.claim ?? null) : ({ ref: handle_ref, standing: 'asked' } as const);
}

/** The claim and who is asked, as the answer leaves them. */
export function judgedClaim({
  ref,
  is_owner,
  review_by,
}: Pick<MutationRecord<'HandleJudged'>['body'], 'ref' | 'is_owner' | 'review_by'>): Partial<Mutation> {
  if (review_by === null) return { claim: { ref, standing: is_owner ? 'own' : 'foreign' } };
  const awaited: Awaited = { owner: OWNER_OF_EXPOSED, deadline_at: review_by, is_overdue: true };
  return { claim: { ref, standing: 'foreign' }, awaited, asked_because: HANDLE_CLAIMED };
}

/** Is it still asked whose its handle is? */
export function isHandleAsked({ claim }: Pick<Mutation, 'claim'>): boolean {
  return claim?.standing === 'asked';
}
