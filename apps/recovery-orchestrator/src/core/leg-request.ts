// The request a dispatch sends, and whether it is still owed (L9, L11).
import type { CoreTable, Outgoing, StateView } from '@recourse/event-log';
import { TRACEPARENT, traceparentOf } from '@recourse/kernel';
import { bodyIn, rollbackIdOf } from '@recourse/messages';
import type { LegRequested } from '@recourse/messages';
import type { RECOVERIES_LOG } from '../rules/record.messages.js';
import { askOf } from '../rules/step/dispatch.decisions.js';
import { readRow } from '../rows/kinds.js';
import { DECISION, legSpan } from './spans.js';
import type { SpanPlace } from './spans.js';
import type { Body } from '../rules/record.messages.js';

/** Topics of requests differ by adapter alone. */
const REQUESTS = 'recourse.tool-requests.payments';
/** Why workers are called (C10). */
const CALL_REASON = 'agent_effect_compensation';
/** Why workers look. */
const LOOK_REASON = 'agent_effect_observation';

/** What a request asks for, whoever is to answer it. */
type Request = Omit<LegRequested, 'for_observer'>;

/** One request per dispatch, in the words of the record alone. */
export const LEG_REQUESTS: NonNullable<CoreTable<typeof RECOVERIES_LOG>['sends']> = {
  LegDispatched: (leg) => [legRequest(leg)],
  LookDispatched: (look) => [lookRequest(look)],
  FactsAsked: (ask) => [factsRequest(ask)],
};

function legRequest(leg: Body<'LegDispatched'>): Outgoing {
  const request: Request = {
    leg_id: leg.leg_id,
    kind: 'compensate',
    tenant: leg.tenant,
    run_id: leg.run_id,
    attempt: leg.attempt,
    lease_id: leg.lease_id,
    not_after: leg.not_after,
    reconcile_first: leg.reconcile_first,
    reason: CALL_REASON,
    steps: leg.members.map(({ step }) => step),
  };
  // What the worker calls hangs below the first of them: a request has one place in one trace.
  const [head] = leg.members;
  return head === undefined
    ? outgoing(leg.adapter, request)
    : {
        ...outgoing(leg.adapter, request),
        headers: placedIn({ ...head, tenant: leg.tenant }, legSpan(leg.attempt, 'answered')),
      };
}

function outgoing(adapter: string, asked: Request, for_observer = false): Outgoing {
  const request: LegRequested = { ...asked, for_observer };
  return {
    obligationId: request.leg_id,
    topic: `recourse.tool-requests.${adapter}`,
    key: request.run_id,
    type: 'recourse.tools.LegRequested',
    body: { ...request },
  };
}

/** Looks change nothing: the capability that observes, and the condition that must hold. */
function lookRequest(look: Body<'LookDispatched'>): Outgoing {
  const request: Request = {
    leg_id: look.leg_id,
    kind: 'observe',
    tenant: look.tenant,
    run_id: look.run_id,
    attempt: 1,
    lease_id: look.lease_id,
    not_after: look.not_after,
    reconcile_first: false,
    reason: LOOK_REASON,
    steps: [askOf(look)],
  };
  return { ...outgoing(look.adapter, request, look.not_by !== null), headers: placedIn(look, DECISION) };
}

/** The worker's calls hang below this span of the rollback's trace. */
function placedIn(
  { tenant, mutation_id }: { readonly tenant: string; readonly mutation_id: string },
  span: SpanPlace,
): Readonly<Record<string, string>> {
  return { [TRACEPARENT]: traceparentOf(rollbackIdOf(tenant, mutation_id), span) };
}

/** A look at the resource: the capability of the stale-state check, and no condition to meet. */
function factsRequest(ask: Body<'FactsAsked'>): Outgoing {
  const step = askOf(ask);
  const request: Request = {
    leg_id: ask.leg_id,
    kind: 'observe',
    tenant: ask.tenant,
    run_id: ask.run_id,
    attempt: ask.round,
    lease_id: ask.lease_id,
    not_after: ask.not_after,
    reconcile_first: false,
    reason: LOOK_REASON,
    steps: [
      {
        ...step,
        // The resource as it is now has one look, however many calls undo it.
        call: { ...step.call, then: [] },
        verify_capability: step.stale_capability,
        success_condition: step.stale_condition,
      },
    ],
  };
  return outgoing(ask.adapter, request);
}

/** Owed as long as its step is out with this attempt and a worker may still take it. */
export function isLegOwed(state: StateView, message: Outgoing, now: number): boolean {
  const request = bodyIn(REQUESTS, 'LegRequested', { type: 'LegRequested', body: message.body });
  return now < request.not_after && request.steps.some(({ step_id }) => isStepOut(state, request, step_id));
}

function isStepOut(state: StateView, { run_id, leg_id, attempt }: LegRequested, stepId: string): boolean {
  const step = readRow(state, 'step', run_id, stepId);
  if (step?.facts_ask?.leg_id === leg_id) return true;
  if (step?.phase === 'looking') return step.look?.leg_id === leg_id;
  return step?.phase === 'dispatched' && step.attempt === attempt;
}
