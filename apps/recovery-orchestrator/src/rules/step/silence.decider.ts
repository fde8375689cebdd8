// What becomes of a leg that nobody answered in time. Pure.
import type { RecoveryRecord } from '../record.messages.js';
import { retryAt } from './dispatch.decisions.js';
import { conclude, draft } from './step-draft.decisions.js';
import type { StepContext } from './step-draft.decisions.js';
import type { StepDoc } from './step.messages.js';
import { settledBy, verdictOn } from './verdict.decisions.js';
import { SAID_NOTHING } from './worker-words.decisions.js';

/** Nobody answered a leg in time: whatever of it is still out is uncertain. */
export function silence(step: StepDoc, context: StepContext): readonly RecoveryRecord[] {
  const { now, policy, steps } = context;
  const leg = step.legs.at(-1);
  if (leg === undefined) return [];
  const members = steps
    .flatMap((one) => {
      const sent = one.legs.at(-1);
      return one.phase === 'dispatched' && sent?.leg_id === leg.leg_id ? [{ one, position: sent.position }] : [];
    })
    .sort((one, other) => one.position - other.position)
    .map(({ one }) => verdictOn(one, NO_ANSWER, retryAt(one, now, policy, false), null));
  return conclude(draft(step, now, settledBy(step, leg, members)), context);
}

const NO_ANSWER = {
  ...SAID_NOTHING,
  reported: null,
  outcome: 'uncertain',
  reason: 'NO_ANSWER',
  observations: [],
  calls_done: 0,
} as const;
