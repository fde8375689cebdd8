// A rollback: a trigger, from what was first said to the mark of its commit.
import type { Admission, Evidence, OutOfBandVerdict } from '@recourse/messages';
import type { RolledBack } from '../consumer/consumer.messages.js';
import type { RollbackPhase } from './rollback.transitions.js';

/** Why a rollback is asked for, and by whom. */
export interface Trigger {
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly evidence: Evidence;
  /** Null for what evidence says by itself. */
  readonly command_id: string | null;
}

/** A trigger that was admitted: what a mark says of it. */
export interface Admitted {
  readonly rollback_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  /** Its root says how far back the fall reaches. */
  readonly evidence: Evidence;
  readonly admission: Admission;
}

/** How long people have. */
export interface Reviewing {
  /** How long an open item may wait for a person, milliseconds. */
  readonly reviewDeadlineMs: number;
}

/** The mark of a commit, once it is made: what polls of consumers read. */
export interface RollbackMark {
  /** Place of the mark in its partition of the log, with `member` the cursor of polls. */
  readonly seq: number;
  /** Place among the members of its record, from 0. */
  readonly member: number;
  /** Database time of the mark, epoch milliseconds. */
  readonly at: number;
  /** When its source says the evidence came to be, at the latest the mark; epoch milliseconds. */
  readonly triggered_at: number;
  /** Whether there is an effect that is compensated. */
  readonly has_effect: boolean;
  readonly subject_ref: string | null;
  /** Consumers that are waited for. */
  readonly consumers: readonly string[];
}

export type RollbackDoc = {
  readonly rollback_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  /** held: waits for a person; rejected: a person said it was wrong; opened: admitted, its commit is not recorded; escalated: nobody recorded it in time, a person was asked; beyond: a fall reaches it beyond its bound, a person looks at it; reviewed: they have; marked: the commit is marked. */
  readonly phase: RollbackPhase;
  readonly evidence: Evidence;
  readonly command_id: string | null;
  /** What holds it; null while nothing does. */
  readonly held: { readonly reason: string; readonly detail: string; readonly cause: string } | null;
  /** What else says that it should not stand, told while it was held, the first first; absent where nothing else did. */
  readonly also?: readonly Evidence[];
  /** Person who let it through; null when nobody had to. */
  readonly confirmed_by: string | null;
  /** What a person said of it; null while nobody did. */
  readonly judged: {
    readonly verdict: 'confirmed' | 'rejected';
    readonly by: string;
    readonly reason: string;
    readonly at: number;
  } | null;
  /** Descendants recorded before this are not rolled back with it, but reviewed; null without a bound, and while it is not admitted. */
  readonly bound_at: number | null;
  /** The fall that reaches the commit beyond its bound, and when the commit was recorded; null while none does. */
  readonly beyond: { readonly evidence: Evidence; readonly committed_at: number } | null;
  /** Root rollbacks whose fall went on behind the commit, the newest last, and how far back the farthest reached; absent where none did. */
  readonly passed?: { readonly roots: readonly string[]; readonly bound_at: number };
  /** What a person made of that; null while nobody looked. */
  readonly reviewed: {
    readonly verdict: OutOfBandVerdict;
    readonly by: string;
    readonly reason: string;
    readonly at: number;
  } | null;
  /** Whose action fell, and the bundle it stood under: the recovery policy of its contract, the gate of a commit without effect; null until it is marked, and for what has none. */
  readonly agent_id: string | null;
  readonly policy: string | null;
  /** Null until the commit is marked. */
  readonly mark: RollbackMark | null;
  readonly owner: string;
  readonly deadline_at: number | null;
  /** When it was admitted; of a held one, when it was held. */
  readonly opened_at: number;
  readonly updated_at: number;
};

/** What polls tell of a rollback; nothing while its commit is not marked. */
export function polledOf({
  tenant,
  agent_id,
  run_id,
  mutation_id,
  rollback_id,
  mark,
}: Pick<
  RollbackDoc,
  'tenant' | 'agent_id' | 'run_id' | 'mutation_id' | 'rollback_id' | 'mark'
>): readonly RolledBack[] {
  if (mark === null) return [];
  const { at: rolled_back_at, ...marked } = mark;
  return [{ tenant, agent_id: agent_id ?? '', run_id, commit_id: mutation_id, rollback_id, ...marked, rolled_back_at }];
}
