// What a runtime holds, compared with what fell: commits that it takes to stand and that were rolled back, or rest on one that was.
//
// Invariants
//   C1. What a runtime gave up itself is no divergence, and what was made from it still is.
//   C2. The walk goes along what the runtime says it derived, so that a chain of its own commits is contaminated to the end.
//   C4. What diverges waits for a person from the first comparison that found it: another one leaves its deadline.
//   C3. A commit left to a person did not fall: nobody diverges by keeping it.
import { deriveId, isAmong, isPerson } from '@recourse/kernel';
import type {
  CommitRef,
  Contamination,
  LineageReconciled,
  ReconcileLineage,
  ReviewDivergence,
  RuntimeCommit,
} from '@recourse/messages';
import { OWNER_OF_DIVERGENCES } from '../owners.js';
import type { Body } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';

/** Most commits of one comparison: a command on the wire has 256 KB, a decision 900. */
export const COMMITS_MAX = 1_000;
/** Most characters of the names of all whom one comparison concerns: what it names beside them leaves them this much of a decision. */
const NAMES_MAX = 200_000;

/** How a commit fell. */
export interface Fall {
  readonly rollback_id: string;
  readonly rolled_back_at: number;
  /** Agent that made it, where the view says so. */
  readonly agent_id?: string | undefined;
  /** For whom it was made, and the contract it ran under, where the view says so. */
  readonly initiator?: string | undefined;
  readonly contract_digest?: Buffer | undefined;
}

/** Looks up whether a commit fell; null for one that stands, is left to a person, or is not ours. */
export type FallOf = (commit: CommitRef) => Fall | null;

interface Cause extends Fall {
  readonly fallen: CommitRef;
}

/** A runtime that keeps what fell, until a person has dealt with it. */
export type Divergence = {
  readonly divergence_id: string;
  readonly tenant: string;
  readonly runtime: string;
  /** The last comparison that found it, and how many commits it named. */
  readonly reconciliation_id: string;
  readonly contaminated: number;
  /** Agents it is about, of every comparison since it was asked. */
  readonly agents: readonly string[];
  /** For whom what is kept was done; absent where no notice says so. */
  readonly initiators?: readonly string[];
  /** Contracts it ran under; absent where no notice names one. */
  readonly contract_digests?: readonly Buffer[];
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly deadline_at: number;
};

/** One question for each runtime, whatever its name holds. */
export function divergenceIdOf(tenant: string, runtime: string): string {
  return deriveId('dvg', tenant, runtime);
}

/** Compares what a runtime holds with what fell. `reviewBy`: until when a person has to deal with it, epoch milliseconds. */
export function reconcile(
  { envelope, runtime, commits }: ReconcileLineage,
  fallOf: FallOf,
  reviewBy: number,
): Body<LineageReconciled> {
  const { command_id, tenant, principal: by } = envelope;
  const found = contaminated(commits, fallOf);
  return {
    tenant,
    runtime,
    reconciliation_id: deriveId('rcn', command_id),
    compared: commits.length,
    contaminated: found,
    by,
    command_id,
    owner: found.length === 0 ? null : OWNER_OF_DIVERGENCES,
    deadline_at: found.length === 0 ? null : reviewBy,
    ...concernedIn(found, by, fallOf),
  };
}

/** Whose work fell and is kept, for whom it was done and under which contracts; and the program that compared, whose own copy it may be. */
function concernedIn(
  found: readonly Contamination[],
  by: string,
  fallOf: FallOf,
): Pick<Body<LineageReconciled>, 'agents' | 'initiators' | 'contract_digests'> {
  const falls = found.flatMap(({ fallen }) => fallOf(fallen) ?? []);
  return {
    agents: [
      ...new Set([
        ...falls.flatMap(({ agent_id: agent }) => agent ?? []),
        ...(isPerson(by) || found.length === 0 ? [] : [by]),
      ]),
    ],
    initiators: [...new Set(falls.flatMap(({ initiator }) => initiator ?? []))],
    contract_digests: eachOnce(falls.flatMap(({ contract_digest: digest }) => digest ?? [])),
  };
}

