// A call that was given up, and what its tool answers all the same.
//
// Boundary: waits in the background, and tells. Whoever called was answered `uncertain`, and hears it from the record.
import { textOf, trouble, withoutEffect } from './objections.js';
import type { Numbered } from './objections.js';
import type { Performed } from './perform.js';
import { counted } from './same-effect.js';

/**
 * Tells how a call ended that was given up as `uncertain`, once its tool comes back: the record says then what it did, and with which handle.
 *
 * Shape: the call counts as one that is under way until then, also for a connection that closes.
 */
export function tellLate(made: Numbered, late: Promise<Performed>): void {
  const { action, options } = made;
  const telling = counted(action, options, async () => {
    try {
      const { failure: _words, answered: _answered, ...ended } = await late;
      // So it was told when it was given up.
      if (ended.outcome === 'uncertain') return;
      await options.producer.toolExecuted(action, { ...ended, handledAs: null });
      if (ended.outcome === 'failed') await withoutEffect(made);
    } catch (cause) {
      options.onTrouble?.(trouble('OUTCOME_NOT_PUBLISHED', textOf(cause)));
    }
  });
  options.calls?.goesOn(telling);
}
