// What of that which is offered about a thing whoever reads may do: the edge's table and the decider's refusals, asked beforehand.
//
// Boundary: pure; holds no rule of its own. What is refused here the command would be refused with.
import { VERBS } from '@recourse/messages';
import type { Verb } from '@recourse/messages';
import { offersOf } from '@recourse/service';
import type { Offers, Reader } from '@recourse/service';
import { forwardRefusal } from '../rules/forward/forward.decider.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { approvalRefusal, resolutionRefusal } from '../rules/step/approval.decisions.js';
import { abandonRefusal, personOnly } from '../rules/step/command.decisions.js';
import { breakingRefusal } from '../rules/step/glass.decisions.js';
import { incidentRefusal } from '../rules/step/step-commands.decider.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import type { Refusal } from '../rules/refusal.messages.js';
import { authorRefusal } from '../rules/task/task.decider.js';
import type { IncidentDoc, TaskDoc } from '../rules/task/task.messages.js';
import type { Seen } from './review-item.messages.js';

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
export function forReader(verbs: readonly Verb[], step: StepDoc, asked: Asked): Offers {
  return parted(verbs, asked.reader, (word) => REFUSALS[word]?.(step, asked) ?? null);
}

/** What this reader may say about a question before an effect. To what they would agree is the action as it is read. */
export function wordsOfQuestion(question: ForwardDoc, { reader, now }: Pick<Asked, 'reader' | 'now'>): Offers {
  const { action_digest, phase } = question;
  const context = { now, editorsOf: reader.editorsOf, policy: reader };
  return parted(offeredIn('approval_id', phase), reader, (word) =>
    forwardRefusal(question, { envelope: reader, verdict: word === 'approve' ? word : 'deny', action_digest }, context),
  );
}

/** Whether this reader may end a task of people; what has to be said then is asked of whoever ends it. */
export function wordsOfTask(task: TaskDoc, step: StepDoc, reader: Reader): Offers {
  const context = { editorsOf: reader.editorsOf, policy: reader };
  return parted(offeredIn('task_id', task.phase), reader, () => authorRefusal(task, step, reader, context));
}

/** Whether this reader may end an incident. */
export function wordsOfIncident(incident: IncidentDoc, step: StepDoc, reader: Reader): Offers {
  const context = { editorsOf: reader.editorsOf, policy: reader };
  return parted(offeredIn('incident_id', incident.phase), reader, () =>
    incidentRefusal(incident, step, reader, context),
  );
}

/** What is offered about a thing of this kind, by the phases in the schemas of its commands. */
function offeredIn(id: string, phase: string): readonly Verb[] {
  return VERBS.filter((verb) => verb.id === id && verb.offered?.includes(phase) === true);
}

function parted(verbs: readonly Verb[], reader: Reader, refusalOf: (word: string) => Refusal | null): Offers {
  return offersOf(
    verbs.map(({ route }) => {
      const word = route.slice(route.lastIndexOf('/') + 1);
      return { word, refusal: reader.refusedAt(route.replace(' ', ' /')) ?? refusalOf(word) };
    }),
  );
}
