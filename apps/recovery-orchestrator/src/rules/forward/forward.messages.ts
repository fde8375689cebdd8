// A forward approval: people are asked before an effect, about exactly one action. Its phases, its row and its records.
import type { Payload, RecoveryApprovalMode } from '@recourse/messages';
import type { RecoveryRecord } from '../record.messages.js';
import type { GivenApproval } from '../step/step.messages.js';

export const FORWARD_PHASES = ['absent', 'awaiting', 'approved', 'denied', 'used', 'expired'] as const;
export type ForwardPhase = (typeof FORWARD_PHASES)[number];

export const FORWARD_EVENTS = ['Requested', 'ApprovalAdded', 'ApprovalCompleted', 'Denied', 'Used', 'Expired'] as const;
export type ForwardEvent = (typeof FORWARD_EVENTS)[number];

/** The row of a question: review item and state of its machine in one. */
export type ForwardDoc = {
  readonly approval_id: string;
  readonly tenant: string;
  readonly run_id: string;
  /** Counts from 1 how often the question was opened: an approval that was used or ran out can be asked for again. */
  readonly round: number;
  readonly phase: ForwardPhase;
  readonly agent_id: string;
  readonly initiator: string | null;
  readonly answerable_to: string | null;
  readonly capability: string;
  readonly contract_digest: Buffer;
  readonly effect_key: string;
  readonly subject_ref: string | null;
  readonly mode: RecoveryApprovalMode;
  readonly action_digest: Buffer;
  readonly args: Payload;
  readonly rehearsal: Payload | null;
  readonly required_approvals: number;
  readonly requested_by: string;
  readonly approvals: readonly GivenApproval[];
  readonly denied_by: string | null;
  /** Of a denial or an end without effect; null otherwise. */
  readonly reason: string | null;
  readonly owner: string;
  /** Until when people may decide; null when nobody has to. */
  readonly deadline_at: number | null;
  /** Until when an approval may be used; null without one. */
  readonly expires_at: number | null;
  readonly mutation_id: string | null;
  /** Attempt that used it; null while unused. */
  readonly attempt: number | null;
  readonly requested_at: number;
  readonly updated_at: number;
};

/** Records about forward approvals. */
export const FORWARD_RECORDS = [
  'ForwardApprovalRequested',
  'ForwardApprovalDecided',
  'ForwardApprovalUsed',
  'ForwardApprovalExpired',
] as const;
export type ForwardRecord = RecoveryRecord<(typeof FORWARD_RECORDS)[number]>;

export function isForwardRecord(told: RecoveryRecord): told is ForwardRecord {
  return FORWARD_RECORDS.some((type) => type === told.type);
}

/** Refusals of commands about forward approvals, with their HTTP status. */
export const FORWARD_REFUSALS = {
  KEY_MISMATCH: 422,
  ROLE_REQUIRED: 403,
  SELF_APPROVAL: 403,
  APPROVER_NOT_A_PERSON: 403,
  EDITOR_APPROVAL: 403,
  APPROVAL_UNKNOWN: 404,
  APPROVAL_EXPIRED: 409,
  APPROVAL_USED: 409,
  APPROVAL_WRONG_PHASE: 409,
  DIGEST_MISMATCH: 409,
  SAME_APPROVER: 409,
  ARGS_UNREADABLE: 422,
  CONTRACT_UNKNOWN: 422,
  CONTRACT_MISMATCH: 422,
  MODE_UNKNOWN: 422,
  VERDICT_UNKNOWN: 422,
} as const;
export type ForwardRefusalCode = keyof typeof FORWARD_REFUSALS;

export interface ForwardRefusal {
  readonly code: ForwardRefusalCode;
  readonly message: string;
}
