// The request a dispatch sends, and whether it is still owed (L9, L11).
import type { AcceptedRecord, Outgoing, StateView } from '@recourse/event-log';
import type { LegRequested } from '@recourse/messages';
import { bodyOf } from '../domain/step/step-row.transitions.js';
import { readRow } from './recoveries.kinds.js';

/** Why workers are called (C10). */
const CALL_REASON = 'agent_effect_compensation';

/** One request per dispatch, in the words of the record alone. */
export function legRequests(record: AcceptedRecord): readonly Outgoing[] {
  if (record.type !== 'LegDispatched') return [];
  const leg = bodyOf('LegDispatched', record.body);
  const { terms, ref } = leg;
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
    steps: [{
      step_id: leg.step_id,
      call: leg.call,
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
    }],
  };
  return [{ obligationId: leg.leg_id, topic: `recourse.tool-requests.${leg.adapter}`, key: leg.run_id, type: 'recourse.tools.LegRequested', body: { ...request } }];
}

/** Owed as long as its step is out with this attempt and a worker may still take it. */
export function isLegOwed(state: StateView, message: Outgoing, now: number): boolean {
  const request = requestOf(message);
  const stepId = request.steps[0]?.step_id;
  const step = stepId === undefined ? undefined : readRow(state, 'step', request.run_id, stepId);
  return step?.phase === 'dispatched' && step.attempt === request.attempt && now < request.not_after;
}

function requestOf(message: Outgoing): LegRequested {
  // legRequests alone makes the messages of this log.
  return message.body as unknown as LegRequested;
}
