// How much of a batch what falls takes (L4). What is to be recorded is weighed about: what is long counts, the rest by a flat rate.
// What a decision comes to is measured whole, with all that its records say, before it is made.
//
// Boundary: measures records and what leads to them. No payload is opened to be measured: it is recorded as it is stored.
import { asStored } from '@recourse/event-log';
import type { Evidence, Execution, Fallen, MutationRef, Payload } from '@recourse/messages';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import type { MutationRecord } from '../rules/record.messages.js';

/** Bytes of all that one decision about falls records: less than a batch, whatever else is in it. */
export const FALL_BYTES_MAX = 820_000;
/** Bytes of marks in one decision: with the execution that leads to them they fit a batch. */
export const MARKS_BYTES_MAX = 350_000;
/** Bytes of what is planned about the members of one record: one plan is one decision of the orchestrator. */
export const PLAN_BYTES_MAX = 750_000;

/** Records of one decision about falls: less than a batch, whatever else is in it. */
const FALL_RECORDS_MAX = 900;
/** Place, hash, frame and key of a record, beside the run in its key. */
const RECORD_BYTES = 140;

/**
 * Decides with as many as fit a batch: half as many each time that what they lead to does not.
 *
 * Shape:  `decide` is told how many it may take, and says again what is to be recorded; one alone is never refused.
 */
export function asManyAsFit(
  most: number,
  decide: (count: number) => readonly MutationRecord[],
): readonly MutationRecord[] {
  for (let count = most; ; count = Math.floor(count / 2)) {
    const records = decide(count);
    if (count <= 1 || isFitting(records)) return records;
  }
}

function isFitting(records: readonly MutationRecord[]): boolean {
  if (records.length > FALL_RECORDS_MAX) return false;
  let left = FALL_BYTES_MAX;
  for (const { body } of records) left -= bytesOfRecord(body);
  return left >= 0;
}

/** All that a record says, and its key: most are keyed by their run. */
function bytesOfRecord(body: object): number {
  return RECORD_BYTES + bytesOf(body) + ('run_id' in body ? bytesOf(body.run_id) : 0);
}

/** Ids, owner, deadline and how it was admitted, beside the evidence of a record about one commit. */
const TOLD_BYTES = 500;
/** Names, times and places of evidence, beside what it states. */
const EVIDENCE_BYTES = 250;

/** What a trigger takes that is not marked: held, remembered, redundant, or reaffirmed. Each says its evidence whole. */
export function bytesOfTold(evidence: Evidence): number {
  return TOLD_BYTES + bytesOfEvidence(evidence);
}

/** Asked for each of a hundred thousand. */
export function bytesOfEvidence({ event_id, ref, source, statement, root }: Evidence): number {
  const names = event_id.length + source.length + lengthOf(ref) + (root === null ? 0 : ROOT_BYTES);
  return EVIDENCE_BYTES + names + bytesOfPayload(statement);
}

/** The root of a fall. */
export const ROOT_BYTES = 200;

/** What a member of a mark says beside the execution: two ids, state, hash, place, how it was admitted, numbers. */
const MEMBER_BYTES = 350;
/** Hash, key, encoding and lengths of a payload. */
const PAYLOAD_BYTES = 120;
/** Numbers, lengths and absent members of an execution and of the ref it is bound by. */
const FLAT_BYTES = 100;

/** The mark of a mutation, without what its record says once for all: why it fell, and its contract. */
export function bytesOfMember({
  execution,
  ref,
  found_out: found,
}: Pick<Mutation, 'execution' | 'ref' | 'found_out'>): number {
  return (
    MEMBER_BYTES +
    bytesOfExecution(execution) +
    (ref === null ? 0 : bytesOfRef(ref)) +
    (found === null ? 0 : bytesOf(found))
  );
}

/** Beside the execution, its ref and its contract: ids, times and lists of a plan, a look and a dispatch. */
const PLANNED_BYTES = 200;

/** What is planned about a member: its execution and ref again, the call that undoes it, and that in a look or a leg with the terms of its contract. */
export function bytesOfPlan(fallen: Fallen): number {
  const { ref, terms } = fallen;
  return PLANNED_BYTES + bytesOfMember(fallen) + 3 * bytesOfRef(ref) + bytesOf(terms);
}

/** Named one by one: this is asked for each of a hundred thousand, and going through members by name costs as much as marking them. */
function bytesOfExecution(execution: Execution): number {
  const { tenant, run_id, agent_id, step_id, call_id, capability, effect_key, idempotency_key } = execution;
  const { initiator, objective, subject_ref, external_transaction_ref, staged_ref, derived_from } = execution;
  return (
    FLAT_BYTES +
    (tenant.length + run_id.length + agent_id.length + step_id.length + call_id.length) +
    (capability.length + effect_key.length + idempotency_key.length) +
    (lengthOf(initiator) + lengthOf(objective) + lengthOf(subject_ref)) +
    (lengthOf(external_transaction_ref) + lengthOf(staged_ref)) +
    (lengthOf(execution.produced_by) + (execution.release === null ? 0 : bytesOf(execution.release))) +
    (bytesOfPayload(execution.args) + bytesOfPayload(execution.result)) +
    (bytesOfPayload(execution.prior_value) + bytesOfPayload(execution.rehearsal)) +
    derived_from.reduce((sum, { run_id: run, commit_id: id }) => sum + run.length + id.length + 4, 0)
  );
}

function bytesOfRef(ref: MutationRef): number {
  const { mutation_id, original_call_id, capability, idempotency_key } = ref;
  return (
    FLAT_BYTES +
    (mutation_id.length + original_call_id.length + capability.length + idempotency_key.length) +
    (lengthOf(ref.subject_ref) + lengthOf(ref.reversal_capability)) +
    bytesOfPayload(ref.reversal_args) +
    ref.reversal_then.reduce((sum, one) => sum + bytesOf(one), 0) +
    ref.assumption_refs.reduce((sum, name) => sum + name.length + 2, 0)
  );
}

function bytesOfPayload(payload: Payload | null): number {
  if (payload === null) return 1;
  const { body } = asStored(payload) as Payload; // what it stands for is a payload too
  return PAYLOAD_BYTES + body.length;
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}

/** Anything else. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (value instanceof Uint8Array) return value.length + 40;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(asStored(value)).reduce<number>((sum, member) => sum + bytesOf(member), 2);
}
