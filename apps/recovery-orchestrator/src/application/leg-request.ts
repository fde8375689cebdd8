// The request a dispatch sends, and whether it is still owed (L9, L11).
import type { AcceptedRecord, Outgoing, StateView } from '@recourse/event-log';
import { TRACEPARENT, traceparentOf } from '@recourse/kernel';
import type { LegRequested, LegStep } from '@recourse/messages';
import type { FactBodies } from '../domain/step/step.messages.js';
import { bodyOf } from '../domain/step/step-row.transitions.js';
import { rollbackIdOf } from '../domain/rollback/rollback.decider.js';
import { readRow } from './recoveries.kinds.js';
import { DECISION, legSpan } from './recoveries.spans.js';
import type { SpanPlace } from './recoveries.spans.js';

/** Why workers are called (C10). */
const CALL_REASON = 'agent_effect_compensation';
/** Why workers look. */
const LOOK_REASON = 'agent_effect_observation';

/** One request per dispatch, in the words of the record alone. */
export function legRequests(record: AcceptedRecord): readonly Outgoing[] {
  if (record.type === 'LookDispatched') return [lookRequest(bodyOf('LookDispatched', record.body))];
  if (record.type === 'FactsAsked') return [factsRequest(bodyOf('FactsAsked', record.body))];
  if (record.type !== 'LegDispatched') return [];
  const leg = bodyOf('LegDispatched', record.body);
  const { terms } = leg;
  const request: LegRequested = {
    leg_id: leg.leg_id,
    kind: 'compensate',
    tenant: leg.tenant,
    run_id: leg.run_id,
    attempt: leg.attempt,
    lease_id: leg.lease_id,
    not_after: leg.not_after,
    call_timeout_ms: terms.call_timeout_ms,
    reconcile_first: leg.reconcile_first,
    reason: CALL_REASON,
    steps: [stepOf(leg)],
  };
  return [
    {
      obligationId: leg.leg_id,
      topic: `recourse.tool-requests.${leg.adapter}`,
      key: leg.run_id,
      type: 'recourse.tools.LegRequested',
      body: { ...request },
      headers: placedIn(leg, legSpan(leg.attempt, 'answered')),
    },
  ];
}

/** Looks change nothing: the capability that observes, and the condition that must hold. */
function lookRequest(look: FactBodies['LookDispatched']): Outgoing {
  const request: LegRequested = {
    leg_id: look.leg_id,
    kind: 'observe',
    tenant: look.tenant,
    run_id: look.run_id,
    attempt: 1,
    lease_id: look.lease_id,
    not_after: look.not_after,
    call_timeout_ms: look.terms.call_timeout_ms,
    reconcile_first: false,
    reason: LOOK_REASON,
    steps: [stepOf(look)],
  };
  return {
    obligationId: look.leg_id,
    topic: `recourse.tool-requests.${look.adapter}`,
    key: look.run_id,
    type: 'recourse.tools.LegRequested',
    body: { ...request },
    headers: placedIn(look, DECISION),
  };
}

/** The worker's calls hang below this span of the rollback's trace. */
function placedIn(
  { mutation_id }: { readonly mutation_id: string },
  span: SpanPlace,
): Readonly<Record<string, string>> {
  return { [TRACEPARENT]: traceparentOf(rollbackIdOf(mutation_id), span) };
}

/** A look at the resource: the capability of the stale-state check, and no condition to meet. */
function factsRequest(ask: FactBodies['FactsAsked']): Outgoing {
  const step = stepOf(ask);
  const request: LegRequested = {
    leg_id: ask.leg_id,
    kind: 'observe',
    tenant: ask.tenant,
    run_id: ask.run_id,
    attempt: ask.round,
    lease_id: ask.lease_id,
    not_after: ask.not_after,
    call_timeout_ms: ask.terms.call_timeout_ms,
    reconcile_first: false,
    reason: LOOK_REASON,
    steps: [{ ...step, verify_capability: step.stale_capability, success_condition: step.stale_condition }],
  };
  return {
    obligationId: ask.leg_id,
    topic: `recourse.tool-requests.${ask.adapter}`,
    key: ask.run_id,
    type: 'recourse.tools.LegRequested',
    body: { ...request },
  };
}

function stepOf({
  step_id,
  call,
  terms,
  ref,
}: Pick<FactBodies['LegDispatched'], 'step_id' | 'call' | 'terms' | 'ref'>): LegStep {
  return {
    step_id,
    call,
    subject_ref: ref.subject_ref,
    external_transaction_ref: ref.external_transaction_ref,
    key_lifetime_ms: terms.key_lifetime_ms,
    reconcile_capability: terms.reconcile_capability,
    stale_capability: terms.stale_capability,
    stale_condition: terms.stale_condition,
    verify_capability: terms.verify_capability,
    success_condition: terms.success_condition,
    verify_max_attempts: terms.verify_max_attempts,
    verify_delay_ms: terms.verify_delay_ms,
  };
}

/** Owed as long as its step is out with this attempt and a worker may still take it. */
export function isLegOwed(state: StateView, message: Outgoing, now: number): boolean {
  const request = requestOf(message);
  const stepId = request.steps[0]?.step_id;
  const step = stepId === undefined ? undefined : readRow(state, 'step', request.run_id, stepId);
  if (step?.facts_ask?.leg_id === request.leg_id) return now < request.not_after;
  if (step?.phase === 'looking') return step.look?.leg_id === request.leg_id && now < request.not_after;
  return step?.phase === 'dispatched' && step.attempt === request.attempt && now < request.not_after;
}

function requestOf(message: Outgoing): LegRequested {
  // legRequests alone makes the messages of this log.
  return message.body as unknown as LegRequested;
}
