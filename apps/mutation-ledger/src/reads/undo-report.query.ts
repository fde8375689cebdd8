// What became of an undo, item by item (B2, B20): one word "undone" for the whole only where every effect was seen to be.
//
// Boundary: pure; reads the undo and the mutations of its run. Adds nothing that no record says.
//
// Invariants
//   V1. `undone_*` needs an observation that the success condition holds, after a compensation or a repair by hand, or that
//       there was nothing to undo; a person's word alone does not count.
//   V2. Every effect of the undo is listed, also one that is not marked yet.
//   V3. An open effect says what it waits for, as one does that is not undone and a person has; where the ledger does not know who
//       has it, its step does.
import { isRead } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { ReversalClass } from '@recourse/messages';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import type { UndoDoc } from '../rules/undo/undo.messages.js';
import { OWNER_OF_MARKS } from '../rules/owners.js';

export const ITEM_OUTCOMES = ['undone_clean', 'undone_with_residue', 'not_undone', 'still_open'] as const;
export type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** What an open effect waits for: its mark, somebody to tell how its call ended, its recovery, a worker, or a person. */
export const WAITS_FOR = ['mark', 'outcome', 'recovery', 'worker', 'person'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

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
  /** Its step in the recovery, which says who has it until when; null for one that is not marked. */
  readonly step_id: string | null;
  /** What it waits for; null for one that is neither open nor a person's. */
  readonly waits_for: WaitsFor | null;
  /** Who has it, as far as the ledger knows; null where its step says so, or it waits for nothing. */
  readonly owner: string | null;
  /** Until when, epoch milliseconds; null where its step says so, or nothing ends by itself. */
  readonly deadline_at: number | null;
}

/** `undone` only if every item is, `nothing_to_undo` where there is none; `still_open` while anything is under way. */
export interface UndoReport {
  readonly undo_id: string;
  readonly run_id: string;
  readonly tenant: string;
  readonly outcome: 'undone' | 'partly_undone' | 'not_undone' | 'nothing_to_undo' | 'still_open';
  readonly counts: Readonly<Record<ItemOutcome, number>>;
  readonly items: readonly UndoItem[];
}

/** What a person has, and what may yet turn out to have happened, or to have been undone. */
const NOT_KNOWN: readonly string[] = [
  'OUTCOME_UNKNOWN',
  'FORWARD_UNCERTAIN',
  'FORWARD_UNRESOLVED',
  'KEY_LIFETIME_OVER',
  'VERIFICATION_FAILED',
];

/**
 * Tells what became of an undo. `mutations` are those of its run.
 *
 * Source: docs/design/recovery.md (undo), requirements B2, B20.
 */
export function undoReport(
  undo: Pick<UndoDoc, 'undo_id' | 'run_id' | 'tenant' | 'phase' | 'mutation_ids' | 'unknown_ids' | 'deadline_at'>,
  mutations: readonly Mutation[],
): UndoReport {
  const own = new Map(mutations.filter(({ tenant }) => tenant === undo.tenant).map((one) => [one.mutation_id, one]));
  const items = [
    ...undo.mutation_ids.map((id) => itemOf(id, own.get(id), undo.deadline_at)),
    ...undo.unknown_ids.map((id) => nothingKnown(id, { outcome: 'not_undone', reason: 'MUTATION_UNKNOWN' }, SETTLED)),
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
  const undone = clean + residue;
  if (not === 0) return undone > 0 ? 'undone' : 'nothing_to_undo';
  return undone > 0 ? 'partly_undone' : 'not_undone';
}

function itemOf(mutationId: string, mutation: Mutation | undefined, markedBy: number | null): UndoItem {
  const marking = { waits_for: 'mark', owner: OWNER_OF_MARKS, deadline_at: markedBy } as const;
  if (mutation === undefined)
    return nothingKnown(mutationId, { outcome: 'still_open', reason: 'NOT_MARKED_YET' }, marking);
  const { capability, terms, subject_ref, ref, rollback_id } = mutation;
  const { outcome, reason } = becameOf(mutation);
  const isWaiting = outcome === 'still_open' || (outcome === 'not_undone' && !isClosed(mutation));
  const waiting = !isWaiting ? SETTLED : rollback_id === null ? marking : waitingOf(mutation);
  return {
    mutation_id: mutationId,
    capability,
    effect: terms?.effect ?? null,
    subject_ref,
    reversal_class: ref?.reversal_class ?? null,
    outcome,
    reason,
    residue: outcome === 'undone_with_residue' ? (terms?.residue ?? null) : null,
    step_id: rollback_id === null ? null : deriveId('step', rollback_id, mutationId),
    ...waiting,
  };
}

type Waiting = Pick<UndoItem, 'waits_for' | 'owner' | 'deadline_at'>;

const SETTLED: Waiting = { waits_for: null, owner: null, deadline_at: null };

/** Of one that is marked and open. Who has its step, until when, the orchestrator knows. */
function waitingOf({ awaited, recoverability }: Mutation): Waiting {
  if (awaited !== null) return { waits_for: 'outcome', owner: awaited.owner, deadline_at: awaited.deadline_at };
  switch (recoverability) {
    case 'compensating':
      return { ...SETTLED, waits_for: 'worker' };
    case 'compensation_failed':
    case 'manual_resolution_required':
      return { ...SETTLED, waits_for: 'person' };
    default:
      return { ...SETTLED, waits_for: 'recovery' };
  }
}

function nothingKnown(mutationId: string, { outcome, reason }: Became, waiting: Waiting): UndoItem {
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
    ...waiting,
  };
}

interface Became {
  readonly outcome: ItemOutcome;
  readonly reason: string | null;
}

function becameOf(mutation: Mutation): Became {
  const { rollback_id, recoverability, execution_state, reason, terms, ref } = mutation;
  if (rollback_id === null) return { outcome: 'still_open', reason: 'NOT_MARKED_YET' };
  if (ref !== null && isRead(terms, ref)) return { outcome: 'undone_clean', reason: 'READ_ONLY' };
  // It never happened, whoever has its step.
  if (execution_state === 'failed') return { outcome: 'undone_clean', reason };
  if (mutation.is_seen_undone) return { outcome: undoneOf(mutation), reason };
  switch (recoverability) {
    case 'compensated':
      return { outcome: undoneOf(mutation), reason };
    case 'manual_resolution_required':
    case 'compensation_failed':
      return leftOver(mutation);
    default:
      return { outcome: 'still_open', reason: reason ?? recoverability.toUpperCase() };
  }
}

/** What a person has or had. After a failed attempt there may be another. */
function leftOver(mutation: Mutation): Became {
  const { recoverability, reason } = mutation;
  const isUnknown = recoverability === 'compensation_failed' || NOT_KNOWN.includes(reason ?? '');
  return { outcome: isUnknown && !isClosed(mutation) ? 'still_open' : 'not_undone', reason };
}

/** Whether a person has said how it ended: nobody has it any more. */
function isClosed({ reason }: Pick<Mutation, 'reason'>): boolean {
  return reason?.startsWith('RESOLVED:') === true;
}

function undoneOf({ ref, terms }: Mutation): 'undone_clean' | 'undone_with_residue' {
  return ref?.reversal_class === 'reversible' && (terms?.residue ?? null) === null
    ? 'undone_clean'
    : 'undone_with_residue';
}
