// What a consumer of rollbacks keeps in its own database, so that it is changed with the consumer's own rows or not at all.
import type { CommitRef, Emission, RollbackAcknowledged } from '@recourse/messages';

/** A commit of the consumer's own, made from others: of agents, or its own. */
export interface OwnCommit {
  readonly commit: CommitRef;
  readonly parents: readonly CommitRef[];
}

/** What is known of a commit. fallen: its rollback was applied. invalidated: it is one of the consumer's own, made from one that fell. */
export type CommitState = 'fallen' | 'invalidated';

/** One transaction over what the consumer keeps; it ends with the work it was opened for. */
export interface InboxSession<Tx> {
  /** The consumer's own transaction: its rows change with the rest, or not at all. */
  readonly tx: Tx;
  mark(name: string): Promise<string | null>;
  keepMark(name: string, text: string): Promise<void>;
  stateOf(commit: CommitRef): Promise<CommitState | null>;
  keepState(commit: CommitRef, state: CommitState): Promise<void>;
  keepOwn(own: OwnCommit): Promise<void>;
  /** Own commits made directly from any of these. */
  madeFrom(commits: readonly CommitRef[]): Promise<readonly CommitRef[]>;
  keepEmission(commit: CommitRef, emission: Emission): Promise<void>;
  /** In the order in which they were kept. */
  emissionsOf(commits: readonly CommitRef[]): Promise<readonly Emission[]>;
  /** Keeps an acknowledgement until it was sent; one of the same id is kept once. */
  owe(ack: RollbackAcknowledged): Promise<void>;
  /** Acknowledgements that were not sent, oldest first, at most so many. */
  owed(limit: number): Promise<readonly RollbackAcknowledged[]>;
  settle(eventIds: readonly string[]): Promise<void>;
}

/**
 * The memory of one consumer of rollbacks.
 *
 * Implementations MUST make all that a transaction did durable before `transact` resolves, or none of it when the work throws.
 * Implementations MUST let no `derive` run beside an `apply`, nor two `apply` beside each other: what is derived from a commit
 * is either refused or seen by the rollback of that commit.
 * Errors: `transact` throws what the work throws, and what the database does.
 */
export interface Inbox<Tx> {
  transact<T>(kind: 'apply' | 'derive', work: (session: InboxSession<Tx>) => Promise<T>): Promise<T>;
}
