// A break: one change of the product that a spec must notice.
//
// The runner (scripts/breaks.mjs) replaces `find` with `replace` in a copy of the tree and runs the spec there; it wants the
// named test red. In `find` every run of white space stands for any run of white space, and the text occurs once in the file.

export interface Break {
  /** Unique; begins with the requirement it proves. */
  readonly id: string;
  /** Row of docs/requirements.yaml: `A23`, a part of it, `A36/reads`, a promise, `P4`, or a rule of the house, `guides`. */
  readonly requirement: string;
  /** Further rows it proves. */
  readonly also?: readonly string[];
  /** Path of the spec that has to fail. */
  readonly spec: string;
  /** Full name of the test that has to fail: the one that says best what the row breaks. */
  readonly test: string;
  /** Path of the file that is broken. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
