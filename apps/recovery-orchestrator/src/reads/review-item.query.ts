// What a person sees of a step before deciding (C55 to C63): structured facts, then and now, and the few things that may be done.
//
// Boundary: pure; reads the row of the step, its place and the clock. Adds nothing that no record says.
//
// Invariants
//   R1. Every text is rendered here, from the bytes an approval covers: nothing in it is unseen, turned around or passes for
//       another letter, and what is long is folded with its hash. The name of its run alone is as it is: it is followed from here,
//       and whoever shows it makes it inert.
//   R2. What an agent wrote in prose stands apart, as not to be trusted.
import { capabilitiesOf } from '@recourse/contract';
import { lookAlikes, traceIdOf } from '@recourse/kernel';
import { VERBS } from '@recourse/messages';
import type { Observation, ReversalCall, Verb } from '@recourse/messages';
import { refInForce } from '../rules/decision/in-force.decisions.js';
import { callsMs, dispatchableUntil } from '../rules/decision/recovery.decisions.js';
import { isKeyKnown, mayRepeat } from '../rules/step/dispatch.decisions.js';
import { factsLacked } from '../rules/step/readiness.decisions.js';
import type { KeptWords } from '../rules/step/last-outcome.messages.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { FACTS_NEEDED } from './review-item.messages.js';
import type {
  FactNeeded,
  ReviewItem,
  Seen,
  ShownCall,
  ShownObservation,
  ShownStatement,
  ShownWords,
} from './review-item.messages.js';
import { forReader } from './reader.rules.js';
import { WHY, whyTwo } from './review-words.js';
import { isSealedForReader, isUnreadable, shown } from './shown-payload.js';
import { foldedText, shownDoc } from './shown-text.js';

/** Shows a step to a person. */
export function reviewItem(step: StepDoc, seen: Seen): ReviewItem {
  return { ...shownDoc<ReviewItem>(itemOf(step, seen)), run_id: step.run_id };
}

function itemOf(step: StepDoc, seen: Seen): ReviewItem {
  const { execution, ref } = step;
  const missing = missingOf(step);
  return {
    step_id: step.step_id,
    recovery_id: step.recovery_id,
    rollback_id: step.rollback_id,
    mutation_id: step.mutation_id,
    tenant: step.tenant,
    run_id: step.run_id,
    phase: step.phase,
    ready: missing.length === 0,
    missing,
    reason: step.reason,
    why: WHY[step.reason] ?? step.reason,
    owner: step.owner,
    deadline_at: step.deadline_at,
    untrusted: { objective: execution.objective === null ? null : foldedText(execution.objective) },
    proposed_by: proposerOf(step),
    action: actionOf(step, seen),
    resource: { subject_ref: ref.subject_ref, external_ref: ref.external_transaction_ref },
    facts: factsOf(step),
    forward: forwardOf(step),
    reconciliation: reconciliationOf(step),
    compensation_mode: step.terms?.compensation ?? null,
    lacking: step.call === null ? step.lacking : [],
    compensation: compensationOf(step),
    approvals: {
      given: step.approvals.map(({ by, at, reason }) => ({ by, at, reason })),
      required: step.required_approvals,
      why_two: whyTwo(step),
    },
    denied: step.denied_by === null ? null : { by: step.denied_by, ...step.denied_for },
    action_digest: step.action_digest?.toString('hex') ?? null,
    time_left_ms: timeLeft(step, seen),
    lookalikes: lookAlikes([...peopleOf(step), seen.reader.principal]),
    ...forReader(offered(step, missing, seen), step, seen),
    links: linksOf(step, seen),
  };
}

/** Everybody the item names. */
function peopleOf({
  execution,
  answerable_to,
  approvals,
  glass,
  evidence,
  denied_by,
}: StepDoc): readonly (string | null)[] {
  const agreed = [...approvals, ...glass].map(({ by }) => by);
  return [execution.agent_id, execution.initiator, answerable_to, evidence.source, denied_by, ...agreed];
}

function proposerOf({ execution }: StepDoc): ReviewItem['proposed_by'] {
  return {
    agent_id: execution.agent_id,
    initiator: execution.initiator,
    run_step_id: execution.step_id,
    call_id: execution.call_id,
    decision: execution.produced_by === null ? null : foldedText(execution.produced_by),
    release: execution.release,
  };
}

function actionOf({ execution, terms }: StepDoc, { agreedBy }: Seen): ReviewItem['action'] {
  return {
    capability: execution.capability,
    effect: terms?.effect ?? null,
    args: shown(execution.args),
    value: execution.value,
    rehearsal: execution.rehearsal === null ? null : shown(execution.rehearsal),
    agreed_by: agreedBy,
  };
}

type Statement = Pick<StepDoc['evidence'], 'source' | 'stated_at' | 'statement'>;

function factsOf({ evidence, ref, facts, facts_before: before, changed, reaffirmed }: StepDoc): ReviewItem['facts'] {
  return {
    resource: {
      seen: facts === null ? null : shownObservation(facts),
      before: before === null ? null : shownObservation(before),
    },
    changed,
    reaffirmed: reaffirmed === null ? null : statementOf(reaffirmed),
    then: { refs: ref.assumption_refs, at: ref.committed_at },
    now: { ref: evidence.ref, ...statementOf(evidence) },
  };
}

function statementOf({ source, stated_at, statement }: Statement): ShownStatement {
  return { source, stated_at, statement: statement === null ? null : shown(statement) };
}

