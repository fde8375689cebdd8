// A question before an effect as whoever decides is shown it: its row, its status, and which of the names in it read alike. Pure.
import { lookAlikes } from '@recourse/kernel';
import { forwardAnswer } from '../core/forward.part.js';
import type { ForwardStatus } from '../core/forward.part.js';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';

/** A question as it is shown. */
export type ForwardItem = ForwardDoc & {
  readonly status: ForwardStatus;
  /** Names that read alike, in groups. */
  readonly lookalikes: ReturnType<typeof lookAlikes>;
};

/** `shown` is the row as its reader may see it, `reader` the subject of whoever looks. */
export function forwardItem(doc: ForwardDoc, shown: ForwardDoc, reader: string): ForwardItem {
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
