// A successor bundle is applied to what its earlier versions let through: would it have refused them (E7, E28)?
//
// Boundary: pure. Commits stand in blocks of places in this log, so that a turn of the job reads a bounded part of them,
// however many there are; whose data they hold is no part of a block's name, since a bundle of all tenants has commits of each.
//
// Invariants
//   V1. Only what the successor's predicates refuse on kept inputs and states is contradicted. What they cannot judge is counted,
//       not refused, and a person has it.
//   V2. A turn looks at no more than a decision may hold, and says how far it came: a restart goes on from there (L4).
//   V3. A job ends once no commit of its bundle is left behind it, or when the version it applies no longer stands.
//   V4. A commit that an earlier version let through and that is recorded once no job will look at it is judged as it is recorded.
//   V5. Versions of one owner are compared: a tenant's bundle and that of all under its name are both to be met, each by its own versions.
import { deriveId } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { EntryRegistered, Payload, ReevaluationContinued } from '@recourse/messages';
import type { Reviewing, RollbackDoc } from '../rollback/rollback.messages.js';
import type { StandingBundle } from './gate.decisions.js';
import type { Body, Finding, MutationRecord } from '../record.messages.js';
import { followsFrom, verdictOn } from './successor.decisions.js';
import type { UnderJudgement } from './successor.decisions.js';

/** Places of this log that make a block: at most so many commits are read in a turn, and as many may be contradicted by it. */
export const BLOCK_PLACES = 200;

/** A commit that a version of a bundle let through. */
export type UnderBundle = {
  readonly tenant: string;
  readonly run_id: string;
  readonly commit_id: string;
  readonly bundle: string;
  readonly bundle_version: number;
  readonly recorded_seq: number;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly gate_inputs: Payload | null;
  /** Its inputs were given up with its state. */
  readonly is_gone: boolean;
};

/** A block in which commits of a bundle stand: the last of them, so that it is known unread whether there are more. */
export type BundleBlock = {
  readonly bundle: string;
  readonly block: number;
  readonly last_seq: number;
  readonly recorded_at: number;
};

export const REEVALUATION_PHASES = ['running', 'closed'] as const;

/** A job that applies a version of a bundle to earlier commits of this partition. */
export type Reevaluation = {
  readonly job_id: string;
  /** Tenant of the bundle; * for a bundle of all. */
  readonly tenant: string;
  readonly bundle: string;
  readonly bundle_version: number;
  readonly bundle_digest: Buffer;
  /** Commits recorded before this are not looked at, epoch milliseconds. */
  readonly since: number;
  readonly phase: (typeof REEVALUATION_PHASES)[number];
  /** Key of the last commit looked at; empty before the first. */
  readonly through: string;
  readonly looked_at: number;
  readonly refused: number;
  readonly unjudged: number;
  readonly opened_at: number;
  readonly updated_at: number;
};

/** Key of a commit in its block: ordered by place as text; a safe integer has at most 16 digits. */
export function placeKey(seq: number): string {
  return String(seq).padStart(16, '0');
}

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_PLACES);
}

/** Ids follow from their cause (L1). The same on every partition: what a version is made to say is one thing. */
export function jobIdOf(tenant: string, bundle: string, version: number): string {
  return deriveId('reev', tenant, bundle, version);
}

/** Opens the job of a successor; null for a first version, or where no commit of the bundle is recent enough. */
export function openReevaluation(
  { kind, tenant, name, version, digest }: Pick<EntryRegistered, 'kind' | 'tenant' | 'name' | 'version' | 'digest'>,
  blocks: readonly BundleBlock[],
  now: number,
  boundMs: number | null,
): MutationRecord | null {
  const since = boundMs === null ? 0 : Math.max(0, now - boundMs);
  if (kind !== 'policy_bundle' || version < 2 || !blocks.some(({ recorded_at }) => recorded_at >= since)) return null;
  return {
    type: 'ReevaluationOpened',
    body: {
      job_id: jobIdOf(tenant, name, version),
      tenant,
      bundle: name,
      bundle_version: version,
      bundle_digest: digest,
      since,
    },
  };
}

/** Blocks in which a job has commits left, in order. */
export function blocksLeft(
  { through, since }: Pick<Reevaluation, 'through' | 'since'>,
  blocks: readonly BundleBlock[],
): readonly BundleBlock[] {
  return blocks
    .filter(({ last_seq, recorded_at }) => placeKey(last_seq) > through && recorded_at >= since)
    .sort((a, b) => a.block - b.block);
}

