// Marks: the one place where a commit that falls is marked rolled back, one or many of a decision.
//
// Boundary: reads rows and views, and asks the deciders; holds no rule. What may fall is falls.part.ts' to say.
//
// Invariants
//   M2. A commit is rolled back once: what was marked, or admitted, has heard of every later trigger (`isHeard`).
//   M5. No decision is larger than a batch (L4): what does not fit is remembered, and marked in a decision of its own.
//   M6. Who counts toward the breaker of a capability counts before its mark: whoever reads in order hears of an open breaker first.
import type { DecideContext } from '@recourse/event-log';
import { asStored } from '@recourse/event-log';
import { isCommitId } from '@recourse/lineage';
import type { CommitRef, Execution, Fallen, MutationRef, Payload } from '@recourse/messages';
import { fellTogether, isSameReason } from '@recourse/messages';
import { commitIn } from '../rows/commit.rows.js';
import { mutationIn, storedMutationIn } from '../rows/mutation.rows.js';
import type { AdmissionLimits } from '../rules/admission/admission.messages.js';
import { precedingOf } from '../rules/commit/ancestry.decisions.js';
import type { Keeping } from '../rules/commit/checkpoint.decisions.js';
import { rollBackCommit } from '../rules/commit/checkpoint.decisions.js';
import type { AckWaits } from '../rules/consumer/consumer.messages.js';
import { isHandleAsked } from '../rules/handle/handle.decider.js';
import { isHeld } from '../rules/mutation/hold.decider.js';
import type { LedgerPolicy } from '../rules/mutation/mutation.decider.js';
import { rollBack } from '../rules/mutation/mutation.decider.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import { endingBy } from '../rules/mutation/closing.decider.js';
import { EFFECTS_MAX } from '../rules/mutation/refs.decider.js';
import type { MutationRecord } from '../rules/record.messages.js';
import { record } from '../rules/record.messages.js';
import { remembered } from '../rules/rollback/rollback.decider.js';
import type { Admitted } from '../rules/rollback/rollback.messages.js';
import { cancels } from './cancels.js';
import { consumersDue, scopedOf } from './consumers.part.js';
import { Draft, countMarked } from './limits.part.js';
import { stepsOf } from './run-steps.js';
import type { MarkedBy } from './trends.part.js';
import { rises } from './trends.part.js';

/** What marking needs beside the state. */
export interface MarkPolicy extends LedgerPolicy, Keeping {
  readonly admission: AdmissionLimits;
  /** How long consumers have to answer, by mode. */
  readonly ackWaits: AckWaits;
}

const NO_DIGEST = Buffer.alloc(0);

/** Bytes of what is planned about the members of one record, about: one plan is one decision of the orchestrator (L4). */
const PLAN_BYTES_MAX = 750_000;

/** Bytes of marks in one decision: with the execution that leads to them they fit a batch (L4). */
export const MARKS_BYTES_MAX = 350_000;

/** What the marks of a decision have to keep to. */
export interface Room {
  /** Commits that the same decision records anew. */
  readonly anew: ReadonlySet<string>;
  /** Bytes of marks, about. */
  readonly bytesMax: number;
}

/** Marks what was admitted; what cannot be marked in this decision is remembered until it can. */
export function marks(
  context: DecideContext,
  members: readonly Admitted[],
  { anew, bytesMax }: Room,
  policy: MarkPolicy,
): readonly MutationRecord[] {
  const draft = new Draft(context.state, context.now);
  const within = { ...context, state: draft };
  // Nothing goes on from what falls with it: rows know only what fell before.
  const falling = new Set(members.map(({ mutation_id }) => mutation_id));
  const fell = new Together();
  const marked: MarkedBy[] = [];
  let left = bytesMax;
  for (const one of members) {
    const member = withTrend(one, policy.admission);
    const isCommit = isCommitId(member.mutation_id);
    const mark = anew.has(member.mutation_id) || isCommit ? null : markOf(context, member, policy);
    const commit = isCommit ? markOfCommit(context, member, falling, policy) : null;
    const bytes = mark === null ? bytesOf(commit?.body) : fell.bytesOf(mark);
    if ((mark === null && commit === null) || bytes > left) {
      fell.beside([remembered(one, context.now), ...withdrawn(context, member, anew, policy)]);
      continue;
    }
    left -= bytes;
    marked.push({ ...member, agent: agentOf(mark, commit) });
    if (commit !== null) fell.beside([commit]);
    if (mark === null) continue;
    const counted = countMarked(within, mark, policy);
    draft.take(counted);
    fell.before(counted);
    fell.mark(mark);
  }
  return [...fell.records(), ...rises(context, marked, policy.admission.trend, policy)];
}

/** Whose action or commit fell; one of the two did. */
function agentOf(mark: Fallen | null, commit: MutationRecord<'CheckpointRolledBack'> | null): string {
  return mark?.execution.agent_id ?? commit?.body.agent_id ?? '';
}

/** A mark says for how long it counts: the fold knows no configuration. */
function withTrend(member: Admitted, { trend }: AdmissionLimits): Admitted {
  return { ...member, admission: { ...member.admission, trend_window_ms: trend?.windowMs ?? 0 } };
}

