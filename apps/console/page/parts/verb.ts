// What may be done about a thing, as its window asks for it and sends it.
import type { Outcome } from '../api/outcome.js';
import type { Said } from './sending.rules.js';

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, says: string])[];
}

export interface Note {
  readonly name: string;
  readonly label: string;
  readonly isRequired?: boolean;
  /** Asked only where a choice is this one. */
  readonly when?: readonly [choice: string, value: string];
}

export interface Verb {
  /** On the button, and at the head of the window. */
  readonly name: string;
  /** What will happen, sentence by sentence. */
  readonly happens: readonly string[];
  /** An instant, counted down under these words while the window is open; null where none is known. Epoch milliseconds. */
  readonly left?: { readonly says: string; readonly until: number | null };
  readonly isGrave?: boolean;
  readonly isMain?: boolean;
  /** Fields beside the reason. */
  readonly choices?: readonly Choice[];
  /** Longer texts that the verb asks for, such as evidence. */
  readonly notes?: readonly Note[];
  /** Text that has to be typed, so that nobody does it by accident. */
  readonly typed?: string;
  /** Nobody keeps a reason of it, so none is asked for. */
  readonly isUnexplained?: boolean;
  /** A button that is there and cannot be pressed says why. */
  readonly blocked?: string | null;
  readonly key?: string;
  /** Is it still as it was read? Nothing is sent where it is not. Errors: ApiProblem(CHANGED_MEANWHILE); those of reading. */
  readonly still?: () => Promise<void>;
  /** Sends it. Errors: ApiProblem. */
  readonly send: (said: Said) => Promise<Outcome>;
}
