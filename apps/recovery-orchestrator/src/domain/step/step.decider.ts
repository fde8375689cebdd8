// Decides what happens to a step: opened, approved, denied, reported on, due. Pure: (step, input, now) -> records.
//
// Invariants
//   T1. A decision is whole: what follows at once (dispatch, escalation, close of the recovery) is in it.
//   T2. Only a report under a real lease moves a step, and only the orchestrator's judgement closes it.
//   T3. Whatever is not at rest has a timer.
import { assertNever, deriveId } from '@recourse/kernel';
import type {
  AbandonStep,
  ApproveStep,
  BreakGlass,
  CheckStep,
  CloseTask,
  DenyStep,
  Evidence,
  LegReported,
  ResolveStep,
  RetryStep,
  StepDecision,
  StepReport,
} from '@recourse/messages';
import type { Contract } from '@recourse/contract';
import { dependentsOf } from '../lineage/dependents.decisions.js';
import { dispatchableUntil } from '../lease/lease.decisions.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { plainPayload } from '@recourse/contract';
import { abandon, look, lookedAt, lookMissed, reopen } from './command.decisions.js';
import { approvalRefusal, denialRefusal, resolutionRefusal } from './approval.decisions.js';
import { escalated, isExhausted, reasonAfterLast, retryAt } from './dispatch.decisions.js';
import { breakGlass } from './glass.decisions.js';
import {
  askFacts,
  changesOf,
  FACT_ROUNDS_MAX,
  factChanged,
  factsObserved,
  lacksFacts,
  reaffirmedBy,
} from './facts.decisions.js';
import { goOn } from './halt.decisions.js';
import type { Going } from './halt.decisions.js';
import { judge } from './judgement.decisions.js';
import type { Judgement } from './judgement.decisions.js';
import { advanceStep, openStep } from './opening.decisions.js';
import type { Marked } from './opening.decisions.js';
import { rebound, replaced } from './rebinding.decisions.js';
import { closeTask, taskRefusal, tasksFor } from '../task/task.decider.js';
import { isStepRecord, stepAfter } from './step-row.transitions.js';
import { fact, identityOf } from './step.messages.js';
import type {
  Fact,
  FactsAsk,
  LegDoc,
  LookDoc,
  Refusal,
  ReportRefusal,
  StepDoc,
  StepPhase,
  TaskDoc,
} from './step.messages.js';
import { isAtRest, isSettled } from './step.transitions.js';

/** What every decision about a step needs beside the step. */
export interface StepContext extends Going {
  /** The contract with a digest; null when nobody knows it. */
  readonly contractOf: (digest: Buffer) => Contract | null;
  /** Who wrote or confirmed that contract, and its newest version. */
  readonly editorsOf: (digest: Buffer) => readonly string[];
}

/** A step with the records decided so far, folded into it. */
interface Draft {
  readonly step: StepDoc;
  readonly facts: readonly Fact[];
}

/** Opens the step of a marked commit. A commit that was marked before is left alone. */
export function open(marked: Marked, context: StepContext): readonly Fact[] {
  const { now, policy } = context;
  const body = openStep(marked, now, policy, {
    contract: marked.terms === null ? null : context.contractOf(marked.terms.contract_digest),
    steps: context.steps,
  });
  if (context.steps.some((step) => step.step_id === body.step_id)) return [];
  const decided = fact('StepDecided', body);
  return carriedOut({ step: stepAfter(undefined, 'StepDecided', decided.body, now), facts: [decided] }, body, context);
}

/** Phases in which nothing of the step has an effect of its own yet, or a person has it. */
const DECIDED_ANEW: readonly StepPhase[] = ['held', 'not_needed', 'manual', 'looking'];

/**
 * Decides again about a commit that was marked: its execution turned out after all (DESIGN 6.3, life goes on).
 *
 * Shape:  only a step without an effect of its own is decided anew. What a person has stays theirs, with the facts of now; of
 *         a step beyond that the ledger has nothing more to tell: it stands on an execution that succeeded.
 */
