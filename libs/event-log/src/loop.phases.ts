// The life of a partition loop as a table.
//
//   starting      reads its own log's tail and the store
//   catching_up   decides, and sends nothing: its inputs are not read to the end seen at the start (L10)
//   open          decides and sends
//   halted        stopped by a bug of chain, cursor or fence, or by a log that lost records; a person acts
import { InvariantViolation } from '@recourse/kernel';

export const LOOP_PHASES = ['starting', 'catching_up', 'open', 'halted'] as const;
export type LoopPhase = (typeof LOOP_PHASES)[number];

export const LOOP_EVENTS = ['Recovered', 'CaughtUp', 'Reset', 'Halted'] as const;
export type LoopLifeEvent = (typeof LOOP_EVENTS)[number];

/** Phase after each event; `null` is history that cannot exist. */
export const LOOP_PHASE_AFTER = {
  starting: { Recovered: 'catching_up', CaughtUp: null, Reset: 'starting', Halted: 'halted' },
  catching_up: { Recovered: null, CaughtUp: 'open', Reset: 'starting', Halted: 'halted' },
  open: { Recovered: null, CaughtUp: null, Reset: 'starting', Halted: 'halted' },
  halted: { Recovered: null, CaughtUp: null, Reset: 'halted', Halted: 'halted' },
} as const satisfies Record<LoopPhase, Record<LoopLifeEvent, LoopPhase | null>>;

/** Phases that no event leaves. */
export const LOOP_ENDS: readonly LoopPhase[] = ['halted'];

/** Where one loop stands. Whoever awaits remembers `epoch`: it grows with every reset. */
export class LoopLife {
  #phase: LoopPhase = 'starting';
  #epoch = 0;

  get phase(): LoopPhase {
    return this.#phase;
  }
  get epoch(): number {
    return this.#epoch;
  }

  /** Rows, head and cursors in memory are those of the log. */
  get isPositioned(): boolean {
    return this.#phase === 'catching_up' || this.#phase === 'open';
  }
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Errors: InvariantViolation for history that cannot exist. */
  move(event: LoopLifeEvent): void {
    const next = LOOP_PHASE_AFTER[this.#phase][event];
    if (next === null) throw new InvariantViolation('loop phases', `${event} in ${this.#phase}`, 'partition');
    this.#phase = next;
    if (event === 'Reset') this.#epoch += 1;
  }
}
