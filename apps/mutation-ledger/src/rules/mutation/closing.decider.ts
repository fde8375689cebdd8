// Events that end reversibility before its time (B5): stated about the subject, or an execution of the capability that is named.
//
// Invariants
//   E1. An event closes what was committed before it; one that is older than the effect says nothing about it, whichever is told first.
//       Of one instant nobody knows which came first: it closes, since what is not undone is a person's and what is final is nobody's.
//   E2. Nothing opens a window again.
//   E3. What is under way or a person's is not moved by an event; that it happened is on record, and no further attempt is begun.
import { closingRef } from '@recourse/contract';
import type { AssumptionStated, ContractTerms, MutationRef, RecoverabilityState } from '@recourse/messages';
import type { Body, MutationRecord } from '../record.messages.js';
import { verdictScope } from '../identity.js';
import type { Binding, Mutation, ReasonCode, RecordedMutation, Verdict } from './mutation.messages.js';
import { isRecorded } from './mutation.messages.js';
import { move, together } from './recoverability.decider.js';
import type { MoveRecord } from './recoverability.decider.js';
import type { VerdictView } from './refs.decider.js';

/** Refs of the events that close a mutation's window; none without a subject they could be about. */
export function closingRefsOf(
  subjectRef: string | null,
  terms: Pick<ContractTerms, 'window_closed_by'> | null,
): readonly string[] {
  return subjectRef === null || terms === null
    ? []
    : [...new Set(terms.window_closed_by)].map((event) => closingRef(subjectRef, event));
}

/** Bindings that a statement about an event may close, in no order; a statement of one run reaches that run alone. */
export function closedByStatement(
  { verdict, superseded, run_id }: Pick<AssumptionStated, 'verdict' | 'superseded' | 'run_id'>,
  bindings: readonly Binding[],
): readonly Binding[] {
  return verdict !== 'holds' || superseded ? [] : bindings.filter((binding) => isClosedBy(run_id, binding));
}

/** May an event, stated for a run or (null) for all, close the window of a binding? */
export function isClosedBy(scopeRunId: string | null, { closes, run_id }: Binding): boolean {
  return closes === true && (scopeRunId === null || scopeRunId === run_id);
}