export function advance(step: StepDoc, marked: Marked, context: StepContext): readonly Fact[] {
  if (!DECIDED_ANEW.includes(step.phase)) return [];
  const { now, policy } = context;
  const body = advanceStep(marked, now, policy, {
    contract: marked.terms === null ? null : context.contractOf(marked.terms.contract_digest),
    steps: context.steps,
  });
  const draft = followed({ step, facts: [] }, fact('MutationAdvanced', body), now);
  const isPersons = step.phase === 'looking' || (isAtRest(step.phase) && isAtRest(draft.step.phase));
  return isPersons ? draft.facts : carriedOut(draft, body, context);
}

/** What a decision means at once. */
function carriedOut(
  draft: Draft,
  { decision, reason }: { readonly decision: StepDecision; readonly reason: string },
  context: StepContext,
): readonly Fact[] {
  const { now, policy } = context;
  switch (decision) {
    case 'compensate_now':
      return concluded(followed(draft, goOn(draft.step, context), now), context);
    case 'manual_review': {
      const given = followed(draft, escalated(draft.step, reason, now, policy), now);
      const work = tasksFor(given.step, reason, now, policy);
      return concluded(work === null ? given : followed(given, work, now), context);
    }
    case 'request_approval':
    case 'reconcile_first':
    case 'retry_forward':
      return concluded(draft, context);
    default:
      return assertNever(decision);
  }
}

export interface Approved {
  readonly facts: readonly Fact[];
  readonly step: StepDoc;
  readonly approvalId: string;
}

/** Takes an approval; the last one needed dispatches in the same decision. */
export function approve(step: StepDoc, command: ApproveStep, context: StepContext): Approved | Refusal {
  const { now } = context;
  const refusal = approvalRefusal(step, command, context);
  if (refusal !== null) return refusal;
  const { command_id: commandId, principal } = command.envelope;
  const approvalId = deriveId('apr', commandId);
  const given = fact('StepApproved', {
    ...identityOf(step),
    approval_id: approvalId,
    action_digest: command.action_digest,
    by: principal,
    reason: command.reason,
    command_id: commandId,
  });
  const draft = followed({ step, facts: [] }, given, now);
  const done = draft.step.phase === 'approved' ? followed(draft, goOn(draft.step, context), now) : draft;
  return { facts: concluded(done, context), step: done.step, approvalId };
}

/** Takes it that somebody broke the glass; with the second person it goes in the same decision. */
export function breakOpen(step: StepDoc, command: BreakGlass, context: StepContext): readonly Fact[] | Refusal {
  const broken = breakGlass(step, command, context);
  if ('code' in broken) return broken;
  const draft = followed({ step, facts: [] }, broken, context.now);
  return concluded(
    draft.step.phase === 'approved' ? followed(draft, goOn(draft.step, context), context.now) : draft,
    context,
  );
}

/** Takes a denial: the commit stays rolled back, nothing is called. */
export function deny(step: StepDoc, command: DenyStep, context: StepContext): readonly Fact[] | Refusal {
  const refusal = denialRefusal(step, command);
  if (refusal !== null) return refusal;
  const { command_id: commandId, principal } = command.envelope;
  const denied = fact('StepDenied', {
    ...identityOf(step),
    action_digest: command.action_digest,
    by: principal,
    reason: command.reason,
    command_id: commandId,
  });
  return concluded(followed({ step, facts: [] }, denied, context.now), context);
}

/** Takes a person's word that an item was closed by hand. Nothing becomes compensated by it: that needs an observation (A65). */
export function resolve(step: StepDoc, command: ResolveStep, context: StepContext): readonly Fact[] | Refusal {
  const refusal = resolutionRefusal(step, command);
  if (refusal !== null) return refusal;
  const { resolution, evidence, reason, envelope } = command;
  const resolved = fact('StepResolved', {
    ...identityOf(step),
    resolution,
    evidence,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
    verified: false,
  });
  return wakened(followed({ step, facts: [] }, resolved, context.now), context);
}

/** Tries again what a person was given; where nobody has to agree it goes at once. */
export function retry(step: StepDoc, command: RetryStep, context: StepContext): readonly Fact[] | Refusal {
  const reopened = reopen(step, command, context.now, context.policy);
  if ('code' in reopened) return reopened;
  const draft = followed({ step, facts: [] }, reopened, context.now);
  return concluded(
    draft.step.phase === 'approved' ? followed(draft, goOn(draft.step, context), context.now) : draft,
    context,
  );
}

/** Has a worker look. */
export function check(step: StepDoc, command: CheckStep, context: StepContext): readonly Fact[] | Refusal {
  const sent = look(step, command, context.now, context.policy);
  return 'code' in sent ? sent : [sent];
}

