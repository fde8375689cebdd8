// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Brief, CommandEnvelope, Debit, Excess, Hash, Money, Raise } from './common.js';

/** An approval that an effect needed beforehand, while nobody knows of it. */
export interface AwaitedApproval {
  /** Question that people had to agree to: derived from tenant, run, effect and the digest of what was done. */
  readonly approval_id: string;
  /** Whom the rung of the agent wanted asked: human or dual_control; or refused, where nobody could have agreed. */
  readonly wanted: string;
  /** Agent that acted. */
  readonly agent_id: string;
  /** Capability that was called. */
  readonly capability: string;
  /** When the ledger recorded the effect: what is approved later is not approved before; epoch milliseconds. */
  readonly executed_at: number;
  /** When it counts as missing; epoch milliseconds. */
  readonly wait_until: number;
}

/** An execution nobody reserved was counted, and nobody is asked: a compensation within the ceilings, or an effect that leaves no debt. */
export interface BudgetDebited {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** Id of the compensation. */
  readonly mutation_id: string;
  /** What is counted, by unit. */
  readonly debits: readonly Debit[];
  /** Capability; null where none is known. */
  readonly capability: string | null;
  /** Agent whose account it counts on; null where none is known. */
  readonly agent_id: string | null;
  /** Id derived from tenant and business subject, for caps on subjects; null where the call names none. */
  readonly subject_id: string | null;
  /** Mutation it reverses; null for an effect that is no compensation. */
  readonly reverses_mutation_id: string | null;
  /** Until when the effect can be reversed; null when it cannot. */
  readonly expires_at: number | null;
}

/** A reservation would exceed a ceiling or a cap; a person decides. */
export interface BudgetEscalated {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** Id derived from the reservation. */
  readonly escalation_id: string;
  /** Capability. */
  readonly capability: string;
  /** What was asked for, by unit. */
  readonly debits: readonly Debit[];
  /** Every bound it would exceed. */
  readonly exceeded: readonly Excess[];
  /** Agent whose account it counts on; null where none is known. */
  readonly agent_id: string | null;
  /** Id derived from tenant and business subject, for caps on subjects; null where the call names none. */
  readonly subject_id: string | null;
  /** Who asked. */
  readonly requested_by: string;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
  /** Contract of the effect, whose editors do not decide about it; null without one. */
  readonly contract_digest: Hash | null;
  /** Who is to decide. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Command. */
  readonly command_id: string;
  /** Whom the rung of the agent wants asked before the effect, as whoever asked was told: human or dual_control; null where nobody. */
  readonly forward_approval: string | null;
  /** Which attempt of the effect asked, from 1; null where nobody counted, and in records older than this field. */
  readonly attempt: number | null;
}

export const BUDGET_SCOPE_VALUES = ['run', 'agent', 'tenant', 'platform'] as const;
export type BudgetScope = (typeof BUDGET_SCOPE_VALUES)[number];

export const BUDGET_MEASURE_VALUES = ['debt', 'value'] as const;
export type BudgetMeasure = (typeof BUDGET_MEASURE_VALUES)[number];

export const BUDGET_WINDOW_VALUES = ['life', 'hour', 'day'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOW_VALUES)[number];

export const BUDGET_REFUNDS_VALUES = ['net', 'gross'] as const;
export type BudgetRefunds = (typeof BUDGET_REFUNDS_VALUES)[number];

/** A ceiling was set. */
export interface BudgetOpened {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** What it bounds. */
  readonly scope: BudgetScope;
  /** Run, agent or tenant. */
  readonly scope_id: string;
  /** Unit: an ISO 4217 code, comms, commitments, exposure or regulatory. */
  readonly currency: string;
  /** What it bounds: debt, or value moved. */
  readonly measure: BudgetMeasure;
  /** Over how long it counts: for ever, or within each hour or day of UTC. */
  readonly window: BudgetWindow;
  /** Whether a verified compensation frees it: net frees, gross does not. */
  readonly refunds: BudgetRefunds;
  /** Ceiling in minor units. */
  readonly ceiling_minor: number;
  /** Who set it. */
  readonly by: string;
  /** Command. */
  readonly command_id: string;
}

