// Undo: somebody asks for what an agent did to be taken back, a whole run or some of its effects (B3).
//
// Boundary: pure. The ledger names the effects, last first, and contradicts those that stand; from there each is a rollback
// like any other. What became of them is told by undo-report.query.ts.
import { deriveId } from '@recourse/kernel';
import { plainPayload } from '@recourse/contract';
import type { Evidence, UndoRun, UndoSpread } from '@recourse/messages';
import { OWNER_OF_MANUAL } from '../policy.messages.js';
import type { RecoveryPolicy } from '../policy.messages.js';
import { isUsableId, MARK_WITHIN_MS } from '../rollback/rollback.decider.js';
import { recoveryIdOf } from '../step/opening.decisions.js';
import type { EscalationReason } from '../step/step.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import type { UndoDoc } from './undo.messages.js';

/** Most mutations one request may name; a whole run may have any number. */
export const UNDO_IDS_MAX = 200;

/** The ledger names an undo's effects. */
const OWNER_OF_LISTING = 'service:mutation-ledger';

/** Ids follow from their cause (L1). */
export function undoIdOf(commandId: string): string {
  return deriveId('undo', commandId);
}

/** Refuses what no row could hold, and lists nobody could oversee. */
export function undoRefusal({ envelope, run_id, mutation_ids: ids }: UndoRun): Refusal | null {
  if (ids.length > UNDO_IDS_MAX)
    return invalid(`One request names ${String(UNDO_IDS_MAX)} mutations at the most; name none for the whole run.`);
  if (new Set(ids).size !== ids.length) return invalid('A mutation is named twice.');
  return [envelope.tenant, run_id, ...ids].every(isUsableId)
    ? null
    : invalid('Tenant, run and mutations must be 1 to 200 bytes without NUL.');
}

/** Opens an undo. */
export function openUndo({ envelope, run_id, mutation_ids, reason }: UndoRun, now: number): RecoveryRecord {
  const { command_id: commandId, principal, tenant, issued_at } = envelope;
  const evidence: Evidence = {
    kind: 'human',
    event_id: commandId,
    ref: null,
    source: principal,
    statement: plainPayload({ reason }),
    stated_at: issued_at,
    partition: -1,
    position: -1,
    root: null,
  };
  return record('UndoOpened', {
    undo_id: undoIdOf(commandId),
    tenant,
    run_id,
    recovery_id: recoveryIdOf(tenant, run_id),
    mutation_ids,
    evidence,
    command_id: commandId,
    owner: OWNER_OF_LISTING,
    deadline_at: now + MARK_WITHIN_MS,
  });
}

/** Takes a part of the list; null for an undo nobody asked us for, such as that of a run whose step failed. */
export function listUndo(
  undo: UndoDoc | undefined,
  { undo_id, tenant, run_id, mutation_ids, unknown_ids, is_last }: Omit<UndoSpread, 'seq' | 'prev_hash' | 'decided_at'>,
): RecoveryRecord | null {
  if (undo?.tenant !== tenant || undo.phase === 'listed') return null;
  return record('UndoListed', { undo_id, tenant, run_id, mutation_ids, unknown_ids, is_last });
}

/** Gives an undo whose effects were not named in time to a person; the list still counts when it comes (P12). */
export function escalateUndo(
  { undo_id, tenant, run_id, phase, deadline_at: until }: UndoDoc,
  now: number,
  { reviewDeadlineMs }: Pick<RecoveryPolicy, 'reviewDeadlineMs'>,
): RecoveryRecord | null {
  if (phase !== 'opened' || until === null || now < until) return null;
  return record('UndoEscalated', {
    undo_id,
    tenant,
    run_id,
    reason: 'UNDO_NOT_LISTED' satisfies EscalationReason,
    owner: OWNER_OF_MANUAL,
    deadline_at: now + reviewDeadlineMs,
  });
}

function invalid(message: string): Refusal {
  return { httpStatus: 422, code: 'COMMAND_INVALID', message };
}