/** Gives a step up: nothing is called any more, and it is accepted as it is. */
export function giveUp(step: StepDoc, command: AbandonStep, context: StepContext): readonly Fact[] | Refusal {
  const { now, policy } = context;
  const refusal = abandon(step, command, now);
  if (refusal !== null) return refusal;
  const {
    envelope: { principal: by, command_id },
    reason,
  } = command;
  const given =
    step.phase === 'manual'
      ? { step, facts: [] }
      : followed({ step, facts: [] }, escalated(step, 'ABANDONED', now, policy), now);
  const over = followed(
    given,
    fact('StepResolved', {
      ...identityOf(step),
      resolution: 'accepted',
      evidence: plainPayload({ abandoned: reason }),
      by,
      reason,
      command_id,
      verified: false,
    }),
    now,
  );
  return step.phase === 'manual' ? wakened(over, context) : concluded(over, context);
}

/** Ends a task of people; whoever waited for its step goes on. */
export function endTask(task: TaskDoc, command: CloseTask, context: StepContext): readonly Fact[] | Refusal {
  const refusal = taskRefusal(task, command);
  if (refusal !== null) return refusal;
  const step = context.steps.find((one) => one.step_id === task.step_id);
  const facts = closeTask(task, step, command);
  if (step === undefined) return facts;
  return wakened(
    facts.reduce<Draft>((draft, next) => followed(draft, next, context.now), { step, facts: [] }),
    context,
  );
}

/** Takes a worker's report. */
export function report(message: LegReported, context: StepContext): readonly Fact[] {
  const looking = context.steps.find((one) => one.tenant === message.tenant && one.look?.leg_id === message.leg_id);
  if (looking !== undefined && looking.look !== null) return onLook(looking, looking.look, message, context);
  const relying = context.steps.find(
    (one) => one.tenant === message.tenant && one.facts_ask?.leg_id === message.leg_id,
  );
  if (relying !== undefined && relying.facts_ask !== null) return onFacts(relying, relying.facts_ask, message, context);
  const step = context.steps.find(
    (one) => one.tenant === message.tenant && one.legs.some((leg) => leg.leg_id === message.leg_id),
  );
  const leg = step?.legs.find((one) => one.leg_id === message.leg_id);
  if (step === undefined || leg === undefined || leg.lease_id !== message.lease_id)
    return [refusedReport(message, 'LEASE_UNKNOWN')];
  if (leg.attempt !== message.attempt) return [refusedReport(message, 'ATTEMPT_STALE')];
  const about = message.steps.find((one) => one.step_id === step.step_id);
  return onLease(step, leg, message, about, context);
}

