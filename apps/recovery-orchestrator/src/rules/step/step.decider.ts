// Decides what the world does to a step: opened, advanced, due, resumed, its window closed. Pure: (step, input, now) -> records.
//
// What people do about a step is in step-commands.decider.ts, what workers report in report.decider.ts.
//
// Invariants
//   T1. A decision is whole: what follows at once (dispatch, escalation, close of the recovery) is in it.
//   T3. Whatever is not at rest has a timer.
import { assertNever } from '@recourse/kernel';
import { plannedTogether } from '@recourse/messages';
import type { Evidence, Planned, StepDecision, StepWait } from '@recourse/messages';
import { refInForce } from '../decision/in-force.decisions.js';
import { windowOf } from '../decision/recovery.decisions.js';
import { dependentsOf } from '../lineage/dependents.decisions.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { record } from '../record.messages.js';
import type { Body, RecoveryRecord } from '../record.messages.js';
import { givenFor, needsCorrection } from '../task/task.decider.js';
import { escalated } from './dispatch.decisions.js';
import { askFacts, FACT_ROUNDS_MAX, isCallErased, reaffirmedBy } from './facts.decisions.js';
import { goOn } from './halt.decisions.js';
import { advanceStep, HANDLE_ASKED, HANDLE_CLAIMED, openStep } from './opening.decisions.js';
import type { Marked } from './opening.decisions.js';
import { lookMissed } from './looked.decisions.js';
import { append, conclude, concludeIn, draft } from './step-draft.decisions.js';
import type { StepContext } from './step-draft.decisions.js';
import { silence } from './silence.decider.js';
import { openedBy, stepsFollowing } from './step-row.transitions.js';
import { replaced } from './step.messages.js';
import type { EscalationReason, StepDoc, StepPhase } from './step.messages.js';
import { isAtRest, isUnderWay } from './step.transitions.js';

/** Opens the steps of marked mutations, in one plan. What was marked before is left alone. */
export function open(marked: readonly Marked[], context: StepContext): readonly RecoveryRecord[] {
  const { now } = context;
  const planned = plansOf(marked, context);
  const last = planned.at(-1);
  if (last === undefined) return [];
  let steps = [...context.steps, ...planned.map((plan) => openedBy(plan, now))];
  const records: RecoveryRecord[] = [];
  for (const plan of planned) {
    const step = steps.find(({ step_id }) => step_id === plan.step_id);
    const means = step === undefined ? [] : meaningOf(step, plan, { ...context, steps });
    records.push(...means);
    steps = [...stepsFollowing(steps, means, now)];
  }
  const concluded = concludeIn(last, records, { ...context, steps });
  return planWith(planned, concluded);
}

/** What is decided about each, those before it known. */
function plansOf(marked: readonly Marked[], context: StepContext): readonly Planned[] {
  const { now, policy, contractOf } = context;
  let { steps } = context;
  return marked.flatMap((one) => {
    const contract = one.terms === null ? null : contractOf(one.terms.contract_digest);
    const plan = openStep(one, now, policy, { contract, steps });
    if (steps.some((step) => step.step_id === plan.step_id)) return [];
    steps = [...steps, openedBy(plan, now)];
    return [plan];
  });
}

/** The plan, with what its steps wait for, and what follows from it. */
function planWith(planned: readonly Planned[], records: readonly RecoveryRecord[]): readonly RecoveryRecord[] {
  const waits = new Map<string, StepWait>();
  const others: RecoveryRecord[] = [];
  const ids = new Set(planned.map(({ step_id }) => step_id));
  for (const told of records) {
    if (told.type !== 'StepWaits' || !ids.has(told.body.step_id) || waits.has(told.body.step_id)) others.push(told);
    else {
      const { reason, outstanding, owner, deadline_at, paced, go_at } = told.body;
      waits.set(told.body.step_id, { reason, outstanding, owner, deadline_at, paced, go_at });
    }
  }
  const [first, ...rest] = planned.map((plan) => ({ ...plan, wait: waits.get(plan.step_id) ?? null }));
  return first === undefined ? others : [record('RecoveryPlanned', plannedTogether([first, ...rest])), ...others];
}

/** Phases in which nothing of the step has an effect of its own yet, or a person has it. */
const DECIDED_ANEW: readonly StepPhase[] = ['held', 'not_needed', 'manual', 'looking'];

/**
 * Decides again about a commit that was marked: its execution turned out after all (docs/design/recovery.md, life goes on).
 *
 * Shape:  only a step without an effect of its own is decided anew. What a person has stays theirs, with the facts of now, and
 *         says so where nothing undoes it after all; of a step beyond that the ledger has nothing more to tell: it stands on an execution that succeeded.
 */
