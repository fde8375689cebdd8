// An undo: somebody asked for a run, or some of its effects, to be undone.
import type { Evidence } from '@recourse/messages';
import type { UndoPhase } from './undo.transitions.js';

export type UndoDoc = {
  readonly undo_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly recovery_id: string;
  /** Mutations asked for; empty for the whole run. */
  readonly asked_ids: readonly string[];
  /** opened: the ledger names the effects; escalated: it did not in time; listed: it has. */
  readonly phase: UndoPhase;
  /** Effects of the undo, last first. */
  readonly mutation_ids: readonly string[];
  readonly unknown_ids: readonly string[];
  readonly evidence: Evidence;
  readonly command_id: string;
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly opened_at: number;
  readonly updated_at: number;
};
