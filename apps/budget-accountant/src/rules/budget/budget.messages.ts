// Words of the budget aggregate: what is asked, what is recorded, what is refused.
import type { Rejection } from '@recourse/kernel';
import type { BodyOf, Brief, BudgetScope, RecordOf, RecordTypeOf } from '@recourse/messages';
import type { ReservationPhase } from './budget.transitions.js';

/** A record of the budgets log, as it is decided. */
export type BudgetRecord = RecordOf<'recourse.budgets'>;

/** A command of the budget wire. */
export type BudgetCommand<Type extends RecordTypeOf<'recourse.budget-commands'>> = BodyOf<
  'recourse.budget-commands',
  Type
>;

/** Roles that may set a ceiling; an agent never raises its own. */
export const BUDGET_ROLES: readonly string[] = ['budget_owner', 'administrator'];

/** Role that may decide an escalation. */
export const APPROVER_ROLE = 'approver';

/** Role that may decide it as well once the approvers let its deadline pass. */
export const LAST_RESORT_ROLE = 'administrator';

/** Refusals of a command, with their HTTP status. */
export const BUDGET_REJECTIONS = {
  ROLE_REQUIRED: 403,
  SELF_APPROVAL: 403,
  APPROVER_NOT_A_PERSON: 403,
  EDITOR_APPROVAL: 403,
  KILL_SWITCH: 403,
  RUNG_TOO_LOW: 403,
  RESERVATION_UNKNOWN: 404,
  ESCALATION_UNKNOWN: 404,
  BUDGET_CONFLICT: 409,
  RESERVATION_CONFLICT: 409,
  RESERVATION_DENIED: 409,
  RESERVATION_OF_ANOTHER: 403,
  RESERVATION_WRONG_PHASE: 409,
  ESCALATION_DECIDED: 409,
  KEY_MISMATCH: 422,
  SCOPE_MISMATCH: 422,
  OBJECTIVE_MISSING: 422,
  AMOUNT_INVALID: 422,
  CURRENCY_INVALID: 422,
} as const;

export type BudgetRejectionCode = keyof typeof BUDGET_REJECTIONS;
export type BudgetRejection = Rejection<BudgetRejectionCode>;

/** Used and ceiling of one scope in one currency; minor units. */
export interface Budget {
  readonly tenant: string;
  readonly scope: BudgetScope;
  readonly scope_id: string;
  readonly currency: string;
  /** Null: nobody set one, so this scope bounds nothing; what is used is counted all the same. */
  readonly ceiling_minor: number | null;
  readonly used_minor: number;
  /** True once an execution nobody reserved was debited. */
  readonly overrun: boolean;
}

/** A reservation and what became of it; the natural key of everything here. */
export interface Reservation {
  readonly reservation_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  /** Null when nobody reserved. */
  readonly capability: string | null;
  /** Minor units of `currency`; null when the record did not say. */
  readonly value_minor: number | null;
  /** What was asked for; counted as used in the phases that hold a debit. Minor units. */
  readonly debit_minor: number;
  readonly currency: string;
  readonly phase: ReservationPhase;
  /** Who does not decide about it; none in rows older than this. */
  readonly parties?: readonly string[];
  /** Contract of the effect, 64 hex digits; null without one. */
  readonly contract_digest: string | null;
  /** What the run was for, and how the effect is compensated; null of a debit that asks nobody. */
  readonly brief: Brief | null;
  /** By when it is settled or given back before a person is asked, epoch milliseconds; null when nobody has to, and once a person was asked. */
  readonly settle_by: number | null;
}

/** A question to a person: may this exceed the ceiling; this was executed unreserved; or: this was reserved and never used. */
export interface Escalation {
  readonly escalation_id: string;
  readonly reservation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  readonly about: 'ceiling' | 'overrun' | 'unsettled';
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
  /** Which ceiling: run or tenant; null for an overrun. */
  readonly exceeded: string | null;
  readonly debit_minor: number;
  readonly currency: string;
  readonly requested_by: string | null;
  /** Who does not decide it: who asked, the agent, whom it acts for; none in rows older than this. */
  readonly parties?: readonly string[];
  /** Contract of the effect, 64 hex digits; null without one. */
  readonly contract_digest: string | null;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly deadline_at: number;
  /** True once its deadline passed and it went to the last owner. */
  readonly is_overdue: boolean;
  readonly phase: 'open' | 'approved' | 'denied' | 'withdrawn';
  readonly decided_by: string | null;
  readonly reason: string | null;
}

/** Who is asked about escalations and overruns, and for how long. */
export interface EscalationPolicy {
  readonly owner: string;
  readonly deadlineMs: number;
  /** How long a reservation may stand unused before a person is asked, milliseconds. */
  readonly settleWithinMs: number;
}

export type BudgetAnswer =
  | {
      readonly kind: 'recorded';
      readonly event: BudgetRecord;
      readonly also?: BudgetRecord;
      readonly outcome: Readonly<Record<string, unknown>>;
    }
  /** The same was said before: nothing to record. */
  | {
      readonly kind: 'unchanged';
      readonly phase: ReservationPhase | null;
      readonly outcome: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'rejected'; readonly rejection: BudgetRejection };
