// Events that end reversibility before its time (B5): stated about the subject, or an execution of the capability that is named.
//
// Invariants
//   E1. An event closes what was committed before it; one that is older than the effect says nothing about it.
//   E2. Nothing opens a window again.
import { closingRef } from '@recourse/contract';
import type { AssumptionStated, ContractTerms } from '@recourse/messages';
import { verdictScope } from '../scope.js';
import { closeWindow } from './recoverability.decider.js';
import { isRecorded } from './mutation.messages.js';
import type { Binding, Mutation, RecordedMutation, Verdict } from './mutation.messages.js';
import type { VerdictView } from './refs.decider.js';
import type { Body, MutationRecord } from '../record.messages.js';

/** Refs of the events that close a mutation's window; none without a subject they could be about. */
export function closingRefsOf(
  subjectRef: string | null,
  terms: Pick<ContractTerms, 'window_closed_by'> | null,
): readonly string[] {
  return subjectRef === null || terms === null
    ? []
    : [...new Set(terms.window_closed_by)].map((event) => closingRef(subjectRef, event));
}

/** Bindings that a statement about an event may close; a statement of one run reaches that run alone. */
export function closedByStatement(
  { verdict, superseded, run_id }: Pick<AssumptionStated, 'verdict' | 'superseded' | 'run_id'>,
  bindings: readonly Binding[],
): readonly Binding[] {
  if (verdict !== 'holds' || superseded) return [];
  return bindings
    .filter((binding) => binding.closes === true && (run_id === null || run_id === binding.run_id))
    .sort((a, b) => (a.mutation_id < b.mutation_id ? -1 : 1));
}

/** Closes the window of a mutation whose event was stated; null where none is open, or the effect is younger. */
export function closeByEvent(
  mutation: Mutation | undefined,
  { ref, stated_at }: Pick<Body<AssumptionStated>, 'ref' | 'stated_at'>,
): MutationRecord | null {
  return isRecorded(mutation) && stated_at >= mutation.ref.committed_at
    ? closeWindow(mutation, `CLOSED_BY:${eventOf(mutation, ref)}`)
    : null;
}

/** Mutations of a run whose windows an execution closes. */
export function closedByExecution(
  {
    mutation_id,
    tenant,
    capability,
    subject_ref,
  }: {
    readonly mutation_id: string;
    readonly tenant: string;
    readonly capability: string;
    readonly subject_ref: string | null;
  },
  run: readonly Mutation[],
): readonly MutationRecord[] {
  if (subject_ref === null) return [];
  return run.flatMap((mutation) => {
    const isAbout =
      mutation.tenant === tenant && mutation.subject_ref === subject_ref && mutation.mutation_id !== mutation_id;
    const fact =
      isAbout && isRecorded(mutation) && mutation.terms?.window_closed_by.includes(capability) === true
        ? closeWindow(mutation, `CLOSED_BY:${capability}`)
        : null;
    return fact === null ? [] : [fact];
  });
}

/** Event that had happened by the time an execution is accepted; null when none is known. */
export function alreadyClosed(
  { tenant, run_id, ref, terms }: Pick<RecordedMutation, 'tenant' | 'run_id' | 'ref' | 'terms'>,
  view: VerdictView,
): string | null {
  for (const event of terms?.window_closed_by ?? []) {
    for (const scope of [null, run_id]) {
      // Entries of this view are written by verdictEntry alone.
      const stated =
        ref.subject_ref === null
          ? undefined
          : (view.get(verdictScope(tenant, closingRef(ref.subject_ref, event), scope)) as Verdict | undefined);
      if (stated?.verdict === 'holds' && stated.stated_at >= ref.committed_at) return event;
    }
  }
  return null;
}

function eventOf({ ref: { subject_ref }, terms }: RecordedMutation, ref: string): string {
  return terms?.window_closed_by.find((event) => subject_ref !== null && closingRef(subject_ref, event) === ref) ?? ref;
}
