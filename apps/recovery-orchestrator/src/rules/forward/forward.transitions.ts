// The life of a forward approval, and its row. An approval is used once; what was used or ran out can be asked for anew, and so can
// what is asked of more people than before: its approvals are void then.
import { InvariantViolation } from '@recourse/kernel';
import type { ForwardDoc, ForwardEvent, ForwardPhase, ForwardRecord } from './forward.messages.js';
import type { Body } from '../record.messages.js';

const NEVER = {
  Requested: null,
  ApprovalAdded: null,
  ApprovalCompleted: null,
  Denied: null,
  Used: null,
  Expired: null,
} as const;

/** Phase after each event; `null` is history that cannot exist. */
export const FORWARD_PHASE_AFTER = {
  absent: { ...NEVER, Requested: 'awaiting' },
  awaiting: {
    ...NEVER,
    Requested: 'awaiting',
    ApprovalAdded: 'awaiting',
    ApprovalCompleted: 'approved',
    Denied: 'denied',
    Expired: 'expired',
  },
  approved: { ...NEVER, Requested: 'awaiting', Denied: 'denied', Used: 'used', Expired: 'expired' },
  denied: NEVER,
  used: { ...NEVER, Requested: 'awaiting' },
  expired: { ...NEVER, Requested: 'awaiting' },
} as const satisfies Record<ForwardPhase, Record<ForwardEvent, ForwardPhase | null>>;

/** Phases in which nobody has to do anything. */
export const FORWARD_RESTS = ['denied', 'used', 'expired'] as const satisfies readonly ForwardPhase[];

/** Moves a forward approval. Errors: InvariantViolation for history that cannot exist. */
export function forwardPhaseAfter(phase: ForwardPhase, event: ForwardEvent): ForwardPhase {
  const next: ForwardPhase | null = FORWARD_PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('forward-phase', `${event} in ${phase}`);
  return next;
}

/** When its timer goes off; null at rest. Epoch milliseconds. */
export function forwardDueAt({ phase, deadline_at, expires_at }: ForwardDoc): number | null {
  return phase === 'awaiting' ? deadline_at : phase === 'approved' ? expires_at : null;
}

/** The row after a record. `at` is the record's decided_at. Errors: InvariantViolation about a question nobody asked. */
export function forwardAfter(standing: ForwardDoc | undefined, told: ForwardRecord, at: number): ForwardDoc {
  if (told.type === 'ForwardApprovalRequested') return requestedBy(standing, told.body, at);
  if (standing === undefined)
    throw new InvariantViolation('forward-unknown', `${told.type} about a question nobody asked`);
  switch (told.type) {
    case 'ForwardApprovalDecided':
      return decidedBy(standing, told.body, at);
    case 'ForwardApprovalUsed':
      return usedBy(standing, told.body, at);
    case 'ForwardApprovalExpired':
      return {
        ...standing,
        phase: forwardPhaseAfter(standing.phase, 'Expired'),
        reason: told.body.reason,
        deadline_at: null,
        updated_at: at,
      };
  }
}

function requestedBy(standing: ForwardDoc | undefined, body: Body<'ForwardApprovalRequested'>, at: number): ForwardDoc {
  const { command_id: _command, barred, ...asked } = body;
  return {
    ...asked,
    // Rows of before have no such member.
    ...(barred.length === 0 ? {} : { barred }),
    phase: forwardPhaseAfter(standing?.phase ?? 'absent', 'Requested'),
    approvals: [],
    routine: null,
    denied_by: null,
    reason: null,
    expires_at: null,
    mutation_id: null,
    attempt: null,
    requested_at: at,
    updated_at: at,
  };
}

function decidedBy(standing: ForwardDoc, body: Body<'ForwardApprovalDecided'>, at: number): ForwardDoc {
  const { verdict, by, reason, command_id, expires_at, routine } = body;
  if (verdict === 'deny')
    return {
      ...standing,
      phase: forwardPhaseAfter(standing.phase, 'Denied'),
      denied_by: by,
      reason,
      deadline_at: null,
      expires_at: null,
      updated_at: at,
    };
  const approvals = [...standing.approvals, { approval_id: command_id, by, reason, at }];
  const isComplete = approvals.length >= standing.required_approvals;
  const phase = forwardPhaseAfter(standing.phase, isComplete ? 'ApprovalCompleted' : 'ApprovalAdded');
  return {
    ...standing,
    phase,
    approvals,
    routine,
    updated_at: at,
    ...(isComplete ? { expires_at, deadline_at: null } : {}),
  };
}

function usedBy(standing: ForwardDoc, { mutation_id, attempt }: Body<'ForwardApprovalUsed'>, at: number): ForwardDoc {
  return { ...standing, phase: forwardPhaseAfter(standing.phase, 'Used'), mutation_id, attempt, updated_at: at };
}