/** Digests, each once. */
export function eachOnce(digests: readonly Buffer[]): readonly Buffer[] {
  return [...new Map(digests.map((digest) => [digest.toString('hex'), digest])).values()];
}

/** Do the names of whom it concerns fit a record beside what is compared? */
export function namesFit({ agents, initiators }: Pick<LineageReconciled, 'agents' | 'initiators'>): boolean {
  return [...agents, ...initiators].reduce((sum, name) => sum + name.length, 0) <= NAMES_MAX;
}

/**
 * Why nobody may say that a divergence is dealt with; null when they may.
 *
 * Shape: `concerned` are the agents it is about, for whom they acted, and who owns any of them.
 */
export function reviewRefusal(
  standing: Divergence | null,
  { envelope, reason }: ReviewDivergence,
  concerned: readonly (string | null)[],
): Refusal | null {
  if (standing === null)
    return { code: 'NOT_DIVERGING', message: 'Nothing that this runtime keeps waits for a person.' };
  if (reason.trim() === '')
    return {
      code: 'COMMAND_INVALID',
      message: 'Say what was done, or why it may stand: give a reason.',
    };
  if (!isPerson(envelope.principal))
    return { code: 'JUDGE_NOT_A_PERSON', message: 'Only a person ends this: no agent, no service account.' };
  return isAmong(concerned, envelope)
    ? {
        code: 'SELF_APPROVAL',
        message:
          'Nobody ends what is asked about what they did, what was done on their behalf, or what their agent did.',
      }
    : null;
}

function contaminated(commits: readonly RuntimeCommit[], fallOf: FallOf): readonly Contamination[] {
  const causeOf = causes(commits, fallOf);
  return commits.flatMap(({ run_id, commit_id, stands, reached_user_at }) => {
    const own = fallOf({ run_id, commit_id });
    const cause = own === null ? causeOf({ run_id, commit_id }) : { ...own, fallen: { run_id, commit_id } };
    if (!stands || cause === null) return [];
    const { fallen, rollback_id, rolled_back_at } = cause;
    return [
      {
        run_id,
        commit_id,
        cause: own === null ? ('derived' as const) : ('fallen' as const),
        fallen,
        rollback_id,
        rolled_back_at,
        reached_user_at,
      },
    ];
  });
}

/** The fall that reaches each commit: the nearest, along what the runtime derived; each commit is walked once, so a cycle ends. */
function causes(commits: readonly RuntimeCommit[], fallOf: FallOf): (commit: CommitRef) => Cause | null {
  const childrenOf = new Map<string, CommitRef[]>();
  for (const { run_id, commit_id, derived_from } of commits)
    for (const parent of derived_from)
      childrenOf.set(nameOf(parent), [...(childrenOf.get(nameOf(parent)) ?? []), { run_id, commit_id }]);
  const known = new Map<string, CommitRef>(
    commits
      .flatMap(({ run_id, commit_id, derived_from }) => [{ run_id, commit_id }, ...derived_from])
      .map((commit) => [nameOf(commit), commit] as const),
  );
  const found = new Map<string, Cause>();
  const queue: [CommitRef, Cause][] = [...known.values()].flatMap((fallen): [CommitRef, Cause][] => {
    const fall = fallOf(fallen);
    return fall === null ? [] : [[fallen, { ...fall, fallen }]];
  });
  for (let at = 0; at < queue.length; at += 1) {
    const [commit, cause] = queue[at] ?? [];
    if (commit === undefined || cause === undefined) break;
    for (const child of childrenOf.get(nameOf(commit)) ?? [])
      if (!found.has(nameOf(child))) {
        found.set(nameOf(child), cause);
        queue.push([child, cause]);
      }
  }
  return (commit) => found.get(nameOf(commit)) ?? null;
}

function nameOf({ run_id, commit_id }: CommitRef): string {
  return `${run_id}\u0000${commit_id}`;
}