function onLook(step: StepDoc, seen: LookDoc, message: LegReported, context: StepContext): readonly Fact[] {
  if (seen.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  // A refusal by one copy proves nothing about another (L11).
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  const facts = lookedAt(step, seen, message, context.now, context.policy);
  return concluded(
    facts.reduce<Draft>((draft, next) => followed(draft, next, context.now), { step, facts: [] }),
    context,
  );
}

/** What the resource is like: for whoever decides about the step, or compared with what they agreed to. */
function onFacts(step: StepDoc, ask: FactsAsk, message: LegReported, context: StepContext): readonly Fact[] {
  const { now, policy } = context;
  if (ask.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  const isAwaited = step.phase === (ask.purpose === 'review' ? 'awaiting_approval' : 'observing');
  if (!isAwaited) return [refusedReport(message, 'ALREADY_ANSWERED')];
  const draft = followed({ step, facts: [] }, factsObserved(step, ask, message), now);
  if (ask.purpose === 'review') return draft.facts;
  const seen = draft.step.last_seen;
  // The deadline of the look stands: it is asked again then, a few times.
  if (seen === null) return draft.facts;
  const changed = step.facts === null ? [] : changesOf(step, step.facts, seen);
  if (changed.length > 0) return followed(draft, factChanged(draft.step, changed, null, now, policy), now).facts;
  return concluded(followed(draft, goOn(draft.step, { ...context, isObserved: true }), now), context);
}

/** The assumption is said to hold again. */
export function reaffirm(step: StepDoc, evidence: Evidence, { now, policy }: StepContext): readonly Fact[] {
  const changed = reaffirmedBy(step, evidence, now, policy);
  return changed === null ? [] : [changed];
}

/** What a due step does. A timer that was overtaken does nothing. */
export function due(step: StepDoc, dueAt: number, context: StepContext): readonly Fact[] {
  const { now } = context;
  if (step.due_at !== dueAt || now < dueAt) return [];
  const next = atDeadline(step, context);
  return next === null ? [] : concluded(followed({ step, facts: [] }, next, now), context);
}

/** Children of its effect in other runs came to rest, `dependents` says which: whoever waited for them alone goes on. */
export function childrenSettled(mutationIds: readonly string[], tenant: string, context: StepContext): readonly Fact[] {
  let { steps } = context;
  const facts: Fact[] = [];
  for (const mutationId of mutationIds) {
    const waiting = steps.find(
      (step) =>
        step.tenant === tenant &&
        step.mutation_id === mutationId &&
        step.phase === 'waiting' &&
        step.reason === 'CHILDREN',
    );
    if (waiting === undefined || dependentsOf(waiting, context.dependentsIn(waiting.run_id)).length > 0) continue;
    const made = concluded(followed({ step: waiting, facts: [] }, goOn(waiting, { ...context, steps }), context.now), {
      ...context,
      steps,
    });
    facts.push(...made);
    for (const { type, body } of made)
      if (isStepRecord(type))
        steps = steps.map((step) =>
          step.step_id === body['step_id'] ? stepAfter(step, type, body, context.now) : step,
        );
  }
  return facts;
}

/** A halted step, after the switches changed: it goes on, or stays halted for another one. */
export function resume(step: StepDoc, context: StepContext): readonly Fact[] {
  return step.phase === 'halted'
    ? concluded(followed({ step, facts: [] }, goOn(step, context), context.now), context)
    : [];
}

/** The window of a mutation closed: who still waits for a person or for the forward action is told now. */
export function closeWindow(step: StepDoc, context: StepContext): readonly Fact[] {
  if (!WAITS_FOR_OTHERS.includes(step.phase)) return [];
  return concluded(
    followed({ step, facts: [] }, escalated(step, 'REVERSAL_EXPIRED', context.now, context.policy), context.now),
    context,
  );
}

/** Phases in which nothing is under way that the window's end would have to be told to. */
const WAITS_FOR_OTHERS: readonly StepPhase[] = ['awaiting_approval', 'held', 'waiting', 'halted', 'observing'];

function atDeadline(step: StepDoc, context: StepContext): Fact | null {
  const { now, policy } = context;
  switch (step.phase) {
    case 'held':
      return escalated(
        step,
        step.reason === 'STEP_RESULT_PENDING' ? 'STEP_RESULT_MISSING' : 'FORWARD_UNRESOLVED',
        now,
        policy,
      );
    case 'halted':
      return escalated(step, isWindowOver(step, now, policy) ? 'REVERSAL_EXPIRED' : 'HALTED_TOO_LONG', now, policy);
    case 'awaiting_approval':
      return escalated(step, isWindowOver(step, now, policy) ? 'REVERSAL_EXPIRED' : 'APPROVAL_TIMEOUT', now, policy);
    case 'dispatched':
      return silent(step, now, policy);
    case 'observing':
      return step.facts_ask !== null && step.facts_ask.round >= FACT_ROUNDS_MAX
        ? escalated(step, 'FACTS_NOT_OBSERVED', now, policy)
        : goOn(step, context);
    case 'looking':
      return step.look === null ? null : lookMissed(step, step.look, now, policy);
    case 'approved':
    case 'waiting':
    case 'uncertain':
    case 'retrying':
      return goOn(step, context);
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

function isWindowOver(step: StepDoc, now: number, policy: RecoveryPolicy): boolean {
  const endsAt = step.ref.reversal_expires_at;
  return (
    endsAt === null ||
    step.terms === null ||
    now >= dispatchableUntil(endsAt, step.terms.call_timeout_ms, policy.marginMs)
  );
}

function silent(step: StepDoc, now: number, policy: RecoveryPolicy): Fact {
  const legId = step.legs.at(-1)?.leg_id ?? '';
  return fact('StepUncertain', {
    ...identityOf(step),
    leg_id: legId,
    attempt: step.attempt,
    reason: 'NO_ANSWER',
    retry_at: retryAt(step, now, policy, false),
  });
}

function onLease(
  step: StepDoc,
  leg: LegDoc,
  message: LegReported,
  about: StepReport | undefined,
  context: StepContext,
): readonly Fact[] {
  const isRepeated = leg.answered !== null && leg.answered === (about?.outcome ?? 'unknown');
  if (isAtRest(step.phase)) return isRepeated ? [] : [refusedReport(message, 'ALREADY_ANSWERED')];
  if (about?.outcome === 'refused_late') return [refusedReport(message, 'REFUSED_LATE')];
  const judgement = judge(step, about);
  if (step.phase === 'dispatched' && leg.attempt === step.attempt) return settle(step, leg, judgement, context);
  const isLateProof = judgement.outcome === 'compensated' && ['uncertain', 'retrying', 'halted'].includes(step.phase);
  if (isLateProof) return settle(step, leg, judgement, context);
  return isRepeated ? [] : [refusedReport(message, 'ATTEMPT_STALE')];
}

function settle(step: StepDoc, leg: LegDoc, judgement: Judgement, context: StepContext): readonly Fact[] {
  const { now, policy } = context;
  const isOver = judgement.outcome === 'compensated';
  const isCopyFeared = judgement.outcome === 'uncertain';
  const isForPerson = judgement.outcome === 'stale' || (!isOver && !isCopyFeared && isExhausted(step));
  const outcome = fact('StepOutcomeRecorded', {
    ...identityOf(step),
    leg_id: leg.leg_id,
    attempt: leg.attempt,
    ...judgement,
    assumption_refs: step.ref.assumption_refs,
    reverses_call_id: step.ref.original_call_id,
    reverses_mutation_ref: step.mutation_id,
    reverses_record_hash: step.reverses_record_hash,
    retry_at: isOver ? null : retryAt(step, now, policy, isCopyFeared),
    outcome_kind: isOver ? 'reversed' : isForPerson ? null : 'retry_scheduled',
  });
  const draft = followed({ step, facts: [] }, outcome, now);
  if (!isForPerson) return concluded(draft, context);
  return concluded(followed(draft, escalated(draft.step, reasonAfterLast(draft.step), now, policy), now), context);
}

function refusedReport(message: LegReported, code: ReportRefusal): Fact {
  return fact('ReportRefused', {
    tenant: message.tenant,
    run_id: message.run_id,
    leg_id: message.leg_id,
    attempt: message.attempt,
    code,
  });
}

function followed(draft: Draft, next: Fact, now: number): Draft {
  const step = isStepRecord(next.type) ? stepAfter(draft.step, next.type, next.body, now) : draft.step;
  return { step, facts: [...draft.facts, next] };
}

/** Goes on with the steps that waited for what a person has closed; a recovery that was closed stays so. */
function wakened(draft: Draft, context: StepContext): readonly Fact[] {
  const { recovery_id: recoveryId } = draft.step;
  const isOpen = context.steps.some((one) => one.recovery_id === recoveryId && !isAtRest(one.phase));
  return isOpen ? concluded(draft, context) : draft.facts;
}

/** Whoever is to decide about a step is shown the resource as it is. */
function looksFor(steps: readonly StepDoc[], { now, policy }: StepContext): readonly Fact[] {
  return steps.flatMap((step) => (lacksFacts(step) ? (askFacts(step, 'review', now, policy) ?? []) : []));
}

/** Goes on with the steps that waited for this one, then adds the close of the recovery when none is open any more. */
function concluded(draft: Draft, context: StepContext): readonly Fact[] {
  const woken = isAtRest(draft.step.phase)
    ? rebound(draft.step, { ...context, steps: replaced(context.steps, draft.step) })
    : { steps: replaced(context.steps, draft.step), facts: [] };
  const { recovery_id, rollback_id, tenant, run_id } = draft.step;
  const all = woken.steps.filter((one) => one.recovery_id === recovery_id);
  const facts = [...draft.facts, ...woken.facts, ...looksFor(all, context)];
  if (!all.every((one) => isAtRest(one.phase))) return facts;
  const outcome = all.every((one) => isSettled(one.phase)) ? 'compensated' : 'manual';
  return [...facts, fact('RecoveryClosed', { recovery_id, rollback_id, tenant, run_id, outcome })];
}
