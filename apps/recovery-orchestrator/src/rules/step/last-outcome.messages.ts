// What an attempt showed, as the row of its step keeps it.
import type { Observation, Payload, StepOutcome, StepVerdict } from '@recourse/messages';

/** What the last answered or silent attempt showed: the reconciliation result of the review item (C59). */
export type LastOutcome = {
  readonly attempt: number;
  /** Null when nobody answered. */
  readonly reported: StepOutcome | null;
  readonly outcome: Exclude<StepVerdict, 'not_begun'>;
  readonly reason: string;
  readonly observations: readonly Observation[];
  readonly at: number;
  /** A later look that saw nothing; absent where nobody looked, or somebody saw something. */
  readonly looked?: KeptWords & { readonly reason: string; readonly at: number };
} & KeptWords;

/** What a worker said, where it said something. */
export type KeptWords = { readonly error_kind?: string; readonly said?: Payload };
