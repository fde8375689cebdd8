// Where a scheduler takes hold of the memory adapters: every operation asks before it takes effect.

export type GateKind = 'connect' | 'append' | 'wire' | 'read' | 'range' | 'assign' | 'deliver' | 'admin' | 'registry';

export interface GateOperation {
  readonly kind: GateKind;
  readonly actor: string;
  readonly topic?: string;
  readonly partition?: number;
  /** How many records it carries, where it carries any. */
  readonly count?: number;
}

/**
 * What happens to an operation.
 *
 * Shape:  `proceed`   it takes effect and is answered.
 *         `fail`      it takes no effect; a send to a log is answered `unknown`, everything else with a failure.
 *         `lose_ack`  it takes effect and is answered like `fail`.
 *         `late`      answered like `fail`; it takes effect when the scheduler releases it (`MemoryBroker.pendingLate`).
 *         `duplicate` it takes effect twice; the answer is that of the first.
 * Operations that write nothing know only `proceed` and `fail`; the others count as `fail`.
 */
export type GateVerdict = 'proceed' | 'fail' | 'lose_ack' | 'late' | 'duplicate';

/**
 * Decides when an operation goes on and what becomes of it.
 *
 * Implementations MUST settle `enter` only when the operation may take effect; the effect follows in the same turn.
 * `leave` is passed after the effect and before the answer: a crash there loses the answer.
 */
export interface Gate {
  enter(operation: GateOperation): Promise<GateVerdict>;
  leave?(operation: GateOperation, verdict: GateVerdict): Promise<void>;
}

/** Lets everything pass at once; deliveries take a turn of the event loop, so that a fast owner does not starve others. */
export const openGate: Gate = {
  enter: ({ kind }) =>
    kind === 'deliver'
      ? new Promise((resolve) => {
          setImmediate(resolve, 'proceed');
        })
      : Promise.resolve('proceed'),
};
