// Outcomes of work, as a part of the accountant's core.
import { append, NOTHING } from '@recourse/event-log';
import type { Asked, Decision } from '@recourse/event-log';
import type { OutcomeRecorded } from '@recourse/messages';
import { isTrusted, outcomeProblem } from '../rules/outcomes/outcome.decisions.js';
import { toldIdOf } from '../rows/autonomy.rows.js';
import { hashOfSaid, misplacedTelling, refusedTelling, toldBefore } from './tellings.js';

/** Somebody says what a piece of work cost and what came of it. */
export function onOutcome({ body, input, context }: Asked<OutcomeRecorded>): Decision {
  const misplaced = misplacedTelling(input, body, 'outcome');
  if (misplaced !== null) return misplaced;
  const hash = hashOfSaid(body);
  const before = toldBefore(context.state, body, hash);
  if (before === 'same') return NOTHING;
  const problem = before === 'other' ? 'SIGNAL_CONFLICT' : outcomeProblem(body, context.now);
  if (problem !== null) return append(refusedTelling({ ...body, signal: 'outcome' }, hash, problem));
  const { tenant, source, event_id } = body;
  const outcome_id = toldIdOf(tenant, source, event_id);
  return append({
    type: 'OutcomeCounted',
    body: { ...body, outcome_id, content_hash: hash, trusted: isTrusted(body) },
  });
}
