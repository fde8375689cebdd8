// The cases of the crash matrix: where a recovery stands, what happens, and to whom.

/**
 * Moments of one recovery, in their order. Each lies between two things that are seen from outside:
 *
 *   dispatched      its leg is in the log and on the wire; its worker has not asked the provider anything
 *   taken           the worker's look at the refund has left; the provider has not seen it
 *   stale checked   the provider has answered the look; the worker has not heard
 *   act asked       the reversal has left the worker; the provider has not seen it
 *   act done        the provider has moved the money; the worker has not heard
 *   verify asked    the look afterwards has left; the provider has not seen it
 *   verify seen     the provider has answered it; the worker has not heard
 *   reported        the report is on the wire; no outcome is in the log
 *   recorded        the outcome is in the orchestrator's log; the ledger's has no end
 */
export const MATRIX_POINTS = [
  'dispatched',
  'taken',
  'stale checked',
  'act asked',
  'act done',
  'verify asked',
  'verify seen',
  'reported',
  'recorded',
] as const;
export type MatrixPoint = (typeof MATRIX_POINTS)[number];

/** `pause`: SIGSTOP for longer than every session lasts, then SIGCONT. */
export const ACTIONS = ['kill -9', 'stop', 'pause'] as const;
export type Action = (typeof ACTIONS)[number];

export const MATRIX_TARGETS = ['recovery-orchestrator', 'worker', 'kafka', 'postgres'] as const;
export type MatrixTarget = (typeof MATRIX_TARGETS)[number];

export interface MatrixCase {
  readonly point: MatrixPoint;
  readonly action: Action;
  readonly target: MatrixTarget;
}

/** Every point with every action on every target, point by point. */
export const WHOLE_MATRIX: readonly MatrixCase[] = MATRIX_POINTS.flatMap((point) =>
  ACTIONS.flatMap((action) => MATRIX_TARGETS.map((target) => ({ point, action, target }))),
);