export function advance(step: StepDoc, marked: Marked, context: StepContext): readonly RecoveryRecord[] {
  if (!DECIDED_ANEW.includes(step.phase)) return [];
  const { now, policy } = context;
  const body = advanceStep(marked, now, policy, {
    contract: marked.terms === null ? null : context.contractOf(marked.terms.contract_digest),
    steps: context.steps,
  });
  const advanced = draft(step, now, record('MutationAdvanced', body));
  const isPersons = step.phase === 'looking' || (isAtRest(step.phase) && isAtRest(advanced.step.phase));
  if (isPersons) return [...advanced.records, ...turnedOut(step, advanced.step, body, context)];
  const within = { ...context, steps: replaced(context.steps, advanced.step) };
  return conclude(
    meaningOf(advanced.step, body, within).reduce((begun, next) => append(begun, next, now), advanced),
    context,
  );
}

/** What a person has turned out to be beyond any contract: they have it for that now, and the work that follows is opened, once. */
function turnedOut(
  before: StepDoc,
  step: StepDoc,
  body: Body<'MutationAdvanced'>,
  context: StepContext,
): readonly RecoveryRecord[] {
  const isNews = step.phase === 'manual' && needsCorrection(body.reason) && !needsCorrection(before.reason);
  return isNews ? meaningOf(step, body, context) : [];
}

/** The ledger knows whose the handle is that an effect named after it fell: it is called by, or a person has the effect for good. */
export function handleJudged(step: StepDoc, isOwner: boolean, context: StepContext): readonly RecoveryRecord[] {
  const isPersons = step.phase === 'manual' || step.phase === 'looking';
  // Whoever had it before it named its handle lost the call with the question.
  const isAsked = step.reason === HANDLE_ASKED || (isPersons && step.call === null);
  if (!isAsked && (isOwner || !isPersons)) return [];
  const { reverses_record_hash, executed_seq, ...known } = step;
  const learnt = {
    recoverability: isOwner ? 'reversal_available' : 'manual_resolution_required',
    reason: isOwner ? null : HANDLE_CLAIMED,
    recorded_hash: reverses_record_hash,
    recorded_seq: executed_seq,
    consumers: [],
  } as const;
  return advance(step, { ...known, ...learnt }, context);
}

/** What a decision about a step means at once. */
function meaningOf(
  step: StepDoc,
  { decision, reason }: { readonly decision: StepDecision; readonly reason: string },
  context: StepContext,
): readonly RecoveryRecord[] {
  const { now, policy } = context;
  switch (decision) {
    case 'compensate_now':
      // One before it may have taken it along.
      return step.phase === 'approved' ? [goOn(step, context)] : [];
    case 'manual_review':
      return givenFor(step, reason, now, policy);
    case 'request_approval':
    case 'reconcile_first':
    case 'retry_forward':
      return [];
    default:
      return assertNever(decision);
  }
}

/** The assumption is said to hold again. */
export function reaffirm(step: StepDoc, evidence: Evidence, context: StepContext): readonly RecoveryRecord[] {
  const changed = reaffirmedBy(step, evidence, context.now, context.policy);
  if (changed === null) return [];
  const told = draft(step, context.now, changed);
  // Whoever agrees anew is shown the resource.
  return told.step.phase === 'awaiting_approval' ? conclude(told, context) : told.records;
}

/** What a due step does. A timer that was overtaken does nothing. */
export function due(step: StepDoc, dueAt: number, context: StepContext): readonly RecoveryRecord[] {
  const { now } = context;
  if (step.due_at !== dueAt || now < dueAt) return [];
  if (step.phase === 'dispatched') return silence(step, context);
  if (step.look !== null) return conclude(draft(step, now, ...lookMissed(step, step.look, context)), context);
  const next = atDeadline(step, context);
  return next === null ? [] : conclude(draft(step, now, next), context);
}

/** Effects of other runs that were made from these came to rest: the steps that waited only for them go on. */
export function childrenSettled(
  mutationIds: readonly string[],
  tenant: string,
  context: StepContext,
): readonly RecoveryRecord[] {
  let { steps } = context;
  const records: RecoveryRecord[] = [];
  for (const mutationId of mutationIds) {
    const waiting = steps.find(
      (step) =>
        step.tenant === tenant &&
        step.mutation_id === mutationId &&
        step.phase === 'waiting' &&
        step.reason === 'CHILDREN',
    );
    if (waiting === undefined || dependentsOf(waiting, context.dependentsIn(waiting.run_id)).length > 0) continue;
    const within = { ...context, steps };
    const made = conclude(draft(waiting, context.now, goOn(waiting, within)), within);
    records.push(...made);
    steps = stepsFollowing(steps, made, context.now);
  }
  return records;
}

/** A halted step, after the switches changed: it goes on, or stays halted for another one. */
export function resume(step: StepDoc, context: StepContext): readonly RecoveryRecord[] {
  return step.phase === 'halted' ? conclude(draft(step, context.now, goOn(step, context)), context) : [];
}

