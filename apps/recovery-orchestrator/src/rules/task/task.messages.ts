// The work of people: tasks about effects that nothing undoes, and incidents.
import type { Brief, IncidentClosed, Severity, TaskClosed, TaskKind } from '@recourse/messages';

/** What people are asked to do about an effect nothing will undo. */
export type TaskDoc = {
  readonly task_id: string;
  readonly task_kind: TaskKind;
  readonly step_id: string;
  readonly recovery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly capability: string;
  readonly effect: string;
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
  readonly phase: 'open' | 'done' | 'dropped';
  readonly owner: string;
  readonly deadline_at: number | null;
  /** Null while it is open. */
  readonly closed: {
    readonly by: string;
    readonly reason: string;
    readonly content: TaskClosed['content'];
    readonly correction_ref: string | null;
    readonly at: number;
  } | null;
  readonly opened_at: number;
  readonly updated_at: number;
};

/** What a person made an incident of. */
export type IncidentDoc = {
  readonly incident_id: string;
  readonly step_id: string;
  readonly recovery_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
  readonly severity: Severity;
  readonly runbook: string | null;
  readonly phase: 'open' | 'closed';
  readonly owner: string;
  readonly deadline_at: number | null;
  readonly opened: { readonly by: string; readonly reason: string; readonly at: number };
  /** Null while it is open. */
  readonly closed: {
    readonly by: string;
    readonly reason: string;
    readonly summary: IncidentClosed['summary'];
    readonly at: number;
  } | null;
  readonly opened_at: number;
  readonly updated_at: number;
};
