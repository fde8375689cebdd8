// What an undo of a run would do, before anybody asks for it: what can be undone, what leaves residue, what cannot, who has to agree.
//
// Boundary: pure; reads rows of the run and the clock. A preview promises nothing: windows close and people decide.
import { capabilitiesOf, isAnsweredFor, isRead, peopleNeeded } from '@recourse/contract';
import type { BoundNow } from '@recourse/contract';
import type { BoundNowOf } from './bound-now.view.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

export const PREVIEW_OUTCOMES = [
  'can_be_undone',
  'leaves_residue',
  'cannot_be_undone',
  'nothing_to_undo',
  'not_known_yet',
  'under_way',
] as const;
export type PreviewOutcome = (typeof PREVIEW_OUTCOMES)[number];

/** One effect, in the order in which it would be undone. */
export interface PreviewItem {
  readonly mutation_id: string;
  readonly capability: string;
  readonly effect: string | null;
  readonly subject_ref: string | null;
  readonly outcome: PreviewOutcome;
  /** Code: why it cannot be undone, or is not known; null where it can. */
  readonly reason: string | null;
  readonly by_capability: string | null;
  readonly residue: string | null;
  /** Money the effect moved, in minor units; null where it moved none. */
  readonly value: { readonly amount_minor: number; readonly currency: string } | null;
  /** Different people who have to agree by the contract, as it was and as it stands: more are asked by recovery policies and above the risk limit, one fewer where the agent has an owner. Null where nothing can be agreed to. */
  readonly people_needed: 0 | 1 | 2 | null;
  /** Milliseconds until the window closes, the sooner of both versions; null without one. */
  readonly closes_in_ms: number | null;
}

export interface UndoPreview {
  readonly run_id: string;
  readonly counts: Readonly<Record<PreviewOutcome, number>>;
  /** Effects for which somebody has to agree. */
  readonly approvals_needed: number;
  readonly items: readonly PreviewItem[];
  /** Mutations asked for that the run does not have. */
  readonly unknown_ids: readonly string[];
}

/** What is previewed. */
export interface PreviewAsked {
  /** Mutations that were asked for; empty for the whole run. */
  readonly asked: readonly string[];
  /** Those whose reversal's arguments nobody opens any more. */
  readonly erased: ReadonlySet<string>;
  /** What binds an effect by now. */
  readonly boundNow: BoundNowOf;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Previews an undo. */
export function undoPreview(
  runId: string,
  mutations: readonly Mutation[],
  { asked, erased, boundNow, now }: PreviewAsked,
): UndoPreview {
  const own = mutations.filter((mutation) => asked.length === 0 || asked.includes(mutation.mutation_id));
  const items = [...own]
    .sort(
      (a, b) => (b.recorded_seq ?? Infinity) - (a.recorded_seq ?? Infinity) || (a.mutation_id < b.mutation_id ? -1 : 1),
    )
    .map((mutation) => itemOf(mutation, boundNow(mutation), { isErased: erased.has(mutation.mutation_id), now }));
  const counts = {
    can_be_undone: 0,
    leaves_residue: 0,
    cannot_be_undone: 0,
    nothing_to_undo: 0,
    not_known_yet: 0,
    under_way: 0,
  };
  for (const item of items) counts[item.outcome] += 1;
  return {
    run_id: runId,
    counts,
    approvals_needed: items.filter(({ people_needed: people }) => people !== null && people > 0).length,
    items,
    unknown_ids: asked.filter((id) => !mutations.some(({ mutation_id }) => mutation_id === id)),
  };
}

const ERASED = { outcome: 'cannot_be_undone', reason: 'PAYLOADS_ERASED' } as const;

interface Foreseen {
  readonly outcome: PreviewOutcome;
  readonly reason: string | null;
}

function isPossibleAt(outcome: PreviewOutcome): boolean {
  return outcome === 'can_be_undone' || outcome === 'leaves_residue';
}

function itemOf(
  mutation: Mutation,
  bound: BoundNow | null,
  { isErased, now }: { readonly isErased: boolean; readonly now: number },
): PreviewItem {
  const { mutation_id, capability, subject_ref, terms, execution, ref } = mutation;
  const expires_at = bound?.reversal_expires_at ?? mutation.expires_at;
  const asBound = foreseen({ ...mutation, expires_at }, now);
  const { outcome, reason } = isPossibleAt(asBound.outcome) ? byNow(asBound, isErased, bound) : asBound;
  const isPossible = isPossibleAt(outcome);
  const people =
    isPossible && bound !== null
      ? peopleNeeded(bound.recovery_approval_mode, bound.impact, isAnsweredFor(execution))
      : null;
  return {
    mutation_id,
    capability,
    effect: terms?.effect ?? null,
    subject_ref,
    outcome,
    reason,
    by_capability: isPossible ? calledBy(ref) : null,
    residue: outcome === 'leaves_residue' ? (terms?.residue ?? null) : null,
    value: execution.value,
    people_needed: people,
    closes_in_ms: isPossible && expires_at !== null ? Math.max(0, expires_at - now) : null,
  };
}

/** What becomes by now of an effect that could be undone as it was bound. */
function byNow(asBound: Foreseen, isErased: boolean, bound: BoundNow | null): Foreseen {
  if (isErased) return ERASED;
  const withheld = bound?.withheld ?? null;
  return withheld === null ? asBound : { outcome: 'cannot_be_undone', reason: withheld };
}

/** What undoes it, in the order of its calls. */
function calledBy(ref: Mutation['ref']): string | null {
  if (ref === null || ref.reversal_capability === null) return null;
  return capabilitiesOf({ capability: ref.reversal_capability, then: ref.reversal_then }).join(', then ');
}

function foreseen(
  { execution_state, recoverability, rollback_id, reason, terms, ref, expires_at }: Mutation,
  now: number,
): Foreseen {
  if (execution_state === 'failed') return { outcome: 'nothing_to_undo', reason };
  if (ref !== null && isRead(terms, ref)) return { outcome: 'nothing_to_undo', reason: 'READ_ONLY' };
  if (recoverability === 'compensated') return { outcome: 'nothing_to_undo', reason: 'COMPENSATED' };
  if (rollback_id !== null) return { outcome: 'under_way', reason };
  if (execution_state !== 'succeeded')
    return { outcome: 'not_known_yet', reason: reason ?? execution_state.toUpperCase() };
  if (ref?.reversal_class === 'irreversible') return { outcome: 'cannot_be_undone', reason: reason ?? 'IRREVERSIBLE' };
  if (recoverability !== 'reversal_available')
    return { outcome: 'cannot_be_undone', reason: reason ?? recoverability.toUpperCase() };
  if (expires_at === null || expires_at <= now) return { outcome: 'cannot_be_undone', reason: 'WINDOW_CLOSED' };
  return {
    outcome: terms?.residue === null && ref?.reversal_class === 'reversible' ? 'can_be_undone' : 'leaves_residue',
    reason: null,
  };
}
