// What became of an undo, item by item (B2, B20): one word "undone" for the whole only where every effect was seen to be.
//
// Boundary: pure; reads the undo and the steps of its run. Adds nothing that no record says.
//
// Invariants
//   V1. `undone_*` needs an observation that the success condition holds, after a compensation or a repair by hand, or that
//       there was nothing to undo; a person's word alone does not count.
//   V2. Every effect of the undo is listed, also one that no step is about yet.
import type { ReversalClass } from '@recourse/messages';
import { isAtRest } from '../domain/step/step.transitions.js';
import type { StepDoc } from '../domain/step/step.messages.js';
import type { UndoDoc } from '../domain/undo/undo.messages.js';

export const ITEM_OUTCOMES = ['undone_clean', 'undone_with_residue', 'not_undone', 'still_open'] as const;
export type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** One effect of an undo. */
export interface UndoItem {
  readonly mutation_id: string;
  readonly capability: string | null;
  readonly effect: string | null;
  readonly subject_ref: string | null;
  readonly reversal_class: ReversalClass | null;
  readonly outcome: ItemOutcome;
  /** Code: why it is not undone, or what it waits for; null for one that is undone. */
  readonly reason: string | null;
  /** What stays different after the compensation. */
  readonly residue: string | null;
  readonly step_id: string | null;
  readonly owner: string | null;
  readonly deadline_at: number | null;
}

/** `undone` only if every item is; `still_open` while anything is under way. */
export interface UndoReport {
  readonly undo_id: string;
  readonly run_id: string;
  readonly tenant: string;
  readonly outcome: 'undone' | 'partly_undone' | 'not_undone' | 'still_open';
  readonly counts: Readonly<Record<ItemOutcome, number>>;
  readonly items: readonly UndoItem[];
}

/** What a person has, and what may yet turn out to have happened. */
const NOT_KNOWN: readonly string[] = ['OUTCOME_UNKNOWN', 'FORWARD_UNCERTAIN', 'FORWARD_UNRESOLVED'];

/**
 * Tells what became of an undo. `steps` are those of its run.
 *
 * Source: DESIGN 6.3 (undo), requirements B2, B20.
 */
export function undoReport(
  undo: Pick<UndoDoc, 'undo_id' | 'run_id' | 'tenant' | 'phase' | 'mutation_ids' | 'unknown_ids'>,
  steps: readonly StepDoc[],
): UndoReport {
  const own = new Map(steps.filter((step) => step.tenant === undo.tenant).map((step) => [step.mutation_id, step]));
  const items = [
    ...undo.mutation_ids.map((id) => itemOf(id, own.get(id))),
    ...undo.unknown_ids.map((id) => unmarked(id, 'not_undone', 'MUTATION_UNKNOWN')),
  ];
  const counts = { undone_clean: 0, undone_with_residue: 0, not_undone: 0, still_open: 0 };
  for (const item of items) counts[item.outcome] += 1;
  return {
    undo_id: undo.undo_id,
    run_id: undo.run_id,
    tenant: undo.tenant,
    outcome: undo.phase === 'listed' ? wholeOf(counts) : 'still_open',
    counts,
    items,
  };
}

function wholeOf({
  undone_clean: clean,
  undone_with_residue: residue,
  not_undone: not,
  still_open: open,
}: Readonly<Record<ItemOutcome, number>>): UndoReport['outcome'] {
  if (open > 0) return 'still_open';
  if (not === 0) return 'undone';
  return clean + residue > 0 ? 'partly_undone' : 'not_undone';
}

function itemOf(mutationId: string, step: StepDoc | undefined): UndoItem {
  if (step === undefined) return unmarked(mutationId, 'still_open', 'NOT_MARKED_YET');
  const {
    execution: { capability },
    terms,
    ref,
    step_id,
    owner,
    deadline_at,
  } = step;
  const { outcome, reason } = becameOf(step);
  const residue = outcome === 'undone_with_residue' ? (terms?.residue ?? null) : null;
  return {
    mutation_id: mutationId,
    capability,
    effect: terms?.effect ?? null,
    subject_ref: ref.subject_ref,
    reversal_class: ref.reversal_class,
    outcome,
    reason,
    residue,
    step_id,
    owner: outcome.startsWith('undone') ? null : owner,
    deadline_at,
  };
}

function unmarked(mutationId: string, outcome: ItemOutcome, reason: string): UndoItem {
  return {
    mutation_id: mutationId,
    capability: null,
    effect: null,
    subject_ref: null,
    reversal_class: null,
    outcome,
    reason,
    residue: null,
    step_id: null,
    owner: null,
    deadline_at: null,
  };
}

function becameOf(step: StepDoc): { readonly outcome: ItemOutcome; readonly reason: string | null } {
  const { phase, reason, terms, ref, resolved } = step;
  if (!isAtRest(phase)) return { outcome: 'still_open', reason };
  const undone =
    ref.reversal_class === 'reversible' && (terms?.residue ?? null) === null ? 'undone_clean' : 'undone_with_residue';
  switch (phase) {
    case 'compensated':
      return { outcome: undone, reason: null };
    case 'not_needed':
      return { outcome: 'undone_clean', reason };
    case 'resolved':
      if (resolved?.verified === true) return { outcome: undone, reason: 'RESOLVED:repaired' };
      return { outcome: 'not_undone', reason: `RESOLVED:${resolved?.resolution ?? 'unrecognized'}` };
    default:
      return { outcome: NOT_KNOWN.includes(reason) ? 'still_open' : 'not_undone', reason };
  }
}
