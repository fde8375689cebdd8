// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommandEnvelope, Hash } from './common.js';

/** A version of a reversal contract was accepted; immutable from here. */
export interface ContractRegistered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Capability; also the record key. */
  readonly name: string;
  /** From 1. */
  readonly version: number;
  /** Tenant that owns it; * for all. */
  readonly tenant: string;
  /** SHA-256 of body. */
  readonly digest: Hash;
  /** The contract as canonical JSON. */
  readonly body: string;
  /** Who registered it. */
  readonly registered_by: string;
  /** Command. */
  readonly command_id: string;
}

/** New executions may not use the contract; mutations under it are still recovered. */
export interface ContractRetired {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Capability. */
  readonly name: string;
  /** Version. */
  readonly version: number;
  /** Its digest. */
  readonly digest: Hash;
  /** Who retired it. */
  readonly retired_by: string;
  /** Command. */
  readonly command_id: string;
}

/** Register a version of a reversal contract. */
export interface RegisterContract {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Capability; also the record key. */
  readonly name: string;
  /** The contract as JSON. */
  readonly body: string;
}

/** Retire a version. */
export interface RetireContract {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Capability; also the record key. */
  readonly name: string;
  /** Version. */
  readonly version: number;
}
