// Admits triggers: one rollback per commit, however many say so (E20, E21, L12).
import { deriveId } from '@recourse/kernel';
import type { CommitContradicted, Evidence, TriggerRollback } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import { OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { fact } from '../step/step.messages.js';
import type { EscalationReason, Fact, Refusal, RollbackDoc } from '../step/step.messages.js';

/** Longest tenant, run or mutation id a command may name, bytes: keys of rows stay below 512 (L7). */
const ID_BYTES_MAX = 200;

export function rollbackIdOf(mutationId: string): string { return deriveId('rb', mutationId); }

/** Key of a rollback's row. It holds the tenant, so that nobody can take another tenant's commit by naming it first. */
export function rollbackKey(tenant: string, mutationId: string): string { return `${tenant}/${mutationId}`; }

/** Why a rollback is asked for, and by whom. */
export interface Trigger {
  readonly tenant: string;
  readonly runId: string;
  readonly mutationId: string;
  readonly evidence: Evidence;
  readonly commandId: string | null;
}

/** Opens a rollback, or records that it stands already. */
export function admit(trigger: Trigger, standing: RollbackDoc | undefined): Fact {
  const about = { rollback_id: rollbackIdOf(trigger.mutationId), tenant: trigger.tenant, run_id: trigger.runId, mutation_id: trigger.mutationId };
  if (standing !== undefined) return fact('TriggerRedundant', { ...about, evidence: trigger.evidence });
  return fact('RollbackOpened', { ...about, evidence: trigger.evidence, command_id: trigger.commandId });
}

/** Time the ledger has to mark a commit before a person is asked, milliseconds: marking takes one hop, its execution may still be under way. */
export const MARK_WITHIN_MS = 60_000;

/** Gives a rollback whose commit was not marked in time to a person; the mark still counts when it comes (P12). */
export function escalateRollback(rollback: RollbackDoc, now: number, policy: Pick<RecoveryPolicy, 'reviewDeadlineMs'>): Fact | null {
  if (rollback.phase !== 'opened' || rollback.deadline_at === null || now < rollback.deadline_at) return null;
  const { rollback_id, tenant, run_id, mutation_id } = rollback;
  return fact('RollbackEscalated', {
    rollback_id, tenant, run_id, mutation_id, reason: 'COMMIT_NOT_MARKED' satisfies EscalationReason, owner: OWNER_OF_MANUAL, deadline_at: now + policy.reviewDeadlineMs,
  });
}

export function triggerOfContradiction(hit: Pick<CommitContradicted, 'tenant' | 'run_id' | 'mutation_id' | 'evidence'>): Trigger {
  return { tenant: hit.tenant, runId: hit.run_id, mutationId: hit.mutation_id, evidence: hit.evidence, commandId: null };
}

/** The evidence of a command is its reason, stated by who sent it. */
export function triggerOfCommand(command: TriggerRollback): Trigger {
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
  };
  return { tenant: envelope.tenant, runId: command.run_id, mutationId: command.mutation_id, evidence, commandId: envelope.command_id };
}

/** Ids a row can hold. */
export function isUsableId(id: string): boolean { return id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= ID_BYTES_MAX; }

/** Refuses ids no row could hold: what the database could refuse is refused before it is decided (L7). */
export function triggerRefusal(command: TriggerRollback): Refusal | null {
  const isUsable = [command.envelope.tenant, command.run_id, command.mutation_id].every(isUsableId);
  return isUsable ? null : { httpStatus: 422, code: 'COMMAND_INVALID', message: `Tenant, run and mutation must be 1 to ${String(ID_BYTES_MAX)} bytes without NUL.` };
}