/** An item about which somebody would have to decide by prose alone is not ready. */
function missingOf(step: StepDoc): readonly FactNeeded[] {
  const { execution, evidence, call } = step;
  const lacked = factsLacked(step);
  const lacks: Readonly<Record<FactNeeded, boolean>> = {
    objective: lacked.includes('objective'),
    'action.args': isUnreadable(execution.args),
    resource: lacked.includes('resource'),
    'facts.then': lacked.includes('facts.then'),
    'facts.now':
      lacked.includes('facts.now') ||
      (evidence.ref === null && evidence.statement !== null && isUnreadable(evidence.statement)),
    reconciliation: step.attempt > 0 && step.last === null && step.phase !== 'dispatched',
    'compensation.args': call !== null && [call, ...call.then].some(({ args }) => isUnreadable(args)),
  };
  return FACTS_NEEDED.filter((fact) => lacks[fact]);
}

/** What its phase and its facts leave to do. Who cannot see the facts may still refuse, and nobody agrees blindly. */
function offered(step: StepDoc, missing: readonly FactNeeded[], seen: Seen): readonly Verb[] {
  const { phase, call, terms } = step;
  const { now, marginMs } = seen;
  const compensation = call !== null && terms !== null;
  // What another one has given since is bound when it is tried again.
  const isRetriable = compensation || step.reason === 'STEP_RESULT_MISSING';
  const window = isRetriable && timeLeft(step, seen) !== 0 && isRecognised(step, now, marginMs);
  const isWhole = missing.length === 0 && !isSealedForReader(step.execution.args);
  const has = { facts: isWhole, compensation, window };
  return VERBS.filter(({ id, offered: phases }) => id === 'step_id' && phases?.includes(phase) === true).filter(
    ({ needs }) => needs === undefined || has[needs],
  );
}

/** The tool would recognise the call, or nobody has made it yet; where the time of the log was set right, the command says so. */
function isRecognised(step: StepDoc, now: number, marginMs: number): boolean {
  const { attempt, terms } = step;
  if (attempt === 0 || terms === null) return true;
  return mayRepeat(step, terms) && isKeyKnown(step, terms, now, { marginMs, earliest: (at) => at });
}

function linksOf(
  { mutation_id, run_id, step_id, rollback_id, decision_record: record }: StepDoc,
  { log, partition, traceUrl }: Seen,
): ReviewItem['links'] {
  const at = encodeURIComponent;
  const traceId = traceIdOf(rollback_id);
  return {
    mutation: { service: 'mutation-ledger', path: `/v1/mutations/${at(mutation_id)}` },
    recovery: { service: 'recovery-orchestrator', path: `/v1/recoveries?run_id=${at(run_id)}` },
    record: {
      service: 'recovery-orchestrator',
      path: `/v1/steps/${at(step_id)}`,
      log,
      partition,
      seq: record?.seq ?? null,
      record_hash: record?.record_hash.toString('hex') ?? null,
    },
    trace: { trace_id: traceId, url: traceUrl?.replace('{trace_id}', traceId) ?? null },
  };
}

function forwardOf({ execution_state: state, found_out: found }: StepDoc): ReviewItem['forward'] {
  if (found === null) return { state, found_out: null };
  const { leg_id: _leg, observations, ...told } = found;
  return { state, found_out: { ...told, observations: observations.map(shownObservation) } };
}

function reconciliationOf(step: StepDoc): ReviewItem['reconciliation'] {
  const { last } = step;
  if (last === null) return null;
  return {
    outcome: last.outcome,
    reason: last.reason,
    attempt: last.attempt,
    calls: callsOf(step),
    ...shownWords(last),
    looked:
      last.looked === undefined ? null : { reason: last.looked.reason, at: last.looked.at, ...shownWords(last.looked) },
    observations: last.observations.map(shownObservation),
  };
}

/** A worker's words are a text of somebody else: shown as what tools answered is. */
function shownWords({ error_kind, said }: KeptWords): ShownWords {
  return { error_kind: error_kind ?? null, said: said === undefined ? null : shown(said) };
}

/** What had been done of several calls, and where it stopped. */
function callsOf({ call, calls_done: done }: StepDoc): NonNullable<ReviewItem['reconciliation']>['calls'] {
  if (call === null || call.then.length === 0) return null;
  const all = capabilitiesOf(call);
  return { done: all.slice(0, done), stopped_at: all[done] ?? null };
}

function compensationOf({ call, terms, in_force }: StepDoc): ReviewItem['compensation'] {
  if (call === null || terms === null) return null;
  const { impact, risk, risk_level, residue, stale_condition, success_condition } = terms;
  return {
    capability: call.capability,
    args: shown(call.args),
    impact,
    risk,
    risk_level,
    in_force,
    residue,
    stale_condition,
    success_condition,
    then: call.then.map(shownCall),
  };
}

function shownCall({ capability, args, taken, success_condition }: ReversalCall): ShownCall {
  return { capability, args: shown(args), taken, success_condition };
}

function timeLeft(step: StepDoc, { now, marginMs, ofOpen }: Seen): number | null {
  const endsAt = refInForce(step, { ofOpen }).reversal_expires_at;
  if (endsAt === null || step.terms === null) return null;
  return Math.max(0, dispatchableUntil(endsAt, callsMs(step.ref, step.terms), marginMs) - now);
}

function shownObservation({ phase, call, capability, observed, observed_at }: Observation): ShownObservation {
  return { phase, call, capability, observed: shown(observed), observed_at };
}
