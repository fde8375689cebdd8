// What a consumer made of commits, and what falls of it when one of them does (E43).
//
// Boundary: rules over an inbox session; the session's transaction makes them whole.
//
// Invariants
//   O1. Nothing is derived from, or let out on, a commit that fell: the answer is false, and nothing is kept.
//   O2. A rollback is applied once, right behind its commit. Its answer is kept as it was, and owed each time the rollback is heard: the same
//       answer counts once, another is refused, and a ledger that lost the first, and announces the fall anew, waits for it.
//   O3. What was derived from a fallen commit falls with it, however long the way.
//   O4. While the consumer is halted, stopped, or its start is under way or failed, nobody knows what stands: what is not known to have fallen is neither made nor let out.
import { deriveId } from '@recourse/kernel';
import type { CommitRef, Emission, RollbackAcknowledged } from '@recourse/messages';
import { listsOf, refuseUnnamed, refuseUntold } from './acknowledged.js';
import type { Hearing } from './hearing.js';
import type { InboxSession, OwnCommit } from './inbox.port.js';

/** A commit that consumers hear of. */
export interface HeardCommit {
  readonly tenant: string;
  readonly agentId: string;
  readonly runId: string;
  readonly commitId: string;
  readonly subjectRef: string | null;
}

/** A rollback, with what falls of the consumer's own. */
export interface HeardRollback extends HeardCommit {
  readonly rollbackId: string;
  /** There is an effect on the outside that Recourse compensates. */
  readonly hasEffect: boolean;
  /** Own commits that were made from it, directly or not; they are invalidated. */
  readonly derived: readonly CommitRef[];
  /** What was let out that rested on it or on them. */
  readonly emissions: readonly Emission[];
}

/** What a consumer does about what it hears; each within the transaction that keeps its place. */
export interface RollbackHandlers<Tx> {
  readonly onCommit?: (commit: HeardCommit, tx: Tx) => Promise<void>;
  readonly onRollback: (rollback: HeardRollback, tx: Tx) => Promise<void>;
}

/**
 * What a consumer tells of itself, within a transaction of its own.
 *
 * Errors: Failure(RECORD_UNFIT, INSTANT_INVALID) for what no acknowledgement could name; Failure(LOG_CUT, NOT_READY) while the consumer is
 *         halted, stopped, or not yet started though it was asked to, of what is not known to have fallen: do not make it, and do not let it out.
 */
export interface OwnRecord {
  /** Keeps what a commit of its own was made from; false where a parent fell: do not make it. */
  derive(own: OwnCommit): Promise<boolean>;
  /** Keeps what is about to reach users; false where the commit fell: do not let it out. */
  emitted(commit: CommitRef, emission: Emission): Promise<boolean>;
}

/** What a consumer may tell within a transaction, as long as it hears what falls. */
export function ownRecordOf<Tx>(session: InboxSession<Tx>, hearing: Pick<Hearing, 'refuseDeaf'>): OwnRecord {
  const stands = async (commit: CommitRef): Promise<boolean> => !hasFallen(await session.stateOf(commit));
  return {
    derive: async (own) => {
      refuseUnnamed([...own.parents, own.commit]);
      for (const one of [...own.parents, own.commit]) if (!(await stands(one))) return false;
      hearing.refuseDeaf();
      await session.keepOwn(own);
      return true;
    },
    emitted: async (commit, emission) => {
      refuseUnnamed([commit]);
      refuseUntold(emission);
      if (!(await stands(commit))) return false;
      hearing.refuseDeaf();
      await session.keepEmission(commit, emission);
      return true;
    },
  };
}

/** True where a commit, or what it was made from, fell. */
export function hasFallen(state: Awaited<ReturnType<InboxSession<unknown>['stateOf']>>): boolean {
  return state === 'fallen' || state === 'invalidated';
}

/** A rollback as it arrives, before it is known what falls with it. */
export interface ArrivedRollback extends Omit<HeardRollback, 'derived' | 'emissions'> {
  /** The consumer is waited for. */
  readonly isDue: boolean;
}

