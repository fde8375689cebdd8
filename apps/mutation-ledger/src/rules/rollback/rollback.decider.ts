// What becomes of a trigger, and of what waits: one rollback per commit, however many say so (E20, E21, L12). Whether a trigger is
// admitted is admission.decisions.ts'.
import { deriveId, ID_BYTES_MAX, isPerson, isRunId, isUsableId, RUN_BYTES_MAX } from '@recourse/kernel';
import { rollbackIdOf } from '@recourse/messages';
import type { CommandEnvelope, Evidence, LineageRoot, TriggerRollback } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { OWNER_OF_APPROVALS, OWNER_OF_MARKS, OWNER_OF_OVERDUE } from '../owners.js';
import type { HoldReason } from '../admission/admission.messages.js';
import { record } from '../record.messages.js';
import type { Contradiction, MutationRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import { hasPassed } from './bound.decider.js';
import type { Admitted, Reviewing, RollbackDoc, Trigger } from './rollback.messages.js';

/** How a trigger was admitted: by whom, what it counts toward, how far back it reaches. */
export interface Through {
  readonly confirmedBy: string | null;
  readonly stormWindowMs: number;
  readonly isHit: boolean;
  readonly boundAt: number | null;
}

/** A rollback stands already, or waits in a list: the trigger is on record, and changes nothing. */
export function redundant(trigger: Trigger): MutationRecord {
  return record('TriggerRedundant', { ...aboutOf(trigger), evidence: trigger.evidence });
}

/** Admits a trigger; how far back its fall goes is said by the root of its evidence (E14). */
export function admitted(
  trigger: Trigger,
  { confirmedBy, stormWindowMs, isHit, boundAt }: Through,
  now: number,
): Admitted {
  const about = aboutOf(trigger);
  const { rollback_id, run_id, mutation_id } = about;
  return {
    ...about,
    evidence: rooted(trigger.evidence, { rollback_id, run_id, mutation_id, bound_at: boundAt }),
    admission: {
      command_id: trigger.command_id,
      confirmed_by: confirmedBy,
      storm_window_ms: stormWindowMs,
      // Counts once it is marked, whether at once or from what is remembered.
      trend_window_ms: 0,
      closure_counted: isHit,
      triggered_at: now,
      was_remembered: false,
    },
  };
}

/** The evidence of a mark says what the root of the fall is; of a trigger of its own that is this very rollback. A fall keeps the bound of its root (B1). */
function rooted(evidence: Evidence, root: LineageRoot): Evidence {
  return evidence.root === null ? { ...evidence, root } : evidence;
}

/** Remembers what was admitted until its commit can be marked. */
export function remembered({ admission, ...about }: Admitted, now: number): MutationRecord {
  return record('TriggerUnmatched', {
    ...about,
    admission,
    owner: OWNER_OF_MARKS,
    deadline_at: now + MARK_WITHIN_MS,
  });
}

/** What was remembered, as it was admitted: what it counts toward was counted then. */
export function admittedBefore({
  rollback_id,
  tenant,
  run_id,
  mutation_id,
  evidence,
  command_id,
  confirmed_by,
  opened_at,
}: RollbackDoc): Admitted {
  const admission = {
    command_id,
    confirmed_by,
    storm_window_ms: 0,
    trend_window_ms: 0,
    closure_counted: false,
    triggered_at: opened_at,
    was_remembered: true,
  };
  return { rollback_id, tenant, run_id, mutation_id, evidence, admission };
}

/** Puts a trigger into the list of what waits for a person. */
export function held(
  trigger: Trigger,
  { reason, cause, detail }: Holding,
  now: number,
  { reviewDeadlineMs }: Reviewing,
): MutationRecord {
  return record('TriggerHeld', {
    ...aboutOf(trigger),
    evidence: trigger.evidence,
    command_id: trigger.command_id,
    reason,
    detail,
    cause,
    owner: OWNER_OF_APPROVALS,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** Why a trigger waits whose word stands no more: no breaker that closes and no trust that is gained lets it go. */
export function holdsAgain({ tenant, evidence }: Trigger, isOthers: boolean): Holding {
  const ref = evidence.ref ?? '';
  return {
    reason: 'HOLDS_AGAIN',
    cause: deriveId('holds', tenant, ref),
    detail: isOthers
      ? `of ${ref} the word of another source stands by now`
      : `${ref} no longer stands as false: it was said to hold since`,
  };
}

/** Why a trigger waits. */
export interface Holding {
  readonly reason: HoldReason;
  readonly cause: string;
  readonly detail: string;
}

/**
 * Whether a trigger adds nothing: its rollback stands, or its event was heard already.
 *
 * Shape:  what is held waits for a person, unless another source says it that needs none; a rejected event stays rejected. A commit
 *         beyond a bound has heard of no trigger of its own, whatever a person said of the fall that reaches it. An id is whatever its
 *         sender says: one event has one source and one ref, too.
 */
export function isHeard(standing: RollbackDoc | undefined, evidence: Evidence): boolean {
  switch (standing?.phase) {
    case undefined:
    case 'beyond':
    case 'reviewed':
      return false;
    case 'held':
    case 'rejected':
      return isSameEvent(standing.evidence, evidence);
    case 'opened':
    case 'escalated':
    case 'marked':
      return true;
  }
}

function isSameEvent(one: Evidence, other: Evidence): boolean {
  return one.event_id === other.event_id && one.source === other.source && one.ref === other.ref;
}

/** The trigger that is held. */
export function triggerOfStanding({ tenant, run_id, mutation_id, evidence, command_id }: RollbackDoc): Trigger {
  return { tenant, run_id, mutation_id, evidence, command_id };
}

/** Most of what else speaks against a held commit that is kept beside what holds it. */
const ALSO_MAX = 8;

/** What else speaks against a held commit, with one more; null where that is on record, or it is not held. A fall that left it to a person does not. */
export function alsoSaid(
  standing: Pick<RollbackDoc, 'phase' | 'evidence' | 'also' | 'passed'>,
  evidence: Evidence,
): readonly Evidence[] | null {
  const { phase, evidence: held, also = [] } = standing;
  const isKnown = hasPassed(standing, evidence) || [held, ...also].some((one) => isSameEvent(one, evidence));
  return phase !== 'held' || isKnown || also.length >= ALSO_MAX ? null : [...also, evidence];
}

/** The same without what is judged by itself from now on. */
export function alsoWithout({ also = [] }: Pick<RollbackDoc, 'also'>, evidence: Evidence): Pick<RollbackDoc, 'also'> {
  const left = also.filter((one) => !isSameEvent(one, evidence));
  return left.length === 0 ? {} : { also: left };
}

/** What else was said of a held commit, as triggers of their own. The evidence of a command has its id. */
export function othersOf({ tenant, run_id, mutation_id, also = [] }: RollbackDoc): readonly Trigger[] {
  return also.map((evidence) => {
    const command_id = evidence.kind === 'human' || evidence.kind === 'critic' ? evidence.event_id : null;
    return { tenant, run_id, mutation_id, evidence, command_id: evidence.partition === -1 ? command_id : null };
  });
}

function aboutOf({
  tenant,
  run_id,
  mutation_id,
}: Trigger): Pick<RollbackDoc, 'rollback_id' | 'tenant' | 'run_id' | 'mutation_id'> {
  return { rollback_id: rollbackIdOf(tenant, mutation_id), tenant, run_id, mutation_id };
}

/** Time a commit has to be recorded once somebody said that it should not stand, before a person is asked, milliseconds: its execution may still be under way. */
export const MARK_WITHIN_MS = 60_000;

/** Why a rollback is given to a person. */
export const OVERDUE_REASONS = ['TRIGGER_HELD', 'BOUND_NOT_REVIEWED', 'COMMIT_NOT_MARKED'] as const;

/** Why a rollback is given to a person, by the phase its deadline passes in. */
const OVERDUE_IN: Partial<Readonly<Record<RollbackDoc['phase'], (typeof OVERDUE_REASONS)[number]>>> = {
  held: 'TRIGGER_HELD',
  beyond: 'BOUND_NOT_REVIEWED',
  opened: 'COMMIT_NOT_MARKED',
};

/** Gives a rollback whose commit was not recorded in time, or that nobody judged or reviewed in time, to a person; the mark still counts when it comes (P12). */
export function escalateRollback(
  rollback: RollbackDoc,
  now: number,
  { reviewDeadlineMs }: Reviewing,
): MutationRecord | null {
  if (!isTimed(rollback) || rollback.deadline_at === null || now < rollback.deadline_at) return null;
  const { rollback_id, tenant, run_id, mutation_id } = rollback;
  return record('RollbackEscalated', {
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    reason: OVERDUE_IN[rollback.phase] ?? 'COMMIT_NOT_MARKED',
    owner: OWNER_OF_OVERDUE,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** Whether a trigger was admitted, and waits for its commit. */
export function isRemembered({ phase }: Pick<RollbackDoc, 'phase'>): boolean {
  return phase === 'opened' || phase === 'escalated';
}

/** Whether its deadline has a timer: one that was escalated stands in the list of who it was given to. */
export function isTimed({ phase, owner }: Pick<RollbackDoc, 'phase' | 'owner'>): boolean {
  return phase === 'opened' || ((phase === 'held' || phase === 'beyond') && owner === OWNER_OF_APPROVALS);
}

/** What evidence says by itself. */
export function triggerOfContradiction({ body }: Contradiction): Trigger {
  return { ...body, command_id: null };
}

/** The evidence of a command is its reason, stated by who sent it. */
export function triggerOfCommand(
  command: Pick<TriggerRollback, 'envelope' | 'run_id' | 'mutation_id' | 'reason'>,
): Trigger {
  const { envelope } = command;
  const evidence: Evidence = {
    kind: kindOfWord(envelope),
    event_id: envelope.command_id,
    ref: null,
    source: envelope.principal,
    statement: plainPayload({ reason: command.reason }),
    stated_at: envelope.issued_at,
    partition: -1,
    position: -1,
    root: null,
  };
  return {
    tenant: envelope.tenant,
    run_id: command.run_id,
    mutation_id: command.mutation_id,
    evidence,
    command_id: envelope.command_id,
  };
}

/** Whose word a command is: a person's own, or a program's, which is weighed as that of any source (D2). */
export function kindOfWord({ principal, roles }: Pick<CommandEnvelope, 'principal' | 'roles'>): 'human' | 'critic' {
  return isPerson(principal) && !roles.includes('agent') ? 'human' : 'critic';
}

/** Refuses what names no commit or no evidence (E8), and ids no row could hold: what the database could refuse is refused before it is decided (L7). */
export function triggerRefusal(command: TriggerRollback): Refusal | null {
  const isUsable = isRunId(command.run_id) && [command.envelope.tenant, command.mutation_id].every(isUsableId);
  if (isUsable && command.reason.trim() === '')
    return { code: 'COMMAND_INVALID', message: 'A trigger says why: its reason is the evidence.' };
  return isUsable
    ? null
    : {
        code: 'COMMAND_INVALID',
        message: `Tenant and mutation must be 1 to ${String(ID_BYTES_MAX)} bytes without NUL, a run up to ${String(RUN_BYTES_MAX)}.`,
      };
}
