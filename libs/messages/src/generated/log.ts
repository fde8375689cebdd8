// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { CommandEnvelope, Hash } from './common.js';

export const COMMAND_STATUS_VALUES = ['accepted', 'rejected'] as const;
export type CommandStatus = (typeof COMMAND_STATUS_VALUES)[number];

/** The one answer to a command. */
export interface CommandAnswered {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The command. */
  readonly command_id: string;
  /** Hash of the command's body: the same id with another body is a conflict. */
  readonly body_sha256: Hash;
  /** What became of it. */
  readonly status: CommandStatus;
  /** Status the edge answers with. */
  readonly http_status: number;
  /** Rejection code; null when accepted. */
  readonly code: string | null;
  /** JSON body of the answer. */
  readonly answer: string;
}

/** Position in one partition of an input. */
export interface Cursor {
  /** Topic of the input. */
  readonly topic: string;
  /** Partition of the input. */
  readonly partition: number;
  /** Offset of the next record to read. */
  readonly offset: number;
  /** Accepted seq at that position when the input is a log; 0 for a wire. */
  readonly seq: number;
  /** Accepted hash at that position when the input is a log; zeros for a wire. */
  readonly hash: Hash;
}

/** An operator accepted that the log lost acknowledged records. */
export interface CutAccepted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** First seq that is gone. */
  readonly lost_from_seq: number;
  /** Last seq that is known to have existed. */
  readonly lost_to_seq: number;
  /** Hash of the head that is gone. */
  readonly lost_head_hash: Hash;
  /** Who accepted the loss. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
}

/** Close a parked record without effect. */
export interface DiscardParked {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Log whose loop parked the record; other loops that read this wire skip it. */
  readonly log: string;
  /** The parked record. */
  readonly parked_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** What the service owes the outside is sent again. */
export interface ObligationResent {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The obligation. */
  readonly obligation_id: string;
  /** Count of resends, from 1. */
  readonly resend: number;
}

export const PARKED_RESOLUTION_VALUES = ['redriven', 'discarded'] as const;
export type ParkedResolution = (typeof PARKED_RESOLUTION_VALUES)[number];

/** A person redrove or discarded a parked record. */
export interface ParkedResolved {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The parked record. */
  readonly parked_id: string;
  /** What was done. */
  readonly resolution: ParkedResolution;
  /** Who decided. */
  readonly by: string;
  /** Why, in the person's words. */
  readonly reason: string;
  /** Command that asked for it. */
  readonly command_id: string;
}

/** Somebody was shown what sealed payloads hold. */
export interface PayloadsRead {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The reading: id of the command that recorded it. */
  readonly reading_id: string;
  /** Tenant whose payloads they are. */
  readonly tenant: string;
  /** Who read. */
  readonly reader: string;
  /** Roles of their token. */
  readonly roles: readonly string[];
  /** Method and path by which they asked. */
  readonly route: string;
  /** What the payloads belong to, as `kind/id`, e.g. `mutation/mut_1`: at most 500, and of more those of `run/id` alone. */
  readonly things: readonly string[];
  /** Subjects the payloads are about, at most 500. */
  readonly subjects: readonly string[];
  /** Sealed payloads that were opened. */
  readonly payload_count: number;
}

/** First record of every batch: which inputs moved and what has been reacted to. */
export interface Progress {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Inputs that moved since the last Progress, with their new positions. */
  readonly cursors: readonly Cursor[];
  /** Reactions of every record up to this seq have been sent. */
  readonly reacted_seq: number;
}

/** A key that observes what a worker did. */
export interface ParkedObserver {
  /** Adapters it observes for; `*` is all of them. */
  readonly names: readonly string[];
  /** Tenants it observes for; `*` is all of them. */
  readonly tenants: readonly string[];
}

/** Whom a key speaks for. */
export interface ParkedSpeaker {
  /** The key. */
  readonly key_id: string;
  /** Roles it speaks in. */
  readonly roles: readonly string[];
  /** Names it speaks under; `*` is all of them. */
  readonly names: readonly string[];
  /** Tenants it speaks for; `*` is all of them. */
  readonly tenants: readonly string[];
  /** Other keys that observed when it came, where this one is a worker's. */
  readonly observers: readonly ParkedObserver[];
}

/** A record that could not be taken is set aside; later records of its key wait behind it. */
export interface RecordParked {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id derived from topic, partition and offset. */
  readonly parked_id: string;
  /** Topic it came from. */
  readonly topic: string;
  /** Partition it came from. */
  readonly partition: number;
  /** Offset it came from. */
  readonly offset: number;
  /** Key, as UTF-8, shortened to 512 bytes; park order is per key. */
  readonly record_key: string;
  /** Code: why it was parked. */
  readonly reason: string;
  /** One sentence for people. */
  readonly detail: string;
  /** The record's first 256 KiB, sealed when key_id is given; value_sha256 covers the whole. */
  readonly value: Buffer;
  /** SHA-256 of the whole value. */
  readonly value_sha256: Hash;
  /** Size of the whole value in bytes. */
  readonly value_bytes: number;
  /** Key that seals value; null when it is in the clear. */
  readonly key_id: string | null;
  /** Header that its sender signed it with, where records of its wire are signed. */
  readonly signature: string | null;
  /** Whose key vouched for it when it came, so that it is asked again when it is redriven; null where records of its wire are not signed. */
  readonly speaker: ParkedSpeaker | null;
  /** Tenant that it says it is of, before whose records alone it stands; null where nobody can read one, and in records older than this field. */
  readonly tenant: string | null;
}

/** Put on record who reads opened payloads, before they see them. */
export interface RecordReading {
  /** Who reads, in which tenant and by which route. */
  readonly envelope: CommandEnvelope;
  /** Log whose loop records it; other loops that read this wire skip it. */
  readonly log: string;
  /** What the payloads belong to, as `kind/id`, e.g. `mutation/mut_1`: at most 500, and of more those of `run/id` alone. */
  readonly things: readonly string[];
  /** Subjects the payloads are about, at most 500. */
  readonly subjects: readonly string[];
  /** Sealed payloads that were opened. */
  readonly payload_count: number;
}

/** A record lay on a partition that is not that of its key: it is sent to its own. */
export interface RecordRedirected {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Topic it came from. */
  readonly topic: string;
  /** Partition it came from. */
  readonly partition: number;
  /** Offset it came from. */
  readonly offset: number;
  /** Key, as UTF-8. */
  readonly record_key: string;
  /** Partition of the key: murmur2, as Java makes it. */
  readonly to_partition: number;
  /** Who sent it, by its own word: the agent, the source or the caller; null when it names nobody. */
  readonly producer: string | null;
  /** The record's bytes, sealed when key_id is given. */
  readonly value: Buffer;
  /** SHA-256 of the whole value. */
  readonly value_sha256: Hash;
  /** Key that seals value; null when it is in the clear. */
  readonly key_id: string | null;
  /** Header that its sender signed it with, where records of its wire are signed. */
  readonly signature: string | null;
}

/** Records of a wire spoke for nobody, or for somebody else: they were dropped, and this is the evidence. */
export interface RecordsRefused {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Topic they lie in. */
  readonly topic: string;
  /** Partition they lie in. */
  readonly partition: number;
  /** Offset of the first. */
  readonly from_offset: number;
  /** Offset of the last. */
  readonly to_offset: number;
  /** How many they are. */
  readonly count: number;
  /** Why nobody may have said them, the commonest first; the counts add up to `count`. */
  readonly reasons: readonly RefusedCount[];
  /** What is wrong with the first of them, for people. */
  readonly detail: string;
  /** Keys they claim to be signed with, as they first occur, ten at most; empty when they claim none. */
  readonly signing_keys: readonly string[];
  /** Over all of them: h(n) with h(0) = 32 zero octets and h(i) = SHA-256 of h(i-1) and the i-th value. */
  readonly values_sha256: Hash;
}

/** Take a parked record again. */
export interface RedriveParked {
  /** Who asks. */
  readonly envelope: CommandEnvelope;
  /** Log whose loop parked the record; other loops that read this wire skip it. */
  readonly log: string;
  /** The parked record. */
  readonly parked_id: string;
  /** Why, in the person's words. */
  readonly reason: string;
}

/** How many records were refused for one reason. */
export interface RefusedCount {
  /** Code, such as SIGNATURE_MISSING or SPEAKER_MISMATCH. */
  readonly reason: string;
  /** How many records. */
  readonly count: number;
}

/** An operator accepted that the last decision of a log lies ahead of the true time: its time stands until the true time has come. */
export interface TimeAccepted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Where time stands, epoch milliseconds: one after the last decision before it, so that what was decided before and after can be told apart. */
  readonly stands_at: number;
  /** Database time when it was accepted, epoch milliseconds; less than stands_at. */
  readonly true_now: number;
  /** Who accepted it. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
}

/** An operator accepted that a wire lost records before they were read. The Progress before it moves the cursor behind the loss. */
export interface WireLossAccepted {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** Database time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** The wire. */
  readonly topic: string;
  /** Its partition. */
  readonly partition: number;
  /** Offset up to which it had been read, not including it. */
  readonly read_to: number;
  /** First offset the wire still held; reading goes on there. */
  readonly goes_on_at: number;
  /** Who accepted the loss. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
}