/** Those of a run beside each other. */
export function inRuns(bindings: readonly Binding[]): readonly Binding[] {
  return [...bindings].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** A run may hold any sign but this. */
function placeOf({ run_id, mutation_id }: Binding): string {
  return `${run_id}\u0000${mutation_id}`;
}

/** Closes the window of a mutation whose event was stated; null where none is open, or the effect is younger. */
export function closeByEvent(
  mutation: Mutation | undefined,
  { ref, stated_at }: Pick<Body<AssumptionStated>, 'ref' | 'stated_at'>,
  now: number,
): MoveRecord | null {
  return isRecorded(mutation) && stated_at >= mutation.ref.committed_at
    ? endedBy(eventOf(mutation, ref), mutation, now)
    : null;
}

/** An event ended what could still be called to undo it; null where nothing could (E3). */
function endedBy(event: string, mutation: RecordedMutation, now: number): MoveRecord | null {
  const isOpen = mutation.recoverability === 'reversal_available' || mayBeTriedAgain(mutation, now);
  return isOpen ? move(mutation, 'window_closed', { reason: closedBy(event) }) : null;
}

function closedBy(event: string): Extract<ReasonCode, `CLOSED_BY:${string}`> {
  return `CLOSED_BY:${event}`;
}

const TRIED_AGAIN_IN: readonly RecoverabilityState[] = [
  'compensating',
  'compensation_failed',
  'manual_resolution_required',
];

/** Its window is open, and neither was it said that nothing is to be called, nor was it closed by hand. */
function mayBeTriedAgain(
  { recoverability, execution_state, expires_at, reason }: RecordedMutation,
  now: number,
): boolean {
  const isOver = reason === 'DENIED' || reason?.startsWith('RESOLVED:') === true;
  return (
    TRIED_AGAIN_IN.includes(recoverability) &&
    execution_state === 'succeeded' &&
    expires_at !== null &&
    now < expires_at &&
    !isOver
  );
}

/** An execution that took effect, as far as it closes windows. */
type Closer = Pick<RecordedMutation, 'mutation_id' | 'tenant' | 'capability' | 'ref' | 'found_out'>;

/** Mutations of a run whose windows an execution closes. */
export function closedByExecution(closer: Closer, run: readonly Mutation[], now: number): readonly MutationRecord[] {
  const moves = run.flatMap((mutation) => {
    const isClosed =
      isRecorded(mutation) &&
      mutation.terms?.window_closed_by.includes(closer.capability) === true &&
      comesAfter(closer, mutation);
    return isClosed ? (endedBy(closer.capability, mutation, now) ?? []) : [];
  });
  return together(moves);
}

/** Is an execution about the same subject, and no older than the effect? (E1) */
function comesAfter(closer: Closer, { mutation_id, tenant, ref }: Effect): boolean {
  return (
    closer.mutation_id !== mutation_id &&
    closer.tenant === tenant &&
    ref.subject_ref !== null &&
    closer.ref.subject_ref === ref.subject_ref &&
    happenedBy(closer) >= ref.committed_at
  );
}

/** When it had happened at the latest: of what was found out later its record has the earliest instant, and it may have been any since. */
function happenedBy({ ref, found_out }: Closer): number {
  return Math.max(ref.committed_at, found_out?.found_at ?? 0);
}

/** An effect, as far as events close its window. */
type Effect = Pick<RecordedMutation, 'mutation_id' | 'tenant' | 'run_id' | 'ref' | 'terms'>;

/** What is told of an effect, with what closed its window before: from the start, or for the person whose it was already. */
export function withClosed(
  recorded: MutationRecord<'MutationRecorded'>,
  { view, runOf }: { readonly view: VerdictView; readonly runOf: () => readonly Mutation[] },
  now: number,
): readonly MutationRecord[] {
  const { body } = recorded;
  const { mutation_id, ref, terms, recoverability, execution, execution_state, rollback_id, reason } = body;
  const { tenant, run_id } = execution;
  const isPersons =
    recoverability === 'manual_resolution_required' && execution_state === 'succeeded' && reason === null;
  if (recoverability !== 'reversal_available' && !isPersons) return [recorded];
  const closed = alreadyClosed({ mutation_id, tenant, run_id, ref, terms }, view, runOf);
  if (isPersons && closed === null) {
    const heard = closingRefsOf(ref.subject_ref, terms).length > 0;
    const bound = { mutation_id, tenant, run_id, rollback_id, ref, recoverability, execution, terms };
    return [recorded, ...(heard ? [move(bound, 'handle_bound', {})].filter((one) => one !== null) : [])];
  }
  if (closed === null) return [recorded];
  const told = { ...body, reason: closedBy(closed), warn_at: null };
  return [
    {
      ...recorded,
      body: isPersons ? { ...told, ref: endingBy(ref, now) } : { ...told, recoverability: 'reversal_expired' },
    },
  ];
}

/** A pointer with its window ended at some instant, where it did not end before. */
export function endingBy(ref: MutationRef, at: number | null): MutationRef {
  const endsAt = ref.reversal_expires_at;
  return endsAt !== null && at !== null && at < endsAt ? { ...ref, reversal_expires_at: at } : ref;
}

/** Event that had happened by the time an execution is accepted; null when none is known. */
function alreadyClosed(effect: Effect, view: VerdictView, runOf: () => readonly Mutation[]): string | null {
  const { tenant, run_id, ref, terms } = effect;
  const events = terms?.window_closed_by ?? [];
  if (events.length === 0 || ref.subject_ref === null) return null;
  const executed = runOf().find(
    (one) =>
      isRecorded(one) &&
      one.execution_state === 'succeeded' &&
      events.includes(one.capability) &&
      comesAfter(one, effect),
  );
  if (executed !== undefined) return executed.capability;
  for (const event of events) {
    for (const scope of [null, run_id]) {
      // Entries of this view are written by verdictEntry alone.
      const stated = view.get(verdictScope(tenant, closingRef(ref.subject_ref, event), scope)) as Verdict | undefined;
      if (stated?.verdict === 'holds' && stated.stated_at >= ref.committed_at) return event;
    }
  }
  return null;
}

function eventOf({ ref: { subject_ref }, terms }: RecordedMutation, ref: string): string {
  return terms?.window_closed_by.find((event) => subject_ref !== null && closingRef(subject_ref, event) === ref) ?? ref;
}