/** A reservation's open question passed its deadline and goes to the next owner: an escalation nobody decided, or a reservation nobody settled or released. It changes no debt. */
export interface BudgetOverdue {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** Escalation under which it is decided; id derived from the reservation. */
  readonly escalation_id: string;
  /** What is asked: ceiling, overrun or unsettled. */
  readonly about: string;
  /** What is at stake, by unit. */
  readonly debits: readonly Debit[];
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** An execution nobody reserved was debited in full; a person is asked. */
export interface BudgetOverrun {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** The mutation. */
  readonly mutation_id: string;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** What was counted that nobody reserved, by unit. */
  readonly debits: readonly Debit[];
  /** Capability; null where none is known. */
  readonly capability: string | null;
  /** Agent whose account it counts on; null where none is known. */
  readonly agent_id: string | null;
  /** Id derived from tenant and business subject, for caps on subjects; null where the call names none. */
  readonly subject_id: string | null;
  /** Every bound it has exceeded. */
  readonly exceeded: readonly Excess[];
  /** Until when the effect can be reversed; null when it cannot. */
  readonly expires_at: number | null;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
  /** Contract of the effect, whose editors do not decide about it; null without one. */
  readonly contract_digest: Hash | null;
  /** Who is asked. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** Verified compensations of a run freed its debits. */
export interface BudgetRefunded {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** What was freed, in the order in which it was observed. */
  readonly members: readonly RefundedDebit[];
}

/** A reservation was given back. */
export interface BudgetReleased {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** What was freed, by unit. */
  readonly debits: readonly Debit[];
  /** cancelled, failed, command or denied. */
  readonly cause: string;
}

/** Debt was reserved before an action. */
export interface BudgetReserved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** What the run was for and how the effect is compensated, for whoever decides. */
  readonly brief: Brief;
  /** Capability. */
  readonly capability: string;
  /** What is reserved, by unit. */
  readonly debits: readonly Debit[];
  /** Agent whose account it counts on; null where none is known. */
  readonly agent_id: string | null;
  /** Id derived from tenant and business subject, for caps on subjects; null where the call names none. */
  readonly subject_id: string | null;
  /** Command. */
  readonly command_id: string;
  /** If it is neither settled nor released by then, a person is asked; epoch milliseconds, null in records older than this field. */
  readonly settle_by: number | null;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
  /** Contract of the effect, whose editors do not decide about it; null without one. */
  readonly contract_digest: Hash | null;
  /** Whom the rung of the agent wants asked before the effect, as whoever asked was told: human or dual_control; null where nobody. */
  readonly forward_approval: string | null;
  /** Which attempt of the effect asked, from 1; null where nobody counted, and in records older than this field. */
  readonly attempt: number | null;
}

/** A later attempt of an effect goes on with what an earlier one holds, or is asked about: nothing is counted anew, and the failure of an earlier one frees nothing of it. */
export interface BudgetRetried {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** Which attempt of the effect asked; more than that of the one before. */
  readonly attempt: number;
  /** Command. */
  readonly command_id: string;
  /** Whom the rung of the agent wants asked before the effect, as whoever asked was told: human or dual_control; null where nobody. */
  readonly forward_approval: string | null;
}

/** An execution used its reservation. */
export interface BudgetSettled {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** The mutation. */
  readonly mutation_id: string;
  /** What stays counted, by unit. */
  readonly debits: readonly Debit[];
  /** Until when the effect can be reversed; null when it cannot. */
  readonly expires_at: number | null;
  /** Approval that the rung wanted before the effect and that is not known yet; null where none is waited for. */
  readonly awaited: AwaitedApproval | null;
  /** What was executed, where its capability or its subject is another than was reserved: caps count this; null where it is what was reserved. */
  readonly capability: string | null;
  /** Its subject, as an id; says something only where capability does. Null where it has none. */
  readonly subject_id: string | null;
  /** What was reserved, by unit, where something else was executed: by that the same again is known. Null where it is what was executed. */
  readonly asked: readonly Debit[] | null;
}

export const MOVED_SCOPE_VALUES = ['run', 'agent', 'tenant', 'platform'] as const;
export type MovedScope = (typeof MOVED_SCOPE_VALUES)[number];

export const MOVED_MEASURE_VALUES = ['debt', 'value'] as const;
export type MovedMeasure = (typeof MOVED_MEASURE_VALUES)[number];

export const MOVED_WINDOW_VALUES = ['life', 'hour', 'day'] as const;
export type MovedWindow = (typeof MOVED_WINDOW_VALUES)[number];

export const MOVED_CAUSE_VALUES = ['lowered', 'raised', 'decayed'] as const;
export type MovedCause = (typeof MOVED_CAUSE_VALUES)[number];

/** A ceiling is another one: lowered at once, raised by two people, or fallen back when its time was over. */
export interface CeilingMoved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Tenant. */
  readonly tenant: string;
  /** What it bounds. */
  readonly scope: MovedScope;
  /** Run, agent or tenant. */
  readonly scope_id: string;
  /** Unit: an ISO 4217 code, comms, commitments, exposure or regulatory. */
  readonly currency: string;
  /** What it bounds: debt, or value moved. */
  readonly measure: MovedMeasure;
  /** Over how long it counts. */
  readonly window: MovedWindow;
  /** Ceiling as it stood, minor units. */
  readonly from_minor: number;
  /** Ceiling from now on, minor units. */
  readonly ceiling_minor: number;
  /** When it falls back to what it was; epoch milliseconds, null for good. */
  readonly until: number | null;
  /** How it came to that. */
  readonly cause: MovedCause;
  /** Who wanted it; none where its time was over. */
  readonly by: readonly string[];
  /** Why. */
  readonly reason: string;
  /** Command; empty where its time was over. */
  readonly command_id: string;
}

