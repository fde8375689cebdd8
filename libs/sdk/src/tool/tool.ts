// A tool as the worker calls it.
import type { Json } from '@recourse/kernel';
import type { ObservationPhase } from '@recourse/messages';

/** What a tool is told besides its arguments. */
export interface ToolContext {
  readonly runId: string;
  readonly tenant: string;
  readonly callId: string;
  /** Same on every attempt; the provider deduplicates by it where it can. */
  readonly idempotencyKey: string;
  readonly reason: string;
  /** From 1; the fencing token where the provider takes one. */
  readonly attempt: number;
  readonly phase: ObservationPhase;
  /** What is called or looked at: the agent's own call, or one that undoes it. Their arguments may look alike. */
  readonly about: 'forward' | 'compensation';
  readonly subjectRef: string | null;
  readonly externalTransactionRef: string | null;
  /**
   * What the look right before the call saw, where the contract compares by version, etag or compare_and_swap: the tool MUST
   * write only if the resource is still so, and throw ToolConflict otherwise. Absent in every other call.
   */
  readonly expected?: Json;
}

/**
 * Calls the outside world once and answers what came back.
 *
 * Implementations MUST throw ToolRejected only when they know that the call had no effect; any other error counts as
 * "nobody knows". Implementations MUST NOT retry an effect under another key.
 */
export type Tool = (args: Json, context: ToolContext) => Promise<Json>;

/** Thrown by a tool that knows its call had no effect: refused, not sent. */
export class ToolRejected extends Error {
  override readonly name = 'ToolRejected';
  constructor(
    readonly kind: string,
    detail: string,
    options?: { readonly cause?: unknown },
  ) {
    super(detail, options);
  }
}

/**
 * Thrown by a tool whose conditional write lost: somebody else changed the resource, and its call had no effect.
 *
 * Shape: a person decides, and nothing is tried again. A ToolRejected of the kind STALE, PRECONDITION_FAILED or
 *        VERSION_CONFLICT is read alike.
 */
export class ToolConflict extends ToolRejected {
  constructor(detail: string, options?: { readonly cause?: unknown }) {
    super('VERSION_CONFLICT', detail, options);
  }
}
