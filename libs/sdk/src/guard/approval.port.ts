// Asking people before an effect whose contract wants them asked.
import type { ForwardAction } from '@recourse/contract';
import type { Json } from '@recourse/kernel';

/** What people are asked before a forward action. */
export interface ApprovalRequest extends ForwardAction {
  /** Who may never approve it; null when unknown. */
  readonly initiator: string | null;
  readonly agentId: string;
  /** What the run is for: nobody is asked without one; null when it says nothing. */
  readonly objective: string | null;
  readonly mode: 'human' | 'dual_control';
  /** SHA-256, hex: an approval covers exactly this action (P4). */
  readonly actionDigest: string;
  /** What the tool said it would do; null when it has no dry run. */
  readonly rehearsal: Json;
  /** Attempt of the effect, from 1: an approval is used by one. */
  readonly attempt: number;
}

/** What people said to a forward action, or why they could not be asked. */
export type ApprovalAnswer =
  | { readonly kind: 'approved'; readonly actionDigest: string }
  /** Nobody has decided yet; asking again is how one learns of it. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly cause: unknown };

/**
 * Asks for a forward approval, or for what became of one.
 *
 * Implementations MUST give one question per (tenant, run, effect key, action digest), however often it is asked.
 * A request that asks more people than the question stands for opens it anew: implementations MUST NOT answer it with what fewer agreed to.
 * Implementations MUST NOT throw, nor approve an action whose digest is another's: a changed action is a new question.
 */
export interface Approvals {
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
}