/**
 * Tells a commit and applies its rollback within a transaction, and keeps the acknowledgement that is owed where one is.
 *
 * Units:  `now` is epoch milliseconds of the consumer's clock.
 * Errors: whatever a handler throws.
 */
export async function hearRollback<Tx>(
  session: InboxSession<Tx>,
  { isDue, ...rollback }: ArrivedRollback,
  {
    consumer,
    now,
    handlers,
  }: { readonly consumer: string; readonly now: number; readonly handlers: RollbackHandlers<Tx> },
): Promise<void> {
  const commit = refOf(rollback);
  const state = await session.stateOf(commit);
  const ackId = deriveId('ack', consumer, commit.run_id, commit.commit_id, rollback.rollbackId);
  if (state === 'fallen') {
    if (isDue) await answerAgain(session, ackId);
    return;
  }
  await session.keepState(commit, 'fallen');
  if (state === null) await named('onCommit', commit, async () => handlers.onCommit?.(commitOf(rollback), session.tx));
  const derived = await invalidate(session, commit);
  const emissions = await session.emissionsOf([commit, ...derived]);
  // What was invalidated with a parent was handed to the handler then.
  if (state === null || derived.length > 0)
    await named('onRollback', commit, () => handlers.onRollback({ ...rollback, derived, emissions }, session.tx));
  if (isDue)
    await answer(
      session,
      ackOf(rollback, { event_id: ackId, consumer, applied_at: now, ...listsOf({ derived, emissions }) }),
    );
}

/** What was made and let out since, or fell with another, is no part of the answer: it says what fell with this rollback when it was applied. */
async function answer<Tx>(session: InboxSession<Tx>, ack: RollbackAcknowledged): Promise<void> {
  await session.keepMark(answerMark(ack.event_id), JSON.stringify(ack));
  await session.owe(ack);
}

/** Owes the first answer once more; nothing where none is kept. */
async function answerAgain<Tx>(session: InboxSession<Tx>, ackId: string): Promise<void> {
  const kept = await session.mark(answerMark(ackId));
  if (kept !== null) await session.owe(JSON.parse(kept) as RollbackAcknowledged); // answer wrote it
}

function answerMark(ackId: string): string {
  return `answer/${ackId}`;
}

/** Thrown in place of what a handler threw, which is its cause: it says about which commit. */
export class RollbackHandlerFailed extends Error {
  override readonly name = 'RollbackHandlerFailed';
  constructor(
    handler: string,
    readonly commit: CommitRef,
    cause: unknown,
  ) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`${handler} of commit ${commit.commit_id} in run ${commit.run_id} failed: ${why}`, { cause });
  }
}

async function named(handler: string, commit: CommitRef, work: () => Promise<void> | undefined): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new RollbackHandlerFailed(handler, commit, cause);
  }
}

/** Marks own commits that were made from a fallen one, level by level. */
async function invalidate<Tx>(session: InboxSession<Tx>, fallen: CommitRef): Promise<readonly CommitRef[]> {
  const all: CommitRef[] = [];
  for (let level: readonly CommitRef[] = [fallen]; level.length > 0;) {
    const next: CommitRef[] = [];
    for (const one of await session.madeFrom(level)) {
      if (hasFallen(await session.stateOf(one))) continue;
      await session.keepState(one, 'invalidated');
      next.push(one);
    }
    all.push(...next);
    level = next;
  }
  return all;
}

type Answer = Pick<RollbackAcknowledged, 'event_id' | 'consumer' | 'applied_at' | 'derived' | 'emissions'>;

function ackOf(
  { tenant, runId, commitId, rollbackId }: Omit<ArrivedRollback, 'isDue'>,
  answered: Answer,
): RollbackAcknowledged {
  return { tenant, run_id: runId, mutation_id: commitId, rollback_id: rollbackId, ...answered };
}

function commitOf({ tenant, agentId, runId, commitId, subjectRef }: HeardCommit): HeardCommit {
  return { tenant, agentId, runId, commitId, subjectRef };
}

function refOf({ runId, commitId }: Pick<HeardCommit, 'runId' | 'commitId'>): CommitRef {
  return { run_id: runId, commit_id: commitId };
}
