// What a worker's report does to a step. Pure: (steps, report, now) -> records.
//
// Invariants
//   T2. Only a report under a real lease moves a step, and only the orchestrator's judgement closes it.
import type { LegReported } from '@recourse/messages';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import { lookedAt } from './command.decisions.js';
import { escalated, isExhausted, reasonAfterLast, retryAt } from './dispatch.decisions.js';
import { changesOf, factChanged, factsObserved } from './facts.decisions.js';
import { goOn } from './halt.decisions.js';
import { judge } from './judgement.decisions.js';
import type { Judgement } from './judgement.decisions.js';
import { append, conclude, draft } from './step-draft.decisions.js';
import type { StepContext } from './step-draft.decisions.js';
import { identityOf } from './step.messages.js';
import type { FactsAsk, LegDoc, LookDoc, ReportRefusal, StepDoc } from './step.messages.js';
import { isAtRest } from './step.transitions.js';

/** Takes a worker's report. */
export function report(message: LegReported, context: StepContext): readonly RecoveryRecord[] {
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
  return onLease(step, leg, message, context);
}

function onLook(step: StepDoc, seen: LookDoc, message: LegReported, context: StepContext): readonly RecoveryRecord[] {
  if (seen.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  // A refusal by one copy proves nothing about another (L11).
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  return conclude(draft(step, context.now, ...lookedAt(step, seen, message, context.now, context.policy)), context);
}

/** What the resource is like: for whoever decides about the step, or compared with what they agreed to. */
function onFacts(step: StepDoc, ask: FactsAsk, message: LegReported, context: StepContext): readonly RecoveryRecord[] {
  const { now, policy } = context;
  if (ask.lease_id !== message.lease_id) return [refusedReport(message, 'LEASE_UNKNOWN')];
  if (message.steps.find((one) => one.step_id === step.step_id)?.outcome === 'refused_late')
    return [refusedReport(message, 'REFUSED_LATE')];
  const isAwaited = step.phase === (ask.purpose === 'review' ? 'awaiting_approval' : 'observing');
  if (!isAwaited) return [refusedReport(message, 'ALREADY_ANSWERED')];
  const told = draft(step, now, factsObserved(step, ask, message));
  if (ask.purpose === 'review') return told.records;
  const seen = told.step.last_seen;
  // The deadline of the look stands: it is asked again then, a few times.
  if (seen === null) return told.records;
  const changed = step.facts === null ? [] : changesOf(step, step.facts, seen);
  if (changed.length > 0) return append(told, factChanged(told.step, changed, null, now, policy), now).records;
  return conclude(append(told, goOn(told.step, { ...context, isObserved: true }), now), context);
}

function onLease(step: StepDoc, leg: LegDoc, message: LegReported, context: StepContext): readonly RecoveryRecord[] {
  const about = message.steps.find((one) => one.step_id === step.step_id);
  const isRepeated = leg.answered !== null && leg.answered === (about?.outcome ?? 'unknown');
  if (isAtRest(step.phase)) return isRepeated ? [] : [refusedReport(message, 'ALREADY_ANSWERED')];
  if (about?.outcome === 'refused_late') return [refusedReport(message, 'REFUSED_LATE')];
  const judgement = judge(step, about);
  if (step.phase === 'dispatched' && leg.attempt === step.attempt) return settle(step, leg, judgement, context);
  const isLateProof = judgement.outcome === 'compensated' && ['uncertain', 'retrying', 'halted'].includes(step.phase);
  if (isLateProof) return settle(step, leg, judgement, context);
  return isRepeated ? [] : [refusedReport(message, 'ATTEMPT_STALE')];
}

function settle(step: StepDoc, leg: LegDoc, judgement: Judgement, context: StepContext): readonly RecoveryRecord[] {
  const { now, policy } = context;
  const isOver = judgement.outcome === 'compensated';
  const isCopyFeared = judgement.outcome === 'uncertain';
  const isForPerson = judgement.outcome === 'stale' || (!isOver && !isCopyFeared && isExhausted(step));
  const outcome = record('StepOutcomeRecorded', {
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
  const told = draft(step, now, outcome);
  if (!isForPerson) return conclude(told, context);
  return conclude(append(told, escalated(told.step, reasonAfterLast(told.step), now, policy), now), context);
}

function refusedReport(message: LegReported, code: ReportRefusal): RecoveryRecord {
  return record('ReportRefused', {
    tenant: message.tenant,
    run_id: message.run_id,
    leg_id: message.leg_id,
    attempt: message.attempt,
    code,
  });
}
