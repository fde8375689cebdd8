// Words of the budget aggregate: what is asked, what is recorded, what is refused.
import type { Rejection } from '@recourse/kernel';
import type {
  AwaitedApproval,
  BodyOf,
  Brief,
  BudgetMeasure,
  BudgetRefunds,
  BudgetScope,
  BudgetWindow,
  Debit,
  Excess,
  Raise,
  RecordOf,
  RecordTypeOf,
} from '@recourse/messages';
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

/** What the edge gives an administrator of all tenants, and nobody of one: who sets a ceiling of the platform, and raises it. */
export const PLATFORM_ROLE = 'platform_administrator';

/** Roles, as a refusal names them: no token carries that of the platform by its word. */
export function rolesSaid(roles: readonly string[]): string {
  return roles.map((role) => (role === PLATFORM_ROLE ? `${LAST_RESORT_ROLE} of all tenants` : role)).join(' or ');
}

/** Refusals of a command, with their HTTP status. */
export const BUDGET_REJECTIONS = {
  ROLE_REQUIRED: 403,
  SELF_APPROVAL: 403,
  APPROVER_NOT_A_PERSON: 403,
  EDITOR_APPROVAL: 403,
  KILL_SWITCH: 403,
  RUNG_TOO_LOW: 403,
  AGENT_UNNAMED: 422,
  RESERVATION_UNKNOWN: 404,
  ESCALATION_UNKNOWN: 404,
  BUDGET_UNKNOWN: 404,
  BUDGET_CONFLICT: 409,
  RESERVATION_CONFLICT: 409,
  RESERVATION_DENIED: 409,
  RESERVATION_OF_ANOTHER: 403,
  RESERVATION_WRONG_PHASE: 409,
  ESCALATION_DECIDED: 409,
  DEADLINE_PASSED: 409,
  NOTHING_TO_RAISE: 409,
  CEILING_MOVED: 409,
  DIGEST_MISMATCH: 409,
  UNTIL_PAST: 422,
  KEY_MISMATCH: 422,
  SCOPE_MISMATCH: 422,
  OBJECTIVE_MISSING: 422,
  AMOUNT_INVALID: 422,
  ATTEMPT_INVALID: 422,
  CURRENCY_INVALID: 422,
} as const;

export type BudgetRejectionCode = keyof typeof BUDGET_REJECTIONS;
export type BudgetRejection = Rejection<BudgetRejectionCode>;

/** Used and ceilings of one scope in one unit, for ever or within a window; minor units. */
export interface Budget {
  readonly tenant: string;
  readonly scope: BudgetScope;
  readonly scope_id: string;
  readonly currency: string;
  readonly window: BudgetWindow;
  /** Start of the window that is counted, epoch milliseconds; 0 for ever. */
  readonly window_at: number;
  /** When it began to count, epoch milliseconds; absent where it counts for ever, and in rows older than this. */
  readonly since?: number;
  /** Ceiling of debt. Null: nobody set one, so this scope bounds nothing; what is used is counted all the same. */
  readonly ceiling_minor: number | null;
  /** Debt that stands. */
  readonly used_minor: number;
  /** Debt that was freed by verified compensations: counts against a gross ceiling. */
  readonly refunded_minor: number;
  readonly refunds: BudgetRefunds;
  /** Ceiling of value moved; null where nobody set one. */
  readonly value_ceiling_minor: number | null;
  /** Value that was moved and stands. */
  readonly moved_minor: number;
  /** Value that verified compensations moved back. */
  readonly moved_back_minor: number;
  readonly value_refunds: BudgetRefunds;
  /** What one of its ceilings falls back to, and when, epoch milliseconds; null where none does. */
  readonly decay: Decay | null;
  /** The same of the other ceiling, where both do. */
  readonly decay_too?: Decay;
  /** By how much the ceiling of debt is higher for what was let through with a raise; nothing in rows older than this. */
  readonly raised_minor?: number;
  /** The same of the ceiling of value. */
  readonly value_raised_minor?: number;
  /** True once an execution nobody reserved was debited. */
  readonly overrun: boolean;
}

/** When a ceiling falls back, epoch milliseconds, and to what. */
export interface Decay {
  readonly measure: BudgetMeasure;
  readonly at: number;
  readonly to_minor: number;
}

/** Which budget. */
export type BudgetKey = Pick<Budget, 'tenant' | 'scope' | 'scope_id' | 'currency' | 'window'>;

/** What a run has made of one capability, for the caps of its contract. */
export interface RunCapability {
  readonly tenant: string;
  readonly run_id: string;
  readonly capability: string;
  readonly calls: number;
  readonly subjects: number;
  /** By currency, minor units. */
  readonly moved: Readonly<Record<string, number>>;
}

/** How often a run touched one subject through one capability. */
export interface RunSubject {
  readonly tenant: string;
  readonly run_id: string;
  readonly capability: string;
  readonly subject_id: string;
  readonly calls: number;
}

/** What is said of a run as a whole. */
export interface RunStanding {
  readonly tenant: string;
  readonly run_id: string;
  /** Overruns that no person has let stand. */
  readonly open_overruns: number;
}

