// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommandEnvelope, DropCause, EntryKind, Hash } from './common.js';

/** Confirm a proposed version as a second person. */
export interface ConfirmRegistration {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Capability; also the record key. */
  readonly name: string;
  /** Digest of what was proposed: exactly this is confirmed. */
  readonly digest: Hash;
  /** Digests of what else is confirmed with it or not at all, by capability; all of them may name each other. */
  readonly together: Readonly<Record<string, Hash>>;
}

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
  /** Tenant that owns it; * for the platform. */
  readonly tenant: string;
  /** SHA-256 of body. */
  readonly digest: Hash;
  /** The contract as canonical JSON. */
  readonly body: string;
  /** Who registered it. */
  readonly registered_by: string;
  /** Command. */
  readonly command_id: string;
  /** Second person, if the version was weaker than the one before; null when none was needed. */
  readonly confirmed_by: string | null;
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
  /** Tenant that owns it; * for the platform. */
  readonly tenant: string;
  /** Version. */
  readonly version: number;
  /** Its digest. */
  readonly digest: Hash;
  /** Who retired it. */
  readonly retired_by: string;
  /** Command. */
  readonly command_id: string;
  /** Second person, where retiring it loosens what binds; null where one was enough. */
  readonly confirmed_by: string | null;
}

/** A version of an entry was accepted; it replaces the one before. */
export interface EntryRegistered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Kind of entry. */
  readonly kind: EntryKind;
  /** Name, unique within kind and tenant. */
  readonly name: string;
  /** From 1. */
  readonly version: number;
  /** Tenant it holds for; * for all. */
  readonly tenant: string;
  /** SHA-256 of body. */
  readonly digest: Hash;
  /** The entry as canonical JSON. */
  readonly body: string;
  /** Who registered it. */
  readonly registered_by: string;
  /** Other accounts that the directory knew of who registered it. */
  readonly accounts: readonly string[];
  /** Command. */
  readonly command_id: string;
}

/** The entry no longer holds. */
export interface EntryRetired {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Kind of entry. */
  readonly kind: EntryKind;
  /** Name, unique within kind and tenant. */
  readonly name: string;
  /** Version that stood. */
  readonly version: number;
  /** Tenant it held for; * for all. */
  readonly tenant: string;
  /** Its digest. */
  readonly digest: Hash;
  /** Who retired it. */
  readonly retired_by: string;
  /** Why. */
  readonly reason: string;
  /** Command. */
  readonly command_id: string;
}

/** Register a version of a reversal contract, alone or with others that it names and that name it. */
export interface RegisterContract {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Capability; also the record key. */
  readonly name: string;
  /** The contract as JSON. */
  readonly body: string;
  /** Contracts as JSON that register with it or not at all; all of them may name each other. */
  readonly together: readonly string[];
}

/** Register a version of a policy bundle, charter, context source, kill switch or subscription. */
export interface RegisterEntry {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Kind of entry. */
  readonly kind: EntryKind;
  /** Name, unique within kind and tenant. */
  readonly name: string;
  /** The entry as JSON. */
  readonly body: string;
}

/** A proposed version did not register. */
export interface RegistrationDropped {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Capability; also the record key. */
  readonly name: string;
  /** Tenant that owns it; * for the platform. */
  readonly tenant: string;
  /** Version it would have been. */
  readonly version: number;
  /** Its digest. */
  readonly digest: Hash;
  /** Why. */
  readonly cause: DropCause;
  /** Who withdrew it or proposed another; null when it lapsed. */
  readonly dropped_by: string | null;
  /** Command; null when its time was over. */
  readonly command_id: string | null;
}

/** A weaker version of a contract waits for a second person; nothing executes under it. */
export interface RegistrationProposed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Capability; also the record key. */
  readonly name: string;
  /** Version it will be. */
  readonly version: number;
  /** Tenant that owns it; * for all. */
  readonly tenant: string;
  /** SHA-256 of body. */
  readonly digest: Hash;
  /** The contract as canonical JSON. */
  readonly body: string;
  /** What makes it weaker; each entry is a JSON pointer, a colon and the reason. */
  readonly weakenings: readonly string[];
  /** Who proposed it, and cannot confirm it. */
  readonly proposed_by: string;
  /** When it lapses unless somebody confirms it; epoch milliseconds. */
  readonly expires_at: number;
  /** Command. */
  readonly command_id: string;
  /** True where the version that stands would be retired, and the looser one of the platform bind again. */
  readonly retires: boolean;
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

/** Retire the entry that stands. */
export interface RetireEntry {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Kind of entry. */
  readonly kind: EntryKind;
  /** Name, unique within kind and tenant. */
  readonly name: string;
  /** Why. */
  readonly reason: string;
}

/** Withdraw a proposed version. */
export interface WithdrawRegistration {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Capability; also the record key. */
  readonly name: string;
}
