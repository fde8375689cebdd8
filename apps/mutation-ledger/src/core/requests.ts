// What workers are asked about forward actions, and whether it is still owed (L9, L11).
import type { Outgoing, StateView } from '@recourse/event-log';
import { bodyIn } from '@recourse/messages';
import type { HandleNamed, WorkerAsked } from '@recourse/messages';
import { HANDLE_NAMED } from './handles.part.js';
import { mutationIn } from '../rows/mutation.rows.js';
import type { Body } from '../rules/record.messages.js';

/** Topics of requests differ by adapter alone. */
const REQUESTS = 'recourse.tool-requests.payments';

/** One request per record that a worker was asked, in its own words. */
export function requestOf({ adapter, run_id, request }: Body<WorkerAsked>): Outgoing {
  return {
    obligationId: request.leg_id,
    topic: `recourse.tool-requests.${adapter}`,
    key: run_id,
    type: 'recourse.tools.LegRequested',
    body: { ...request },
  };
}

/** Owed as long as what it asks is open. */
export function isOwed(state: StateView, message: Outgoing, now: number): boolean {
  return message.type === HANDLE_NAMED ? isQuestionOwed(state, message) : isAskOwed(state, message, now);
}

function isQuestionOwed(state: StateView, { body }: Outgoing): boolean {
  const { run_id, mutation_id, ref } = body as unknown as HandleNamed; // handleQuestion made it
  const claim = mutationIn(state, run_id, mutation_id)?.claim;
  return claim?.ref === ref && claim.standing === 'asked';
}

/** As long as a worker may still take it. */
function isAskOwed(state: StateView, message: Outgoing, now: number): boolean {
  const { run_id, leg_id, lease_id, not_after, steps } = bodyIn(REQUESTS, 'LegRequested', {
    type: 'LegRequested',
    body: message.body,
  });
  const mutation = mutationIn(state, run_id, steps[0]?.step_id ?? '');
  const ask = mutation?.forward?.asks.find((one) => one.leg_id === leg_id && one.lease_id === lease_id);
  return ask?.answered === null && now < not_after;
}
