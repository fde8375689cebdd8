// How much of a batch marks take (L4), about: what is long in them counts, the rest by a flat rate.
//
// Boundary: measures what a decision is about to record. No payload is opened to be measured: it is recorded as it is stored.
import { asStored } from '@recourse/event-log';
import type { Execution, MutationRef, Payload } from '@recourse/messages';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

/** What a member of a mark says beside the execution: two ids, state, hash, place, how it was admitted, numbers. */
const MEMBER_BYTES = 350;
/** Hash, key, encoding and lengths of a payload. */
const PAYLOAD_BYTES = 120;
/** Numbers, lengths and absent members of an execution and of the ref it is bound by. */
const FLAT_BYTES = 100;

/** The mark of a mutation, without what its record says once for all: why it fell, and its contract. */
export function bytesOfMember({ execution, ref }: Pick<Mutation, 'execution' | 'ref'>): number {
  return MEMBER_BYTES + bytesOfExecution(execution) + (ref === null ? 0 : bytesOfRef(ref));
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
  if (typeof value === 'string') return value.length + 2;
  if (value instanceof Uint8Array) return value.length + 40;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(asStored(value)).reduce<number>((sum, member) => sum + bytesOf(member), 2);
}
