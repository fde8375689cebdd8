// Lineage as people look at it: commits, who was made from whom, what became of them and who heard.

/** A commit by tenant, run and id: a name under another run is nobody's. */
export interface Named {
  readonly tenant: string;
  readonly run_id: string;
  readonly id: string;
}

/** What stands of a commit. `unrecorded`: it was named as a parent and is not on record under that run. */
export const NODE_STATES = ['stands', 'rolled_back', 'reattached', 'beyond', 'unrecorded'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** A commit in the graph. */
export interface LineageNode {
  readonly id: string;
  readonly run_id: string;
  readonly kind: 'mutation' | 'commit' | 'unknown';
  readonly agent: string | null;
  /** Capability of a mutation, step of a commit. */
  readonly label: string | null;
  readonly subject_ref: string | null;
  readonly state: NodeState;
  readonly rollback_id: string | null;
  /** Rollback at the root of its fall; its own where it is the root. */
  readonly root_rollback_id: string | null;
  /** Consumers that were waited for: those that acknowledged, and those that have not. */
  readonly told: readonly string[];
  readonly silent: readonly string[];
}

/** derived: the child was made from the parent. reattached: it goes on with it. was: it did rest on it, and no longer does. */
export interface LineageEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'derived' | 'reattached' | 'was';
}

export interface LineageView {
  readonly commit: string;
  readonly rollback: string | null;
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly LineageEdge[];
  /** True when there are more commits than are shown. */
  readonly truncated: boolean;
}

/** A run in the picture, or a commit of a run that is opened. */
export interface LineageBox {
  /** `run:` and the run, or the commit. */
  readonly id: string;
  readonly run_id: string;
  /** True where commits of the run are boxes of their own. */
  readonly is_open: boolean;
  /** What the one commit in it is; a run where there are several. */
  readonly kind: LineageNode['kind'] | 'run';
  readonly commits: number;
  /** Of the one commit in it. */
  readonly label: string | null;
  readonly subject_ref: string | null;
  /** The first names of each, in alphabetical order. */
  readonly agents: readonly string[];
  readonly told: readonly string[];
  readonly silent: readonly string[];
  /** Commits by what became of them; states without one are left out. */
  readonly states: readonly { readonly state: NodeState; readonly commits: number }[];
  /** Commits in it that are looked for. */
  readonly found: number;
}

/** Everything that leads from one box to another. */
export interface LineageArrow {
  readonly from: string;
  readonly to: string;
  readonly kind: LineageEdge['kind'];
  readonly commits: number;
}

export interface LineageBoxes {
  readonly commit: string;
  readonly run_id: string;
  readonly tenant: string;
  /** What the commit asked about is. */
  readonly kind: LineageBox['kind'];
  readonly commits: number;
  readonly runs: number;
  /** Commits that are looked for. */
  readonly found: number;
  readonly boxes: readonly LineageBox[];
  readonly arrows: readonly LineageArrow[];
  /** Boxes that are not shown, because nobody reads so many. */
  readonly left: number;
  /** True when there are more commits than were looked at. */
  readonly truncated: boolean;
}

/** A reliance on a commit, as its binding has it. */
export interface Reliance {
  readonly tenant: string;
  readonly run_id: string;
  readonly child: string;
  readonly parent_run_id: string;
  readonly parent: string;
}

/** What the log derived from the mutations says of a commit: where, and whether it was left to a person instead. */
export interface Announced {
  readonly partition: number;
  readonly seq: number;
  readonly is_beyond: boolean;
  readonly root_rollback_id: string | null;
}

/** Looks an announcement up; null where none was read. */
export type AnnouncedOf = (commit: Named) => Announced | null;
