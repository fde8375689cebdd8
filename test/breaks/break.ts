// A break: one change of the product that a spec must notice.
//
// The runner (scripts/breaks.mjs) replaces `find` with `replace` in a copy of the tree and runs the spec there; it wants the
// named test red. In `find` every run of white space stands for any run of white space, and the text occurs once in the file.

export interface Break {
  /** Unique; begins with the requirement it belongs to, where there is one. */
  readonly id: string;
  /** Row of the requirements table, e.g. `A23`, or a promise, `P4`; null: a rule of the house. */
  readonly requirement: string | null;
  /** Path of the spec that has to fail. */
  readonly spec: string;
  /** Full name of the test that has to fail; null: any of the spec. */
  readonly test: string | null;
  /** Path of the file that is broken. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
