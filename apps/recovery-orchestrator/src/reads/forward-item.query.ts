// A question before an effect as whoever decides is shown it: its row, its status, and which of the names in it read alike. Pure.
import { lookAlikes } from '@recourse/kernel';
import { forwardAnswer } from '../core/forward.part.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';

/** `shown` is the row as it is rendered, `reader` the subject of whoever looks. */
export function forwardItem(doc: ForwardDoc, shown: object, reader: string): Readonly<Record<string, unknown>> {
  const { status } = forwardAnswer(doc);
  return { ...shown, status, lookalikes: lookAlikes([...peopleOf(doc), reader]) };
}

/** Everybody the question names. */
function peopleOf(doc: ForwardDoc): readonly (string | null)[] {
  const { agent_id, initiator, answerable_to, requested_by, barred = [], approvals, routine, denied_by } = doc;
  const ruled = routine?.registered_by ?? null;
  return [
    agent_id,
    initiator,
    answerable_to,
    requested_by,
    ...barred,
    ruled,
    denied_by,
    ...approvals.map(({ by }) => by),
  ];
}
