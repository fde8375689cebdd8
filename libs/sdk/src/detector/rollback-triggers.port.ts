// How a detector names one commit that should not stand.

/** One commit, and why it should not stand. */
export interface TriggerRequest {
  readonly tenant: string;
  readonly runId: string;
  /** A commit's id, or that of a mutation. */
  readonly commitId: string;
  readonly reason: string;
  /** The same trigger has the same key: it is one however often it is sent. */
  readonly idempotencyKey: string;
}

/** What became of a trigger. */
export type TriggerAnswer =
  | { readonly kind: 'taken' }
  /** It will not be taken however often it is sent: the code says why. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unavailable'; readonly cause: unknown };

/**
 * Takes triggers that name a commit.
 *
 * Implementations MUST answer `taken` only when the trigger is durable, and alike for the same key.
 * Implementations MUST NOT throw.
 */
export interface RollbackTriggers {
  trigger(request: TriggerRequest): Promise<TriggerAnswer>;
}
