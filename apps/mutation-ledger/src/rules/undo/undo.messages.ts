// An undo: a run, or some of its effects, is taken back.
import type { Evidence } from '@recourse/messages';
import type { UndoPhase } from './undo.transitions.js';

/** An undo as its next part is decided. */
export type Undo = {
  readonly undo_id: string;
  readonly tenant: string;
  readonly run_id: string;
  /** Null for a run one of whose steps failed for good. */
  readonly command_id: string | null;
  /** The step that failed, then. */
  readonly begun_by: { readonly mutation_id: string; readonly step_id: string } | null;
  /** Mutations asked for; empty for the whole run. */
  readonly asked_ids: readonly string[];
  readonly evidence: Evidence;
  /** Effects named so far, last first. */
  readonly mutation_ids: readonly string[];
  /** When the first part was named: what came to be later is not of it; null before. */
  readonly opened_at: number | null;
};

/** An undo as its row holds it. */
export type UndoDoc = Undo & {
  readonly recovery_id: string;
  /** opened: more of its effects are to be named; listed: all are. */
  readonly phase: UndoPhase;
  readonly unknown_ids: readonly string[];
  readonly opened_at: number;
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly updated_at: number;
};
