// How far back a rollback reaches, and what becomes of the commits beyond (E13, E14).
//
// Boundary: pure. The walk says which commits are beyond (rules/commit/fate.decisions.ts); here each becomes an item of a person's list.
//
// Invariants
//   B1. A bound is the root's: what falls with a rollback takes over its bound and never sets one of its own (E14).
//   B2. A commit beyond is given to a person, with owner and deadline, unless its rollback stands already (P12); so is one that a
//       successor of its bundle cannot judge (rules/commit/successor.decisions.ts).
//   B3. Nothing but a trigger of its own rolls it back; a person's verdict that it should not stand is one.
//   B4. The fall of a root goes on behind a commit once, however many ways lead there (P9): behind one that is marked its own mark went on.
import { rollbackIdOf } from '@recourse/messages';
import { isPerson } from '@recourse/kernel';
import type { CommitBeyondBound, Evidence, ReviewOutOfBand } from '@recourse/messages';
import { OWNER_OF_APPROVALS } from '../owners.js';
import { record } from '../record.messages.js';
import type { MutationRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { Reviewing, RollbackDoc } from './rollback.messages.js';

/** Shortest bound that can be set, milliseconds: below it hardly a record is within. */
export const BOUND_MIN_MS = 1_000;
/** Longest bound that can be set, milliseconds: ten years. */
export const BOUND_MAX_MS = 3_650 * 86_400_000;

/**
 * The instant before which nothing that was derived falls with a trigger of its own; null without a bound.
 *
 * Units:  epoch milliseconds.
 */
export function boundOf({ boundMs }: { readonly boundMs: number | null }, now: number): number | null {
  return boundMs === null ? null : Math.max(0, now - boundMs);
}

/** Most roots that are kept of a commit. */
export const ROOTS_MAX = 100;

/**
 * Whether the fall of a root went on behind a commit already, or need not.
 *
 * Shape: past ROOTS_MAX roots one goes on only where it reaches farther back than all before it: what it would reach otherwise has
 *        fallen, or is a person's.
 */
export function hasPassed(standing: Pick<RollbackDoc, 'phase' | 'passed'> | undefined, { root }: Evidence): boolean {
  if (standing?.phase === 'marked') return true;
  const passed = standing?.passed;
  if (passed === undefined || root === null || root.bound_at === null) return false;
  return isOfRoot(passed, root) || (passed.roots.length >= ROOTS_MAX && passed.bound_at <= root.bound_at);
}

function isOfRoot(passed: RollbackDoc['passed'], root: Evidence['root']): boolean {
  return root !== null && passed?.roots.includes(root.rollback_id) === true;
}

/** The roots whose fall went on behind a commit, with that of one more. */
export function passedWith({ passed }: Pick<RollbackDoc, 'passed'>, { root }: Evidence): Pick<RollbackDoc, 'passed'> {
  if (root === null || root.bound_at === null || isOfRoot(passed, root)) return passed === undefined ? {} : { passed };
  return {
    passed: {
      roots: [...(passed?.roots ?? []), root.rollback_id].slice(-ROOTS_MAX),
      bound_at: Math.min(passed?.bound_at ?? root.bound_at, root.bound_at),
    },
  };
}

type Beyond = Pick<CommitBeyondBound, 'tenant' | 'run_id' | 'mutation_id' | 'evidence' | 'committed_at'>;

/** Gives a commit beyond the bound to a person; null where its rollback stands, or a person has it for this fall already (B2). */
export function outOfBand(
  standing: RollbackDoc | undefined,
  about: Beyond,
  now: number,
  policy: Reviewing,
): MutationRecord | null {
  return isSettledFor(standing, about.evidence) ? null : listed(about, now, policy);
}

/** What a held trigger hid comes back to the list once a person has rejected that trigger; not what a person has left standing before. */
export function reopened(standing: RollbackDoc, now: number, policy: Reviewing): readonly MutationRecord[] {
  const { tenant, run_id, mutation_id, beyond } = standing;
  return beyond === null || isLeft(standing) ? [] : [listed({ tenant, run_id, mutation_id, ...beyond }, now, policy)];
}

/** Somebody said of the fall that reached it that it stands. */
function isLeft({ reviewed }: RollbackDoc): boolean {
  return reviewed?.verdict === 'stands';
}

function isSettledFor(standing: RollbackDoc | undefined, evidence: Evidence): boolean {
  switch (standing?.phase) {
    case undefined:
      return false;
    case 'held':
      return isLeft(standing) ? isOfFall(standing, evidence) : standing.beyond !== null;
    case 'rejected':
      return isLeft(standing) && isOfFall(standing, evidence);
    case 'reviewed':
      return isOfFall(standing, evidence);
    case 'opened':
    case 'escalated':
    case 'beyond':
    case 'marked':
      return true;
  }
}

/** One fall comes by each of its ways, under an event of each. */
function isOfFall({ beyond, passed }: RollbackDoc, { event_id, root }: Evidence): boolean {
  return beyond?.evidence.event_id === event_id || isOfRoot(passed, root);
}

function listed(
  { tenant, run_id, mutation_id, evidence, committed_at }: Beyond,
  now: number,
  { reviewDeadlineMs }: Reviewing,
): MutationRecord {
  return record('RollbackOutOfBand', {
    rollback_id: rollbackIdOf(tenant, mutation_id),
    tenant,
    run_id,
    mutation_id,
    evidence,
    committed_at,
    owner: OWNER_OF_APPROVALS,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** Why somebody may not review a commit beyond the bound; null when they may. */
export function reviewRefusal(
  standing: RollbackDoc | undefined,
  { envelope, reason }: ReviewOutOfBand,
): Refusal | null {
  if (standing?.tenant !== envelope.tenant)
    return {
      code: 'ROLLBACK_UNKNOWN',
      message: 'There is no such rollback in this run of this tenant.',
    };
  if (reason.trim() === '') return { code: 'COMMAND_INVALID', message: 'A review says why: give a reason.' };
  if (!isPerson(envelope.principal))
    return {
      code: 'JUDGE_NOT_A_PERSON',
      message: 'Only a person says what becomes of a commit beyond the bound: no agent, no service account, no role.',
    };
  if (standing.phase === 'beyond') return null;
  if (standing.reviewed !== null)
    return {
      code: 'OUT_OF_BAND_REVIEWED',
      message: `Somebody has reviewed this commit already: ${standing.reviewed.verdict}.`,
    };
  const isBehind = standing.phase === 'held' && standing.beyond !== null;
  return {
    code: 'NOT_BEYOND_BOUND',
    message: isBehind
      ? 'Of this commit a trigger of its own is held: confirm or reject that first. It comes to a review once that is rejected.'
      : `This rollback is ${standing.phase}: no fall left it for a review.`,
  };
}

/** What a person made of it. */
export function reviewedFact(
  { rollback_id, tenant, run_id, mutation_id }: RollbackDoc,
  { envelope, verdict, reason }: ReviewOutOfBand,
): MutationRecord {
  return record('OutOfBandReviewed', {
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    verdict,
    by: envelope.principal,
    reason,
    command_id: envelope.command_id,
  });
}
