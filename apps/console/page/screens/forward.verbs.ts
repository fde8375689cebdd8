// What may be said to an agent that asks before it acts.
import { commanded, recoveries } from '../api/clients.js';
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { agreement } from './review.rules.js';
import { at, digestIn } from './verbs.js';
import type { Worded } from './verbs.js';

export const FORWARD_VERBS: Worded = { approve, deny };

function approve(row: Row, id: string): Verb {
  return {
    name: 'Approve',
    key: 'a',
    isMain: true,
    happens: [...leadsTo(row), 'You agree to what is on the screen and to nothing else.'],
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/forward-approvals/{id}/approve', {
          ...at(id, key),
          body: { action_digest: digestIn(row), reason },
        }),
      ),
  };
}

function deny(row: Row, id: string): Verb {
  // An approval is taken back as long as nobody has used it.
  const happens =
    textIn(row, 'phase') === 'approved'
      ? 'What was agreed to is taken back. Unless it is used first, the agent is told no and does not act.'
      : 'The agent is told no and does not act.';
  return {
    name: 'Deny',
    key: 'd',
    happens: [happens],
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/forward-approvals/{id}/deny', {
          ...at(id, key),
          body: { action_digest: digestIn(row), reason },
        }),
      ),
  };
}

/** What agreeing leads to: nothing yet where others have to agree as well. */
function leadsTo(row: Row): readonly string[] {
  const more = agreement(listIn(row, 'approvals').length, numberIn(row, 'required_approvals') ?? 1);
  return more === null
    ? ['The agent may do exactly this, once.']
    : [more, 'Only then may the agent do exactly this, once.'];
}