/** What a turn is decided by. */
export interface Turn {
  /** The version the job applies; null when it no longer stands. */
  readonly bundle: StandingBundle | null;
  /** Commits of the first block with some left, by place. */
  readonly commits: readonly UnderBundle[];
  readonly hasMoreBlocks: boolean;
  /** The state the gate of a commit was run against; null where it is not kept. */
  readonly stateOf: (commit: UnderJudgement) => Json | null;
  readonly rollbackOf: (commit: UnderJudgement) => RollbackDoc | undefined;
  /** Whose the version is that let a commit through; of both where both have it. */
  readonly ownersOf: (commit: UnderBundle) => readonly string[];
  readonly now: number;
  readonly effectsMax: number;
  readonly policy: Reviewing;
}

/** Judges the next commits, contradicts those the successor refuses, and continues or ends the job (V2, V3). */
export function continueReevaluation(job: Reevaluation, turn: Turn): readonly Finding[] {
  const { bundle, commits, hasMoreBlocks, ownersOf, effectsMax } = turn;
  const left = bundle === null ? [] : commits.filter(({ recorded_seq }) => placeKey(recorded_seq) > job.through);
  const part = left.slice(0, Math.max(1, effectsMax));
  const judged = part
    .filter(
      (commit) =>
        (job.tenant === '*' || commit.tenant === job.tenant) &&
        commit.recorded_at >= job.since &&
        isBefore(commit, { owner: job.tenant, version: job.bundle_version }, ownersOf(commit)),
    )
    .flatMap((commit) =>
      bundle === null ? [] : [{ commit, verdict: verdictOn({ ...commit, state: () => turn.stateOf(commit) }, bundle) }],
    );
  const found = judged.flatMap(({ commit, verdict }) =>
    followsFrom(verdict, job, commit, { ...turn, standing: () => turn.rollbackOf(commit) }),
  );
  const counted = (kind: 'refused' | 'unjudged'): number =>
    judged.filter(({ verdict }) => verdict.kind === kind).length;
  const progress: Body<ReevaluationContinued> = {
    job_id: job.job_id,
    tenant: job.tenant,
    bundle: job.bundle,
    bundle_version: job.bundle_version,
    through: throughOf(job, part, left, commits),
    looked_at: job.looked_at + judged.length,
    refused: job.refused + counted('refused'),
    unjudged: job.unjudged + counted('unjudged'),
  };
  const goesOn = bundle !== null && (hasMoreBlocks || part.length < left.length);
  return [...found, { type: goesOn ? 'ReevaluationContinued' : 'ReevaluationClosed', body: progress }];
}

/**
 * Did something else than this version, or one after it, let a commit through?
 *
 * Shape:  versions of one owner are compared (V5). What only the other owner's let through is judged by each version that follows
 *         another: nobody says which of this owner's stood beside it.
 */
export function isBefore(
  { bundle_version: of }: Pick<UnderBundle, 'bundle_version'>,
  { owner, version }: { readonly owner: string; readonly version: number },
  owners: readonly string[],
): boolean {
  return owners.includes(owner) ? of < version : version > 1;
}

function throughOf(
  { through }: Reevaluation,
  part: readonly UnderBundle[],
  left: readonly UnderBundle[],
  commits: readonly UnderBundle[],
): string {
  const last = (part.length < left.length ? part : commits).at(-1);
  return last === undefined ? through : placeKey(last.recorded_seq);
}

/** A version as it stands, and whose it is: a tenant's own, or * for a bundle of all. */
export interface OwnedBundle extends StandingBundle {
  readonly tenant: string;
}

/** A commit that is being recorded, as its gate let it through; `owners`: whose version did. */
export type Incoming = Pick<UnderBundle, 'tenant' | 'run_id' | 'commit_id' | 'bundle' | 'gate_inputs'> & {
  readonly owners: readonly string[];
};

/**
 * What a version that stands says against a commit that is being recorded after another let it through; nothing where it says nothing (V1),
 * or its own job is still running and comes to it. Where that was the other owner's, this one may have stood beside it: only what it
 * refuses says that it did not.
 */
export function judgeAtRecording(
  commit: Incoming,
  standing: OwnedBundle,
  job: Pick<Reevaluation, 'phase'> | undefined,
  { stateOf, rollbackOf, now, policy }: Pick<Turn, 'stateOf' | 'rollbackOf' | 'now' | 'policy'>,
): readonly Finding[] {
  if (job?.phase === 'running') return [];
  const about = { ...commit, recorded_at: now };
  const by = {
    job_id: jobIdOf(standing.tenant, commit.bundle, standing.version),
    bundle: commit.bundle,
    bundle_version: standing.version,
  };
  const verdict = verdictOn({ ...commit, is_gone: false, state: () => stateOf(about) }, standing);
  if (verdict.kind === 'unjudged' && !commit.owners.includes(standing.tenant)) return [];
  return followsFrom(verdict, by, about, { now, policy, standing: () => rollbackOf(about) });
}
