// Reserving: what a call moves is set aside before it is made, in every unit at once.
//
// Boundary: asks the budget, and again while a person decides; calls nothing else.
import { reservationOf } from './action.js';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';
import type { GuardOptions } from './guard.messages.js';
import { objection, textOf, trouble } from './objections.js';
import type { Situation, Stop } from './objections.js';

/** All units in one round trip and one decision. What nobody can read is not reserved as if it were nothing. */
export async function reserve({ call, action, options }: Situation): Promise<Stop | null> {
  const { budget, contract } = options;
  if (budget === undefined) return null;
  const reserving = reservationOf(action, contract, call.reach ?? null);
  switch (reserving.kind) {
    case 'nothing':
      return null;
    case 'unread':
      return objection(
        options,
        trouble('CONSEQUENCE_UNREADABLE', `nothing says how much ${reserving.units.join(' and ')} the call moves`),
      );
    case 'reserve':
      return reservationStop(await reserved(reserving.request, budget, options), options);
  }
}

/** Asks, and asks again while a person decides, as long as the caller has patience. */
async function reserved(
  request: ReservationRequest,
  budget: Budget,
  { clock, budgetPatience }: GuardOptions,
): Promise<ReservationAnswer> {
  const { waitMs = 0, everyMs = ASK_AGAIN_MS } = budgetPatience ?? {};
  const until = clock.monotonic() + waitMs;
  let answer = await budget.reserve(request);
  while (answer.kind === 'escalated' && clock.monotonic() + everyMs <= until) {
    await clock.sleep(everyMs);
    answer = await budget.reserve(request);
  }
  return answer;
}

/** A person takes longer than this, and an answer is not kept waiting for more. */
const ASK_AGAIN_MS = 1_000;

function reservationStop(answer: ReservationAnswer, options: GuardOptions): Stop | null {
  switch (answer.kind) {
    case 'reserved':
      return null;
    case 'escalated':
      return objection(options, trouble('BUDGET_ESCALATED', answer.code));
    case 'refused':
      return objection(options, trouble('BUDGET_REFUSED', answer.code));
    case 'unavailable':
      return objection(options, trouble('BUDGET_UNAVAILABLE', textOf(answer.cause)));
  }
}
