// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Brief, CommandEnvelope, Hash, Money } from './common.js';

/** A compensation nobody reserved was executed within the ceilings: its own consequence is debited, and nobody is asked. */
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
  /** Mutation it reverses. */
  readonly reverses_mutation_id: string;
  /** What is debited. */
  readonly debit: Money;
}

/** A reservation would exceed a ceiling; a person decides. */
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
  /** Value of the action the debit was weighed from; null in records older than this field. */
  readonly value: Money | null;
  /** What was asked for. */
  readonly debit: Money;
  /** Which ceiling: run or tenant. */
  readonly exceeded: string;
  /** Used of that ceiling, minor units. */
  readonly used_minor: number;
  /** The ceiling, minor units. */
  readonly ceiling_minor: number;
  /** Who asked. */
  readonly requested_by: string;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
  /** Who is to decide. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** Command. */
  readonly command_id: string;
}

export const BUDGET_SCOPE_VALUES = ['run', 'tenant'] as const;
export type BudgetScope = (typeof BUDGET_SCOPE_VALUES)[number];

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
  /** Run id or tenant. */
  readonly scope_id: string;
  /** ISO 4217 code, or exposure: then disclosures are counted. */
  readonly currency: string;
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
  /** Debit that is at stake. */
  readonly debit: Money;
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
  /** What was debited. */
  readonly debit: Money;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
  /** Who is asked. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
}

/** A verified compensation freed its debit. */
export interface BudgetRefunded {
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
  /** What was freed. */
  readonly debit: Money;
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
  /** What was freed. */
  readonly debit: Money;
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
  /** Value of the action the debit was weighed from; null in records older than this field. */
  readonly value: Money | null;
  /** Weight times value, in minor units rounded up. */
  readonly debit: Money;
  /** Command. */
  readonly command_id: string;
  /** If it is neither settled nor released by then, a person is asked; epoch milliseconds, null in records older than this field. */
  readonly settle_by: number | null;
  /** Who does not decide about it: who asked, the agent that acts, whom it acts for. */
  readonly parties: readonly string[];
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
  /** What stays debited. */
  readonly debit: Money;
}

/** Approve or deny an escalation. */
export interface DecideEscalation {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** The escalation. */
  readonly escalation_id: string;
  /** The decision. */
  readonly approved: boolean;
  /** Why. */
  readonly reason: string;
}

/** A person decided an escalation. If approved, the amount asked for is debited once. */
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
  /** What is debited when approved. */
  readonly debit: Money;
  /** Who decided. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
  /** If the approved reservation is neither settled nor released by then, a person is asked again; epoch milliseconds, null when it was denied. */
  readonly settle_by: number | null;
}

export const OPEN_BUDGET_SCOPE_VALUES = ['run', 'tenant'] as const;
export type OpenBudgetScope = (typeof OPEN_BUDGET_SCOPE_VALUES)[number];

/** Set a ceiling. */
export interface OpenBudget {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** What it bounds. */
  readonly scope: OpenBudgetScope;
  /** Run id or tenant. */
  readonly scope_id: string;
  /** ISO 4217 code, or exposure: then disclosures are counted. */
  readonly currency: string;
  /** Ceiling in minor units. */
  readonly ceiling_minor: number;
}

/** Give a reservation back. */
export interface ReleaseReservation {
  /** Who asks; the tenant is the record key. */
  readonly envelope: CommandEnvelope;
  /** Run. */
  readonly run_id: string;
  /** Effect. */
  readonly effect_key: string;
}

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
  /** Value of the action. */
  readonly value: Money;
  /** Agent that is about to act, for kill switches over it; null when unknown. */
  readonly agent_id: string | null;
  /** Person on whose behalf the agent acts: never who lets it spend more; null when unknown. */
  readonly initiator: string | null;
  /** What the run is to achieve, as its agent states it; without it nobody is asked to let more be spent. */
  readonly objective: string | null;
}
