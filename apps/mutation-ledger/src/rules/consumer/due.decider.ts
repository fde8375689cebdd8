// Who has to hear of a rollback: the subscriptions that stood when the commit was marked, by their scopes (E17, E18).
import { isInScope, subscriptionsOf } from '@recourse/contract';
import type { ContractEntries, StandingSubscription } from '@recourse/contract';
import type { DueConsumer } from '@recourse/messages';
import type { AckWaits, Scoped } from './consumer.messages.js';

/** A synchronous consumer holds up its users, so its silence is reported soon; a poll may come once a day. Milliseconds. */
export const ACK_WAITS: AckWaits = { sync: 5_000, async: 60_000, poll: 86_400_000 };

/** The stricter mode of two comes first. */
const STRICTNESS = ['sync', 'async', 'poll'] as const;

/**
 * Consumers whose scope covers a commit, each once, in order of their names.
 *
 * Shape:  of several subscriptions of one consumer the one with the strictest mode counts, then the first by name.
 * Units:  `now` and the deadlines are epoch milliseconds of database time.
 * Source: E18; the list is recorded with the mark, so that it says for ever who had to hear.
 */
export function dueConsumers(
  view: ContractEntries,
  who: Scoped,
  now: number,
  waits: AckWaits = ACK_WAITS,
): readonly DueConsumer[] {
  const due = new Map<string, StandingSubscription>();
  for (const one of subscriptionsOf(view, who.tenant)) {
    if (!isInScope(one.scope, who)) continue;
    const other = due.get(one.consumer);
    if (other === undefined || isStricter(one, other)) due.set(one.consumer, one);
  }
  return [...due.values()]
    .sort((a, b) => (a.consumer < b.consumer ? -1 : 1))
    .map(({ name, consumer, mode, commit_to_user_ms }) => ({
      subscription: name,
      consumer,
      mode,
      ack_by: now + waits[mode],
      commit_to_user_ms,
    }));
}

function isStricter(one: StandingSubscription, other: StandingSubscription): boolean {
  return STRICTNESS.indexOf(one.mode) < STRICTNESS.indexOf(other.mode);
}