/** Marks of a decision, those of one run and one reason in one record: each of its members may be acted on, so it has no more than a decision that acts (L4). */
class Together {
  readonly #done: MutationRecord[] = [];
  readonly #beside: MutationRecord[] = [];
  #open: [Fallen, ...Fallen[]] | null = null;
  #plan = 0;

  /** Records that stand before the mark they are about; a breaker that opens stands between marks (M6). */
  before(records: readonly MutationRecord[]): void {
    if (records.some(({ type }) => type === 'BreakerOpened')) this.#close();
    this.#done.push(...records);
  }

  /** Records about others, which stand after the marks that are open. */
  beside(records: readonly MutationRecord[]): void {
    if (this.#open === null) this.#done.push(...records);
    else this.#beside.push(...records);
  }

  mark(fallen: Fallen): void {
    const first = this.#open?.[0];
    const bytes = bytesOfPlan(fallen);
    const isAlike =
      (this.#open?.length ?? 0) < EFFECTS_MAX &&
      this.#plan + bytes <= PLAN_BYTES_MAX &&
      first?.run_id === fallen.run_id &&
      first.tenant === fallen.tenant &&
      isSameReason(first.evidence, fallen.evidence);
    if (!isAlike) this.#close();
    if (this.#open === null) this.#open = [fallen];
    else this.#open.push(fallen);
    this.#plan += bytes;
  }

  /** Bytes a mark adds: why it fell and its contract stand once in a record of several. */
  bytesOf({ evidence, terms, consumers, ...own }: Fallen): number {
    const before = this.#open?.[this.#open.length - 1];
    const isTold = before !== undefined && isSameReason(before.evidence, evidence);
    const isBound = isTold && before.terms?.contract_digest.equals(terms?.contract_digest ?? NO_DIGEST) === true;
    return (
      bytesOfMember(own) +
      (consumers.length === 0 ? 0 : bytesOf(consumers)) +
      bytesOf(isTold ? evidence.root : evidence) +
      (isBound ? 0 : bytesOf(terms))
    );
  }

  records(): readonly MutationRecord[] {
    this.#close();
    return this.#done;
  }

  #close(): void {
    if (this.#open !== null) this.#done.push(record('MutationsFell', fellTogether(this.#open)));
    this.#open = null;
    this.#plan = 0;
    this.#done.push(...this.#beside.splice(0));
  }
}

/** The mark of a mutation; null while it is not recorded, or it is asked whose its handle is (H2). */
function markOf(context: DecideContext, member: Admitted, policy: MarkPolicy): Fallen | null {
  const { tenant, run_id, mutation_id } = member;
  const mutation = storedMutationIn(context.state, run_id, mutation_id);
  if (!isRecorded(mutation) || mutation.tenant !== tenant || isHandleAsked(mutation)) return null;
  const ref = endingBy(mutation.ref, mutation.expires_at);
  return rollBack({ ...mutation, ref }, member, consumersDue(context, scopedOf(mutation), policy.ackWaits));
}

function markOfCommit(
  context: DecideContext,
  member: Admitted,
  falling: ReadonlySet<string>,
  policy: MarkPolicy,
): MutationRecord<'CheckpointRolledBack'> | null {
  const { tenant, run_id, mutation_id } = member;
  const commit = commitIn(context.state, run_id, mutation_id);
  if (commit?.tenant !== tenant) return null;
  const { agent_id: agent, subject_ref: subject } = commit.checkpoint;
  const due = consumersDue(context, { tenant, agent, run: run_id, subject: subject ?? '' }, policy.ackWaits);
  const before = precedingOf(run_id, commit.parents, stepsOf(context.state, run_id), falling);
  const resume: CommitRef | null = before === null ? null : { run_id: before.run_id, commit_id: before.commit_id };
  return rollBackCommit(commit, member, resume, due, context.now, policy);
}

/** An effect that is held is cancelled with its rollback; one whose ref fell was cancelled for that. */
function withdrawn(
  context: DecideContext,
  { tenant, run_id, mutation_id, rollback_id, evidence }: Admitted,
  anew: ReadonlySet<string>,
  policy: MarkPolicy,
): readonly MutationRecord[] {
  if (evidence.ref !== null || anew.has(mutation_id)) return [];
  const mutation = mutationIn(context.state, run_id, mutation_id);
  return isHeld(mutation) && mutation.tenant === tenant
    ? cancels(context, mutation, { reason: 'ROLLED_BACK', eventId: rollback_id }, policy)
    : [];
}

// How much of a batch marks take (L4), about: what is long in them counts, the rest by a flat rate.
//
// Boundary: measures what a decision is about to record. No payload is opened to be measured: it is recorded as it is stored.

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
function bytesOfPlan(fallen: Fallen): number {
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
  if (typeof value === 'string') return value.length + 2;
  if (value instanceof Uint8Array) return value.length + 40;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(asStored(value)).reduce<number>((sum, member) => sum + bytesOf(member), 2);
}
