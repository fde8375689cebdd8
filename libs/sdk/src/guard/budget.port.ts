// Asking the budget before acting.
import type { Excess, Money, Reach } from '@recourse/messages';

/** What is to be reserved of a budget. */
export interface ReservationRequest {
  readonly tenant: string;
  readonly runId: string;
  readonly effectKey: string;
  readonly capability: string;
  /** For kill switches over it; null when unknown. */
  readonly agentId: string | null;
  /** Whom the agent acts for: never who lets it spend more; null when unknown. */
  readonly initiator: string | null;
  /** What the run is for: nobody is asked to let more be spent without one; null when it says nothing. */
  readonly objective: string | null;
  /** What the call moves, by unit: money in its currency, and what is counted. */
  readonly values: readonly Money[];
  /** Business subject, for caps on subjects; null where the call names none. */
  readonly subjectRef: string | null;
  /** How far the call reaches, where that is more than one subject; null where it does not say. */
  readonly reach: Reach | null;
  /** Which attempt of the effect it is for, from 1; absent where nobody counts, which is the first. */
  readonly attempt?: number;
}

/** What became of a reservation. */
export type ReservationAnswer =
  | {
      readonly kind: 'reserved';
      readonly reservationId: string;
      /** Whom the rung that the agent has earned wants asked, beside whom the contract asks; absent: nobody. */
      readonly forwardApproval?: 'human' | 'dual_control';
    }
  /** It would exceed a ceiling or a cap, which `exceeded` names where that is told; a person decides. */
  | {
      readonly kind: 'escalated';
      readonly code: string;
      readonly escalationId?: string;
      readonly exceeded?: readonly Excess[];
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message?: string }
  /** No answer: what happened to the request is not known. */
  | { readonly kind: 'unavailable'; readonly cause: unknown };

/**
 * Reserves before an action, in every unit at once, and gives back what was reserved for one that did not happen.
 *
 * Implementations MUST give the same answer to a repeated reservation of the same (tenant, run, effect key), unless a person
 * has decided since. A later attempt goes on with what an earlier one holds, and what that one gives back from then on stays.
 * Implementations MUST NOT throw: what cannot be asked is `unavailable`, and counts as not reserved (P14).
 */
export interface Budget {
  reserve(request: ReservationRequest): Promise<ReservationAnswer>;
  release(request: ReservationRequest): Promise<'released' | 'unavailable'>;
}
