// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Hash, HeadNote } from './common.js';

/** An alarm is over: a person says so, or the auditor with its note. */
export interface AlarmClosed {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** The auditor's time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of the alarm. */
  readonly alarm_id: string;
  /** Who closed it: a person, or the auditor once what it found is explained. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** The auditor's signed note over id, instant and name: only with one is the alarm closed. Null where a person says so, until the auditor has signed it, and where an earlier version wrote it. */
  readonly note: string | null;
}

/** The auditor found a log other than it should be; a person is asked. */
export interface AlarmRaised {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** The auditor's time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** Id of the alarm, derived from what was found and where. */
  readonly alarm_id: string;
  /** Tenant; * for what is everybody's. */
  readonly tenant: string;
  /** Run; empty, since a log is of no run. */
  readonly run_id: string;
  /** What was found, as `recourse audit verify` names it. */
  readonly finding: string;
  /** Log or wire it was found in. */
  readonly topic: string;
  /** Its partition. */
  readonly partition: number;
  /** First position it concerns; null where it has none. */
  readonly first_seq: number | null;
  /** Where it shows; null when nowhere. */
  readonly offset: number | null;
  /** What that means, in a sentence. */
  readonly detail: string;
  /** Who is to act. */
  readonly owner: string;
  /** By when; epoch milliseconds. */
  readonly deadline_at: number;
  /** The auditor's signed note over id, finding and place: only an alarm with one gives up heads once it is closed. Null where an earlier version raised it. */
  readonly note: string | null;
}

/** The auditor signed what it read. */
export interface HeadsSigned {
  /** Position in the accepted chain of the partition, from 1 without gaps. */
  readonly seq: number;
  /** Hash of the accepted record before this one; the genesis hash for the first. */
  readonly prev_hash: Hash;
  /** The auditor's time of the decision, epoch milliseconds; never decreases along a chain. */
  readonly decided_at: number;
  /** One head for each partition that has grown. */
  readonly heads: readonly HeadNote[];
}
