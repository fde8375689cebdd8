// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Hash, Money } from './common.js';

/** A piece of work was counted with what it cost and what came of it. */
export interface OutcomeCounted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from tenant, source and event. */
  readonly outcome_id: string;
  /** Hash of what was said: the same event with other content is a conflict. */
  readonly content_hash: Hash;
  /** Accepted, grounded and within policy. */
  readonly trusted: boolean;
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant; also the record key. */
  readonly tenant: string;
  /** Who says so: the agent platform, a critic. */
  readonly source: string;
  /** Agent that did the work. */
  readonly agent_id: string;
  /** Workflow the work belongs to. */
  readonly workflow_id: string;
  /** Run it was done in; null where it is about none. */
  readonly run_id: string | null;
  /** What was wanted, as the product names it; null when unknown. */
  readonly intent: string | null;
  /** Release of the agent that did it; null when unknown. */
  readonly version: string | null;
  /** Whoever it was for took it. */
  readonly accepted: boolean;
  /** It rests on what was found, not on invention. */
  readonly grounded: boolean;
  /** It kept within policy. */
  readonly policy_compliant: boolean;
  /** What the models cost; null when unknown. */
  readonly cost: Money | null;
  /** Tokens of all calls, those below among them; count. */
  readonly total_tokens: number;
  /** Tokens of calls that were made again; count. */
  readonly retry_tokens: number;
  /** Tokens of evaluations; count. */
  readonly eval_tokens: number;
  /** Calls that asked a cache first; count. */
  readonly cache_lookups: number;
  /** Calls that the cache answered; count. */
  readonly cache_hits: number;
  /** The business got what it wanted; null when nobody knows. */
  readonly succeeded: boolean | null;
  /** It led to a sale or the like; null where that is no question. */
  readonly converted: boolean | null;
  /** No person had to take over; null where that is no question. */
  readonly deflected: boolean | null;
  /** Satisfaction of whoever it was for, in thousandths, 0 to 1000; null when nobody was asked. */
  readonly csat_permille: number | null;
  /** Revenue it led to; null when unknown. */
  readonly revenue: Money | null;
  /** When the work ended by the clock of the source, epoch milliseconds. */
  readonly ended_at: number;
}

/** What a piece of work cost and what came of it. */
export interface OutcomeRecorded {
  /** Id of this event, unique per source. */
  readonly event_id: string;
  /** Tenant; also the record key. */
  readonly tenant: string;
  /** Who says so: the agent platform, a critic. */
  readonly source: string;
  /** Agent that did the work. */
  readonly agent_id: string;
  /** Workflow the work belongs to. */
  readonly workflow_id: string;
  /** Run it was done in; null where it is about none. */
  readonly run_id: string | null;
  /** What was wanted, as the product names it; null when unknown. */
  readonly intent: string | null;
  /** Release of the agent that did it; null when unknown. */
  readonly version: string | null;
  /** Whoever it was for took it. */
  readonly accepted: boolean;
  /** It rests on what was found, not on invention. */
  readonly grounded: boolean;
  /** It kept within policy. */
  readonly policy_compliant: boolean;
  /** What the models cost; null when unknown. */
  readonly cost: Money | null;
  /** Tokens of all calls, those below among them; count. */
  readonly total_tokens: number;
  /** Tokens of calls that were made again; count. */
  readonly retry_tokens: number;
  /** Tokens of evaluations; count. */
  readonly eval_tokens: number;
  /** Calls that asked a cache first; count. */
  readonly cache_lookups: number;
  /** Calls that the cache answered; count. */
  readonly cache_hits: number;
  /** The business got what it wanted; null when nobody knows. */
  readonly succeeded: boolean | null;
  /** It led to a sale or the like; null where that is no question. */
  readonly converted: boolean | null;
  /** No person had to take over; null where that is no question. */
  readonly deflected: boolean | null;
  /** Satisfaction of whoever it was for, in thousandths, 0 to 1000; null when nobody was asked. */
  readonly csat_permille: number | null;
  /** Revenue it led to; null when unknown. */
  readonly revenue: Money | null;
  /** When the work ended by the clock of the source, epoch milliseconds. */
  readonly ended_at: number;
}
