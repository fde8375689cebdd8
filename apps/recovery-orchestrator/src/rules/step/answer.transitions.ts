// What the tool of a compensation answered, kept as long as its step: a later attempt, or a look, may find what an earlier call made.
import type { Observation } from '@recourse/messages';
import type { HeardAnswer } from './leg.messages.js';
import type { LastOutcome } from './last-outcome.messages.js';
import type { StepDoc } from './step.messages.js';

/** What the first call answered last, as its worker heard it; undefined where nobody heard an answer. */
export function answerOf(step: Pick<StepDoc, 'call' | 'last' | 'executed'>): HeardAnswer | undefined {
  const answer = heardIn(step, step.last);
  return answer === undefined || step.last === null ? step.executed : { attempt: step.last.attempt, answer };
}

/** The row with another outcome in the place of its last: an answer that this one does not hold is kept beside it. */
export function withOutcome(step: StepDoc, last: LastOutcome): StepDoc {
  const executed = heardIn(step, last) === undefined ? answerOf(step) : undefined;
  return { ...step, last, ...(executed === undefined ? {} : { executed }) };
}

function heardIn({ call }: Pick<StepDoc, 'call'>, outcome: LastOutcome | null): Observation | undefined {
  return outcome?.observations.findLast(
    (seen) => seen.phase === 'execute' && seen.call === 1 && seen.capability === call?.capability,
  );
}
