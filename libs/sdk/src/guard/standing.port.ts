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
 * Implementations MUST answer `recorded` for every effect whose intent or outcome the broker has acknowledged, or `unavailable` until the
 * ledger has read it: another host may have made the call.
 * Implementations MUST NOT throw, nor answer `unrecorded` when they could not ask: that is `unavailable` (P14).
 */
export interface Standing {
  /** `runId`: the run of the call; what was told of it is read before anything is said to be unrecorded. */
  of(mutationId: string, runId: string): Promise<StandingAnswer>;
}
