// Tells people how far a slow leg has come. What is told here is told again by the report at the end, so that any of it may be lost.
import type { Clock } from '@recourse/kernel';
import type { StepReport } from '@recourse/messages';

export interface ProgressOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Gets the steps that ended so far. It MUST NOT reject. */
  readonly tell: (steps: readonly StepReport[]) => Promise<void>;
}

/** A leg that is watched. */
export interface Watch {
  readonly onStep: (steps: readonly StepReport[]) => void;
  /** Nothing more is told. */
  readonly end: () => void;
}

/**
 * Tells every `everyMs` what ended, if something did since the last time.
 *
 * Shape: one telling at a time; a leg that ends sooner is never told of.
 */
export function watchLeg({ clock, everyMs, tell }: ProgressOptions): Watch {
  let ended: readonly StepReport[] = [];
  let [told, isTelling] = [0, false];
  let callOff = clock.alarm(everyMs, tick);

  function tick(): void {
    callOff = clock.alarm(everyMs, tick);
    if (isTelling || ended.length === told) return;
    [told, isTelling] = [ended.length, true];
    void tell([...ended]).then(() => {
      isTelling = false;
    });
  }

  return {
    onStep: (steps) => {
      ended = steps;
    },
    end: () => {
      callOff();
    },
  };
}