/** A reservation and what became of it; the natural key of everything here. */
export interface Reservation {
  readonly reservation_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  /** Null where none is known. */
  readonly agent_id: string | null;
  readonly capability: string | null;
  readonly subject_id: string | null;
  /** What was asked for, by unit; counted in the phases that hold a debit. */
  readonly debits: readonly Debit[];
  /** What was asked for, where something else was executed; absent where it is the same, and in rows older than this. */
  readonly asked?: readonly Debit[];
  /** When it was counted first, epoch milliseconds; null before. */
  readonly counted_at: number | null;
  /** Until when its effect can be reversed, epoch milliseconds; null when it cannot, and before it happened. */
  readonly expires_at: number | null;
  readonly phase: ReservationPhase;
  /** Who does not decide about it; none in rows older than this. */
  readonly parties?: readonly string[];
  /** Ceilings that are higher for it alone; none in rows older than this. */
  readonly raised?: readonly Raise[];
  /** Contract of the effect, 64 hex digits; null without one. */
  readonly contract_digest: string | null;
  /** What the run was for, and how the effect is compensated; null of a debit that asks nobody. */
  readonly brief: Brief | null;
  /** Whom the rung wants asked before the effect; null where nobody, nothing in rows older than this. */
  readonly forward_approval?: string | null;
  /** When attempts began that failed, newest first, epoch milliseconds: each used up what was agreed before it. Absent without one. */
  readonly failed?: readonly number[];
  /** What people had to agree to before the effect, while nobody knows that they did. */
  readonly awaited?: AwaitedApproval | null;
  /** By when it is settled or given back before a person is asked, epoch milliseconds; null when nobody has to, and once a person was asked. */
  readonly settle_by: number | null;
  /** Which attempt asked for it last; absent where nobody counts, which is the first. */
  readonly attempt?: number | null;
  /** When it was asked for anew, for another call than before, epoch milliseconds. Absent until then. */
  readonly again?: number;
}

/** A ceiling that somebody would raise. */
export type Proposal = Omit<
  BodyOf<'recourse.budgets', 'CeilingProposed'>,
  'escalation_id' | 'run_id' | 'owner' | 'deadline_at' | 'command_id'
>;

/** A question to a person: may this exceed the ceiling; this was executed unreserved; or: this was reserved and never used. */
export interface Escalation {
  readonly escalation_id: string;
  readonly reservation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_key: string;
  readonly about: 'ceiling' | 'overrun' | 'unsettled' | 'raise';
  /** The ceiling that would be raised; null of every other question. */
  readonly proposal: Proposal | null;
  /** What the run was for, and how the effect is compensated. */
  readonly brief: Brief;
  readonly agent_id: string | null;
  readonly capability: string | null;
  /** Every bound that it would exceed, or has. */
  readonly exceeded: readonly Excess[];
  readonly debits: readonly Debit[];
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
  /** How long the record of an approval may take after that of its effect, milliseconds. */
  readonly approvalWithinMs: number;
}

/** What a caller hears of a budget that was opened, or that stands so. */
export type BudgetTold = Pick<
  BodyOf<'recourse.budgets', 'BudgetOpened'>,
  'tenant' | 'scope' | 'scope_id' | 'currency' | 'measure' | 'window' | 'refunds' | 'ceiling_minor'
>;

/** What a caller hears of a ceiling that moves. */
export type MoveTold = Pick<
  BodyOf<'recourse.budgets', 'CeilingMoved'>,
  'tenant' | 'scope' | 'scope_id' | 'currency' | 'measure' | 'window' | 'ceiling_minor'
> & {
  /** Where it stood; absent where it stands so already. */
  readonly from_minor?: number;
  /** When it falls back, of one that stands so already; null for never. */
  readonly until?: number | null;
  /** The question a second person answers; absent where nobody is asked. */
  readonly escalation_id?: string;
};

/** What a caller hears of a reservation. */
export type ReservationTold = Pick<Reservation, 'reservation_id' | 'phase' | 'debits'> & {
  /** The question that people answer, and what it would exceed; absent where nobody is asked. */
  readonly escalation_id?: string;
  readonly exceeded?: readonly Excess[];
  /** Until when, epoch milliseconds; absent where the same was asked before. */
  readonly deadline_at?: number;
};

/** What a caller hears of a question they decided. */
export type EscalationTold = Pick<Escalation, 'escalation_id' | 'reservation_id'> & { readonly approved: boolean };

/** Where nothing is told of what is accepted, nothing is: a refusal alone. */
export type BudgetAnswer<Told = never> =
  | {
      readonly kind: 'recorded';
      readonly event: BudgetRecord;
      readonly also?: BudgetRecord;
      readonly outcome: Told;
    }
  /** The same was said before: nothing to record. */
  | {
      readonly kind: 'unchanged';
      readonly phase: ReservationPhase | null;
      readonly outcome: Told;
    }
  | { readonly kind: 'rejected'; readonly rejection: BudgetRejection };
