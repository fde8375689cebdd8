// What of that which is offered about a step whoever reads may do: the edge's table and the decider's refusals, asked beforehand.
//
// Boundary: pure; holds no rule of its own. What is refused here the command would be refused with.
import type { Verb } from '@recourse/messages';
import { approvalRefusal, resolutionRefusal } from '../rules/step/approval.decisions.js';
import { abandonRefusal, personOnly } from '../rules/step/command.decisions.js';
import { breakingRefusal } from '../rules/step/glass.decisions.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import type { ReviewItem, Seen } from './review-item.messages.js';

type Asked = Pick<Seen, 'reader' | 'now' | 'marginMs' | 'ofOpen'>;

/** What the decider refuses somebody, by the word of the route; whoever has the role may do the others. */
const REFUSALS: Readonly<Record<string, (step: StepDoc, asked: Asked) => Refusal | null>> = {
  approve: agreeing(approvalRefusal),
  'break-glass': agreeing(breakingRefusal),
  abandon: (step, { reader, now }) =>
    abandonRefusal(
      step,
      { envelope: reader, reason: 'whichever they give' },
      { now, editorsOf: reader.editorsOf, policy: reader },
    ),
  resolve: (step, { reader }) =>
    resolutionRefusal(
      step,
      { envelope: reader, resolution: 'accepted' },
      { editorsOf: reader.editorsOf, policy: reader },
    ),
  retry: (_step, { reader }) => personOnly(reader),
  check: (_step, { reader }) => personOnly(reader),
};

/** To what they would agree is the action as it is read. */
function agreeing(refusalOf: typeof approvalRefusal) {
  return (step: StepDoc, { reader, now, marginMs, ofOpen }: Asked): Refusal | null =>
    step.action_digest === null
      ? null
      : refusalOf(
          step,
          { envelope: reader, action_digest: step.action_digest },
          { now, editorsOf: reader.editorsOf, policy: { ownersOf: reader.ownersOf, marginMs, ofOpen } },
        );
}

/** Parts what is offered about a step into what the reader may do and what they may not. */
export function forReader(verbs: readonly Verb[], step: StepDoc, asked: Asked): Pick<ReviewItem, 'may' | 'may_not'> {
  const judged = verbs.map(({ route }) => {
    const word = route.slice(route.lastIndexOf('/') + 1);
    const refusal = asked.reader.refusedAt(route.replace(' ', ' /')) ?? REFUSALS[word]?.(step, asked) ?? null;
    return { word, refusal };
  });
  return {
    may: judged.flatMap(({ word, refusal }) => (refusal === null ? [word] : [])),
    may_not: judged.flatMap(({ word, refusal }) =>
      refusal === null ? [] : [{ word, code: refusal.code, message: refusal.message }],
    ),
  };
}