export const PROPOSED_SCOPE_VALUES = ['run', 'agent', 'tenant', 'platform'] as const;
export type ProposedScope = (typeof PROPOSED_SCOPE_VALUES)[number];

export const PROPOSED_MEASURE_VALUES = ['debt', 'value'] as const;
export type ProposedMeasure = (typeof PROPOSED_MEASURE_VALUES)[number];

export const PROPOSED_WINDOW_VALUES = ['life', 'hour', 'day'] as const;
export type ProposedWindow = (typeof PROPOSED_WINDOW_VALUES)[number];

/** A ceiling would be weakened: another person than the one who proposes it decides. */
export interface CeilingProposed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant and command. */
  readonly proposal_id: string;
  /** Question under which it is decided; id derived from the proposal. */
  readonly escalation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run whose ceiling it is; empty for any other. */
  readonly run_id: string;
  /** What it bounds. */
  readonly scope: ProposedScope;
  /** Run, agent or tenant. */
  readonly scope_id: string;
  /** Unit: an ISO 4217 code, comms, commitments, exposure or regulatory. */
  readonly currency: string;
  /** What it bounds: debt, or value moved. */
  readonly measure: ProposedMeasure;
  /** Over how long it counts. */
  readonly window: ProposedWindow;
  /** Ceiling as it stands, minor units. */
  readonly from_minor: number;
  /** Ceiling as proposed, minor units. */
  readonly ceiling_minor: number;
  /** When it would fall back; epoch milliseconds, null for good. */
  readonly until: number | null;
  /** Who proposes it. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** Who is to decide. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Command. */
  readonly command_id: string;
}

/** Approve or deny an escalation. */
export interface DecideEscalation {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** The escalation. */
  readonly escalation_id: string;
  /** The decision. */
  readonly approved: boolean;
  /** Approved, and the ceilings it exceeds are higher by what is asked for, as long as that counts: nobody else has less. */
  readonly raise_once: boolean;
  /** Why. */
  readonly reason: string;
  /** Digest of the question the person saw; null: whatever it asks now. */
  readonly action_digest: Hash | null;
}

/** A person decided an escalation, or nobody did in time. If approved, what was asked for is counted once. */
export interface EscalationDecided {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** The escalation. */
  readonly escalation_id: string;
  /** The decision. */
  readonly approved: boolean;
  /** What is counted when approved, by unit. */
  readonly debits: readonly Debit[];
  /** Who decided. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
  /** If the approved reservation is neither settled nor released by then, a person is asked again; epoch milliseconds, null when it was denied. */
  readonly settle_by: number | null;
  /** Ceilings that were raised once, for this reservation alone; none where it was let through without. */
  readonly raised: readonly Raise[];
}

/** People, or a routine rule, agreed to an effect before it, and its agent began it: whoever reserves it was to ask them, or may yet reserve it. Or an attempt of it failed, and used up what was agreed before. */
export interface ForwardApprovalNoted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Question: derived from tenant, run, effect and action; empty where an attempt failed, whose action nobody told. */
  readonly approval_id: string;
  /** Tenant. */
  readonly tenant: string;
  /** Run. */
  readonly run_id: string;
  /** Mutation that used the approval. */
  readonly mutation_id: string;
  /** The most that a rung may want of it: human or dual_control; empty where an attempt failed. */
  readonly satisfies: string;
  /** When it was used, by the database of whoever keeps approvals; where an attempt failed, when the ledger recorded that; epoch milliseconds. */
  readonly used_at: number;
  /** When the attempt began that failed, and used up what was agreed before it; epoch milliseconds, null where somebody agreed. */
  readonly failed_began_at: number | null;
}

export const MOVE_CEILING_SCOPE_VALUES = ['run', 'agent', 'tenant', 'platform'] as const;
export type MoveCeilingScope = (typeof MOVE_CEILING_SCOPE_VALUES)[number];

