// Whether the mode of a consumer fits how soon its users see what it makes of commits, judged by what was measured (E39, E40).
import type { SubscriptionMode } from '@recourse/messages';

/** What was measured of one consumer in one mode. */
export interface Measured {
  readonly mode: SubscriptionMode;
  /** Shortest time from commit to user that it declared, milliseconds. */
  readonly commit_to_user_ms: number;
  /** From mark to acknowledgement, milliseconds; null without one. */
  readonly p99_ms: number | null;
  /** Emissions that went out after the commit they rest on was marked. */
  readonly late_emissions: number;
}

export interface Fit {
  readonly misfit: boolean;
  /** Why it is one; null when it is none. */
  readonly why: 'SLOWER_THAN_ITS_USERS' | 'EMITTED_AFTER_THE_MARK' | null;
  /** Mode that would fit; null where no other would. */
  readonly advice: 'sync' | null;
}

/** Judges one consumer. What went out late is worse than what could have. Pure. */
export function fitOf({ mode, commit_to_user_ms, p99_ms, late_emissions }: Measured): Fit {
  const advice = mode === 'sync' ? null : 'sync';
  if (late_emissions > 0) return { misfit: true, why: 'EMITTED_AFTER_THE_MARK', advice };
  // A synchronous one holds its users up for as long as it takes.
  if (advice !== null && p99_ms !== null && p99_ms > commit_to_user_ms)
    return { misfit: true, why: 'SLOWER_THAN_ITS_USERS', advice };
  return { misfit: false, why: null, advice: null };
}
