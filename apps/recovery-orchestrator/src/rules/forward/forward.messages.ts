// A forward approval: people are asked before an effect, about exactly one action. Its phases, its row and its records.
import type { Brief, Payload, RecoveryApprovalMode, RoutineGrant, RoutineRefusal } from '@recourse/messages';
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
  /** Who else may not approve it: accounts of whoever asked, and owners of all who are named. Absent where there is nobody. */
  readonly barred?: readonly string[];
  /** What the run is for, and how its contract says the effect is compensated. */
  readonly brief: Brief;
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
  /** The policy that decided, `policy:bundle@version`, its rule and what it counted; null where people were asked. */
  readonly decided_by: string | null;
  readonly routine: RoutineGrant | null;
  /** Why no routine rule let it go; empty where none is about it, or one did. */
  readonly not_routine: readonly RoutineRefusal[];
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
