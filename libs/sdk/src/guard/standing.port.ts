// What is on record about an effect: the guard asks before it calls a tool that may have been called before.
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';

/** What is on record about an effect. */
export type StandingAnswer =
  /** Nobody has told of it. */
  | { readonly kind: 'unrecorded' }
  | {
      readonly kind: 'recorded';
      readonly execution: ExecutionState;
      readonly recoverability: RecoverabilityState;
      /** Ends of its call that are on record, those that others found out among them. */
      readonly ends: number;
      /** Something it relied on proved false, or somebody took it back: it should not stand. */
      readonly fell: boolean;
    }
  /** No answer, or one that cannot be read. */
  | { readonly kind: 'unavailable'; readonly cause: unknown };

/**
 * Reads the record of one effect.
 *
 * Implementations MUST answer `recorded` for every effect whose intent or outcome the ledger has accepted.
 * Implementations MUST NOT throw, nor answer `unrecorded` when they could not ask: that is `unavailable` (P14).
 */
export interface Standing {
  of(mutationId: string): Promise<StandingAnswer>;
}
