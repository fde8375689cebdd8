// How a mutation's recoverability moves: as its recovery goes, and as its window closes. Pure.
//
// Invariant
//   M3. Recoverability moves only as RECOVERABILITY_AFTER says.
import { closingRef } from '@recourse/contract';
import { assertNever } from '@recourse/kernel';
import type {
  AssumptionStated,
  ContractTerms,
  Money,
  MovedMutation,
  RecoverabilityEvent,
  StepVerdict,
} from '@recourse/messages';
import type { Body, MutationRecord } from '../record.messages.js';
import { record } from '../record.messages.js';
import { verdictScope } from '../identity.js';
import { parentsElsewhere } from './lineage.decider.js';
import type { Binding, Mutation, ReasonCode, RecordedMutation, RecoveryEvent, Verdict } from './mutation.messages.js';
import { isRecorded } from './mutation.messages.js';
import { RECOVERABILITY_AFTER } from './mutation.transitions.js';
import type { VerdictView } from './refs.decider.js';

/** Moves a mutation as its recovery goes; null when that changes nothing. */
export function decideRecovery(event: RecoveryEvent, mutation: RecordedMutation): MoveRecord | null {
  const stepId = event.body.step_id;
  switch (event.type) {
    case 'Dispatched':
      return isAttemptKnown(mutation, event.body.attempt) ? null : move(mutation, 'compensation_started', { stepId });
    case 'StepEscalated':
      return move(mutation, 'manual_required', { stepId, reason: whyOf(event.body.reason, mutation) });
    case 'StepDenied':
      return move(mutation, 'manual_required', { stepId, reason: 'DENIED' satisfies ReasonCode });
    case 'StepResolved':
      return move(mutation, 'resolved', {
        stepId,
        reason: `RESOLVED:${event.body.resolution}` satisfies ReasonCode,
        isVerified: event.body.verified,
      });
    case 'Settled':
      return moveByOutcome(mutation, event.body.outcome, event.body.reason, stepId);
    default:
      return assertNever(event);
  }
}

/** Why a person has it: where an event closed the window, the event, and not only that it is closed (B5). */
function whyOf(reason: string, { reason: standing }: RecordedMutation): string {
  return reason === 'REVERSAL_EXPIRED' && standing?.startsWith('CLOSED_BY:') === true ? standing : reason;
}

/** Each attempt is recorded once; after a failure the first one counts as new. */
function isAttemptKnown({ recoverability, compensation_attempts }: RecordedMutation, attempt: number): boolean {
  return recoverability === 'compensating' && attempt <= compensation_attempts;
}

/** The clock closes a window, or an event before it; null where no reversal was available. */
export function closeWindow(
  mutation: RecordedMutation,
  reason: Extract<ReasonCode, 'WINDOW_CLOSED' | `CLOSED_BY:${string}`> = 'WINDOW_CLOSED',
): MoveRecord | null {
  return mutation.recoverability === 'reversal_available' ? move(mutation, 'window_closed', { reason }) : null;
}

/** A person has it, before any recovery; null where there is nothing more to decide. */
export function moveToPerson(mutation: RecordedMutation, reason: ReasonCode): MoveRecord | null {
  return move(mutation, 'manual_required', { reason });
}

/** A stale resource was not touched, an uncertain step goes on and one that was not begun waits: none of these moves the mutation by itself. */
function moveByOutcome(
  mutation: RecordedMutation,
  outcome: StepVerdict,
  reason: string,
  stepId: string,
): MoveRecord | null {
  switch (outcome) {
    case 'compensated':
      return move(mutation, 'compensation_verified', { stepId, refund: mutation.execution.value, isVerified: true });
    case 'failed':
    case 'unverified':
      return move(mutation, 'compensation_failed', { stepId, reason });
    case 'stale':
    case 'uncertain':
    case 'not_begun':
      return null;
    default:
      return assertNever(outcome);
  }
}

interface MoveDetails {
  readonly stepId?: string;
  readonly reason?: string;
  readonly refund?: Money | null;
  readonly isVerified?: boolean;
}

function move(
  mutation: RecordedMutation,
  event: RecoverabilityEvent,
  { stepId, reason, refund, isVerified }: MoveDetails,
): MoveRecord | null {
  const to = RECOVERABILITY_AFTER[mutation.recoverability][event];
  if (to === null) return null;
  const { mutation_id, tenant, run_id, rollback_id, ref, recoverability, execution, terms } = mutation;
  const moved: MovedMutation = {
    mutation_id,
    from_state: recoverability,
    to_state: to,
    reason: reason ?? null,
    verified: isVerified ?? false,
    rollback_id,
    step_id: stepId ?? null,
    subject_ref: ref.subject_ref,
    capability: ref.capability,
    agent_id: execution.agent_id,
    contracted: terms !== null,
    refund: refund ?? null,
    derived_from: parentsElsewhere(execution),
  };
  return record('RecoverabilityChanged', { tenant, run_id, event, members: [moved] });
}

/** Moves of one run as records: those by one event, next to each other, in one. */
export function together(moves: readonly MoveRecord[]): readonly MoveRecord[] {
  return moves.reduce<readonly MoveRecord[]>((done, next) => {
    const last = done.at(-1);
    if (last?.body.event !== next.body.event || last.body.run_id !== next.body.run_id) return [...done, next];
    const members = [...last.body.members, ...next.body.members];
    return [...done.slice(0, -1), { ...last, body: { ...last.body, members } }];
  }, []);
}

/** The record of a move. */
type MoveRecord = MutationRecord<'RecoverabilityChanged'>;

// Events that end reversibility before its time (B5): stated about the subject, or an execution of the capability that is named.
//
// Invariants
//   E1. An event closes what was committed before it; one that is older than the effect says nothing about it.
//   E2. Nothing opens a window again.

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
