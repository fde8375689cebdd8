// Opens rollbacks: one per commit, however many say so (E20, E21, L12). Whether a trigger is admitted is admission.decisions.ts'.
import { deriveId } from '@recourse/kernel';
import type { MutationContradicted, Evidence, TriggerRollback } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { OWNER_OF_APPROVALS, OWNER_OF_MANUAL } from '../policy.messages.js';
import type { HoldReason } from '../admission/admission.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import type { EscalationReason } from '../step/step.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { RollbackDoc } from './rollback.messages.js';

/** Longest tenant, run or mutation id a command may name, bytes: keys of rows stay below 512 (L7). */
const ID_BYTES_MAX = 200;

export function rollbackIdOf(mutationId: string): string {
  return deriveId('rb', mutationId);
}

/** Key of a rollback's row. It holds the tenant, so that nobody can take another tenant's commit by naming it first. */
export function rollbackKey(tenant: string, mutationId: string): string {
  return `${tenant}/${mutationId}`;
}

/** Why a rollback is asked for, and by whom. */
export interface Trigger {
  readonly tenant: string;
  readonly runId: string;
  readonly mutationId: string;
  readonly evidence: Evidence;
  readonly commandId: string | null;
}

/** How a trigger was admitted: by whom, and what it counts toward. */
export interface Admitted {
  readonly confirmedBy: string | null;
  readonly stormWindowMs: number;
  readonly isHit: boolean;
  readonly boundAt: number | null;
}

/** A rollback stands already, or waits in a list: the trigger is on record, and changes nothing. */
export function redundant(trigger: Trigger): RecoveryRecord {
  return record('TriggerRedundant', { ...aboutOf(trigger), evidence: trigger.evidence });
}

/** Opens a rollback; how far back it goes is on record with it (E14). */
export function opened(trigger: Trigger, { confirmedBy, stormWindowMs, isHit, boundAt }: Admitted): RecoveryRecord {
  return record('RollbackOpened', {
    ...aboutOf(trigger),
    evidence: trigger.evidence,
    command_id: trigger.commandId,
    confirmed_by: confirmedBy,
    storm_window_ms: stormWindowMs,
    closure_counted: isHit,
    bound_at: boundAt,
  });
}

/** Puts a trigger into the list of what waits for a person. */
export function held(
  trigger: Trigger,
  { reason, cause, detail }: Holding,
  now: number,
  { reviewDeadlineMs }: Pick<RecoveryPolicy, 'reviewDeadlineMs'>,
): RecoveryRecord {
  return record('TriggerHeld', {
    ...aboutOf(trigger),
    evidence: trigger.evidence,
    command_id: trigger.commandId,
    reason,
    detail,
    cause,
    owner: OWNER_OF_APPROVALS,
    deadline_at: now + reviewDeadlineMs,
  });
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
 *         beyond a bound has heard of no trigger of its own, whatever a person said of the fall that reaches it.
 */
export function isHeard(standing: RollbackDoc | undefined, eventId: string): boolean {
  switch (standing?.phase) {
    case undefined:
    case 'beyond':
    case 'reviewed':
      return false;
    case 'held':
    case 'rejected':
      return standing.evidence.event_id === eventId;
    case 'opened':
    case 'escalated':
    case 'marked':
      return true;
  }
}

/** The trigger a rollback was opened or held with. */
export function triggerOfStanding({
  tenant,
  run_id: runId,
  mutation_id: mutationId,
  evidence,
  command_id: commandId,
}: RollbackDoc): Trigger {
  return { tenant, runId, mutationId, evidence, commandId };
}

function aboutOf({
  tenant,
  runId,
  mutationId,
}: Trigger): Pick<RollbackDoc, 'rollback_id' | 'tenant' | 'run_id' | 'mutation_id'> {
  return { rollback_id: rollbackIdOf(mutationId), tenant, run_id: runId, mutation_id: mutationId };
}

/** Time the ledger has to mark a commit before a person is asked, milliseconds: marking takes one hop, its execution may still be under way. */
export const MARK_WITHIN_MS = 60_000;

/** Why a rollback is given to a person, by the phase its deadline passes in. */
const OVERDUE_IN: Partial<Readonly<Record<RollbackDoc['phase'], EscalationReason>>> = {
  held: 'TRIGGER_HELD',
  beyond: 'BOUND_NOT_REVIEWED',
  opened: 'COMMIT_NOT_MARKED',
};

/** Gives a rollback whose commit was not marked in time, or that nobody judged or reviewed in time, to a person; the mark still counts when it comes (P12). */
export function escalateRollback(
  rollback: RollbackDoc,
  now: number,
  policy: Pick<RecoveryPolicy, 'reviewDeadlineMs'>,
): RecoveryRecord | null {
  if (!isTimed(rollback) || rollback.deadline_at === null || now < rollback.deadline_at) return null;
  const { rollback_id, tenant, run_id, mutation_id } = rollback;
  return record('RollbackEscalated', {
    rollback_id,
    tenant,
    run_id,
    mutation_id,
    reason: OVERDUE_IN[rollback.phase] ?? 'COMMIT_NOT_MARKED',
    owner: OWNER_OF_MANUAL,
    deadline_at: now + policy.reviewDeadlineMs,
  });
}

/** Whether its deadline has a timer: one that was escalated stands in the list of who it was given to. */
export function isTimed({ phase, owner }: Pick<RollbackDoc, 'phase' | 'owner'>): boolean {
  return phase === 'opened' || ((phase === 'held' || phase === 'beyond') && owner === OWNER_OF_APPROVALS);
}

export function triggerOfContradiction(
  hit: Pick<MutationContradicted, 'tenant' | 'run_id' | 'mutation_id' | 'evidence'>,
): Trigger {
  return {
    tenant: hit.tenant,
    runId: hit.run_id,
    mutationId: hit.mutation_id,
    evidence: hit.evidence,
    commandId: null,
  };
}

/** The evidence of a command is its reason, stated by who sent it. */
export function triggerOfCommand(
  command: Pick<TriggerRollback, 'envelope' | 'run_id' | 'mutation_id' | 'reason'>,
): Trigger {
  const { envelope } = command;
  const evidence: Evidence = {
    kind: envelope.principal.startsWith('agent:') ? 'critic' : 'human',
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
    runId: command.run_id,
    mutationId: command.mutation_id,
    evidence,
    commandId: envelope.command_id,
  };
}

/** Ids a row can hold. */
export function isUsableId(id: string): boolean {
  return id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= ID_BYTES_MAX;
}

/** Refuses what names no commit or no evidence (E8), and ids no row could hold: what the database could refuse is refused before it is decided (L7). */
export function triggerRefusal(command: TriggerRollback): Refusal | null {
  const isUsable = [command.envelope.tenant, command.run_id, command.mutation_id].every(isUsableId);
  if (isUsable && command.reason.trim() === '')
    return { httpStatus: 422, code: 'COMMAND_INVALID', message: 'A trigger says why: its reason is the evidence.' };
  return isUsable
    ? null
    : {
        httpStatus: 422,
        code: 'COMMAND_INVALID',
        message: `Tenant, run and mutation must be 1 to ${String(ID_BYTES_MAX)} bytes without NUL.`,
      };
}
