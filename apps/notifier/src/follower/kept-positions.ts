// A look at the store now and then: who reads quiet logs asks it nothing, and would not hear that it is away, or what it lost.
import type { NotifierStore } from '../store/notifier-store.port.js';
import type { LogFollower } from './log-follower.js';

interface Named {
  /** `topic/partition`. */
  readonly name: string;
  readonly follower: Pick<LogFollower, 'keptSeq' | 'forget'>;
}

/**
 * Has those read on from where the store stands of which it has less than they have read: its tables were made anew, or are those of a copy.
 *
 * Errors: Failure(DATABASE_UNAVAILABLE).
 */
export async function lookAt(store: Pick<NotifierStore, 'keptSeqs'>, followers: readonly Named[]): Promise<void> {
  const read = followers.map(({ name, follower }) => ({ name, follower, seq: follower.keptSeq }));
  const kept = await store.keptSeqs();
  for (const { name, follower, seq } of read) if ((kept.get(name) ?? 0) < seq) follower.forget();
}