export const MOVE_CEILING_MEASURE_VALUES = ['debt', 'value'] as const;
export type MoveCeilingMeasure = (typeof MOVE_CEILING_MEASURE_VALUES)[number];

export const MOVE_CEILING_WINDOW_VALUES = ['life', 'hour', 'day'] as const;
export type MoveCeilingWindow = (typeof MOVE_CEILING_WINDOW_VALUES)[number];

/** Raise or lower a ceiling. Lower holds at once; higher is a proposal, which another person lets through or not. */
export interface MoveCeiling {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** What it bounds. */
  readonly scope: MoveCeilingScope;
  /** Run, agent or tenant. */
  readonly scope_id: string;
  /** Unit: an ISO 4217 code, comms, commitments, exposure or regulatory. */
  readonly currency: string;
  /** What it bounds: debt, or value moved. */
  readonly measure: MoveCeilingMeasure;
  /** Over how long it counts. */
  readonly window: MoveCeilingWindow;
  /** Ceiling from then on, minor units. */
  readonly ceiling_minor: number;
  /** When it falls back to what it was; epoch milliseconds, null for good. */
  readonly until: number | null;
  /** Why. */
  readonly reason: string;
}

export const OPEN_BUDGET_SCOPE_VALUES = ['run', 'agent', 'tenant', 'platform'] as const;
export type OpenBudgetScope = (typeof OPEN_BUDGET_SCOPE_VALUES)[number];

export const OPEN_BUDGET_MEASURE_VALUES = ['debt', 'value'] as const;
export type OpenBudgetMeasure = (typeof OPEN_BUDGET_MEASURE_VALUES)[number];

export const OPEN_BUDGET_WINDOW_VALUES = ['life', 'hour', 'day'] as const;
export type OpenBudgetWindow = (typeof OPEN_BUDGET_WINDOW_VALUES)[number];

export const OPEN_BUDGET_REFUNDS_VALUES = ['net', 'gross'] as const;
export type OpenBudgetRefunds = (typeof OPEN_BUDGET_REFUNDS_VALUES)[number];

/** Set a ceiling. */
export interface OpenBudget {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** What it bounds. */
  readonly scope: OpenBudgetScope;
  /** Run, agent or tenant; of a ceiling of the platform, the tenant under it. */
  readonly scope_id: string;
  /** Unit: an ISO 4217 code, comms, commitments, exposure or regulatory. */
  readonly currency: string;
  /** What it bounds: debt, or value moved. */
  readonly measure: OpenBudgetMeasure;
  /** Over how long it counts: for ever, or within each hour or day of UTC. */
  readonly window: OpenBudgetWindow;
  /** Whether a verified compensation frees it: net frees, gross does not. */
  readonly refunds: OpenBudgetRefunds;
  /** Ceiling in minor units. */
  readonly ceiling_minor: number;
}

/** The debit of one effect, freed. */
export interface RefundedDebit {
  /** Id derived from tenant, run and effect key. */
  readonly reservation_id: string;
  /** Effect within the run. */
  readonly effect_key: string;
  /** The mutation. */
  readonly mutation_id: string;
  /** What was freed, by unit; what was disclosed stays. */
  readonly debits: readonly Debit[];
}

/** Give a reservation back. */
export interface ReleaseReservation {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** Run. */
  readonly run_id: string;
  /** Effect. */
  readonly effect_key: string;
  /** Which attempt of the effect gives it back, from 1: what a later one holds by then stays; null gives back whatever is held. */
  readonly attempt: number | null;
}

export const REACH_VALUES = ['single_subject', 'tenant', 'cross_tenant'] as const;
export type Reach = (typeof REACH_VALUES)[number];

/** Reserve debt before an action. */
export interface ReserveBudget {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** Run. */
  readonly run_id: string;
  /** Effect. */
  readonly effect_key: string;
  /** Capability: its contract gives the weight. */
  readonly capability: string;
  /** What the action moves, by unit. */
  readonly values: readonly Money[];
  /** Business subject of the call; null where it names none. */
  readonly subject_ref: string | null;
  /** How far the call reaches, where that is more than one subject; null where it does not say. */
  readonly reach: Reach | null;
  /** Agent that is about to act, for kill switches over it; null when unknown. */
  readonly agent_id: string | null;
  /** Person on whose behalf the agent acts: never who lets it spend more; null when unknown. */
  readonly initiator: string | null;
  /** What the run is to achieve, as its agent states it; without it nobody is asked to let more be spent. */
  readonly objective: string | null;
  /** Which attempt of the effect it is for, from 1: a later one goes on with what an earlier one holds; null where nobody counts, which is the first. */
  readonly attempt: number | null;
}