/** The windows of mutations closed: a step that still waits for a person or for the forward action is escalated now, and no other begins another attempt (B5). */
export function closeWindows(
  mutationIds: readonly string[],
  tenant: string,
  context: StepContext,
): readonly RecoveryRecord[] {
  let { steps } = context;
  return mutationIds.flatMap((mutationId) => {
    const step = steps.find((one) => one.tenant === tenant && one.mutation_id === mutationId);
    const made = step === undefined ? [] : closeWindow(step, { ...context, steps });
    steps = stepsFollowing(steps, made, context.now);
    return made;
  });
}

function closeWindow(step: StepDoc, context: StepContext): readonly RecoveryRecord[] {
  // What was sent before has a time of its own: until then a copy may act (L11).
  if (isUnderWay(step.phase) && step.attempt > 0) return windowNoted(step, context);
  if (step.phase === 'manual' || step.phase === 'looking') return windowNoted(step, context);
  if (!WAITS_FOR_OTHERS.includes(step.phase)) return [];
  return conclude(draft(step, context.now, escalated(step, 'REVERSAL_EXPIRED', context.now, context.policy)), context);
}

/** Whoever has the step keeps it: only its window is over, where that was not known. */
function windowNoted(step: StepDoc, { now, policy }: StepContext): readonly RecoveryRecord[] {
  const { ref, deadline_at } = step;
  if (ref.reversal_expires_at === null || ref.reversal_expires_at <= now) return [];
  const { step_id, recovery_id, rollback_id, tenant, run_id, mutation_id, execution_state, call, action_digest } = step;
  const { execution, terms, reverses_record_hash, owner, required_approvals, in_force, answerable_to } = step;
  const { executed_seq, outcome_kind, found_out, lacking } = step;
  return [
    record('MutationAdvanced', {
      ...{ step_id, recovery_id, rollback_id, tenant, run_id, mutation_id, execution_state, call, action_digest },
      ...{ execution, terms, ref, reverses_record_hash, owner, required_approvals, in_force, answerable_to },
      ...{ executed_seq, outcome_kind, found_out, lacking },
      recoverability: 'reversal_expired',
      decision: 'manual_review',
      reason: 'REVERSAL_EXPIRED',
      deadline_at: deadline_at ?? now + policy.reviewDeadlineMs,
    }),
  ];
}

/** Phases in which nothing is under way that the window's end would have to be told to. */
const WAITS_FOR_OTHERS: readonly StepPhase[] = ['awaiting_approval', 'held', 'waiting', 'halted', 'observing'];

/** Why a person gets what was held, by what it was held for. */
const UNANSWERED: Readonly<Record<string, EscalationReason>> = {
  STEP_RESULT_PENDING: 'STEP_RESULT_MISSING',
  HANDLE_ASKED: 'HANDLE_ASKED',
};

function atDeadline(step: StepDoc, context: StepContext): RecoveryRecord | null {
  const { now, policy } = context;
  switch (step.phase) {
    case 'held':
      return escalated(step, UNANSWERED[step.reason] ?? 'FORWARD_UNRESOLVED', now, policy);
    case 'halted':
      return escalated(step, isWindowOver(step, now, policy) ? 'REVERSAL_EXPIRED' : 'HALTED_TOO_LONG', now, policy);
    case 'awaiting_approval':
      return (
        askedAgain(step, now, policy) ??
        escalated(step, isWindowOver(step, now, policy) ? 'REVERSAL_EXPIRED' : 'APPROVAL_TIMEOUT', now, policy)
      );
    case 'observing':
      return step.facts_ask !== null && step.facts_ask.round >= FACT_ROUNDS_MAX
        ? escalated(step, isCallErased(step) ? 'PAYLOADS_ERASED' : 'FACTS_NOT_OBSERVED', now, policy)
        : goOn(step, context);
    case 'approved':
    case 'waiting':
    case 'uncertain':
    case 'retrying':
      return goOn(step, context);
    case 'dispatched':
    case 'looking':
    case 'compensated':
    case 'not_needed':
    case 'manual':
    case 'denied':
    case 'resolved':
      return null;
    default:
      return assertNever(step.phase);
  }
}

/** Nobody showed the resource to whoever decides; null at the deadline, when nobody decided. */
function askedAgain(step: StepDoc, now: number, policy: RecoveryPolicy): RecoveryRecord | null {
  return step.deadline_at === null || now >= step.deadline_at ? null : askFacts(step, 'review', now, policy);
}

function isWindowOver(step: StepDoc, now: number, policy: RecoveryPolicy): boolean {
  return windowOf(refInForce(step, policy), step.terms, now, policy.marginMs) !== 'open';
}
