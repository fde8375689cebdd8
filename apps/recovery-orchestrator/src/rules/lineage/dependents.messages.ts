// Commits of other runs that were derived from those of a run.
import type { DependentSettled } from '@recourse/messages';

/** A commit of another run that was derived from one of this run. */
export type DependentDoc = {
  readonly tenant: string;
  readonly run_id: string;
  /** What it was derived from. */
  readonly mutation_id: string;
  readonly child_run_id: string;
  readonly child_mutation_id: string;
  /** It was noted when what it was derived from was being undone already. */
  readonly is_late: boolean;
  /** State it came to rest in; null while it has not. */
  readonly settled_as: DependentSettled['recoverability'] | null;
  readonly noted_at: number;
  readonly updated_at: number;
};
