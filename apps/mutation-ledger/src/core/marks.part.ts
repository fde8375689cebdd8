// Marks: the one place where a commit that falls is marked rolled back, one or many of a decision.
//
// Boundary: reads rows and views, and asks the deciders; holds no rule. What may fall is falls.part.ts' to say.
//
// Invariants
//   M2. A commit is rolled back once: what was marked, or admitted, has heard of every later trigger (`isHeard`).
//   M5. No decision is larger than a batch (L4): what does not fit is remembered, and marked in a decision of its own.
//   M6. Who counts toward the breaker of a capability counts before its mark: whoever reads in order hears of an open breaker first.
import type { DecideContext } from '@recourse/event-log';
import { isCommitId } from '@recourse/lineage';
import type { CommitRef, Fallen, RolledBack } from '@recourse/messages';
import { fellTogether, isSameReason, rolledBackTogether } from '@recourse/messages';
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
import { bytesOf, bytesOfMember, bytesOfPlan, bytesOfTold, FALL_BYTES_MAX, PLAN_BYTES_MAX } from './weights.js';

/** What marking needs beside the state. */
export interface MarkPolicy extends LedgerPolicy, Keeping {
  readonly admission: AdmissionLimits;
  /** How long consumers have to answer, by mode. */
  readonly ackWaits: AckWaits;
}

const NO_DIGEST = Buffer.alloc(0);

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
  const space = new Space(members, bytesMax);
  for (const one of members) {
    const member = withTrend(one, policy.admission);
    const isCommit = isCommitId(member.mutation_id);
    const mark = anew.has(member.mutation_id) || isCommit ? null : markOf(context, member, policy);
    const commit = isCommit ? markOfCommit(context, member, falling, policy) : null;
    const bytes = mark === null ? fell.bytesOfCommit(commit) : fell.bytesOf(mark);
    if ((mark === null && commit === null) || !space.takes(one, bytes)) {
      fell.beside([remembered(one, context.now), ...withdrawn(context, member, anew, policy)]);
      continue;
    }
    marked.push({ ...member, agent: agentOf(mark, commit) });
    if (commit !== null) fell.markCommit(commit);
    if (mark === null) continue;
    const counted = countMarked(within, mark, policy);
    draft.take(counted);
    fell.before(counted);
    fell.mark(mark);
  }
  return [...fell.records(), ...rises(context, marked, policy.admission.trend, policy)];
}

/** What is left of a decision: whatever is not marked is remembered, with its evidence. */
class Space {
  #marks: number;
  #all: number;
  /** Runs of which one did not fit: what was executed before it is not undone before it. */
  readonly #full = new Set<string>();

  constructor(members: readonly Admitted[], bytesMax: number) {
    this.#marks = bytesMax;
    const remembered = members.reduce((sum, { evidence }) => sum + bytesOfTold(evidence), 0);
    this.#all = bytesMax === Infinity ? Infinity : FALL_BYTES_MAX - remembered;
  }

  takes({ run_id, evidence }: Admitted, bytes: number): boolean {
    const more = bytes - bytesOfTold(evidence);
    if (bytes > this.#marks || more > this.#all) this.#full.add(run_id);
    if (this.#full.has(run_id)) return false;
    this.#marks -= bytes;
    this.#all -= more;
    return true;
  }
}

/** Whose action or commit fell; one of the two did. */
function agentOf(mark: Fallen | null, commit: RolledBack | null): string {
  return mark?.execution.agent_id ?? commit?.agent_id ?? '';
}

/** A mark says for how long it counts: the fold knows no configuration. */
function withTrend(member: Admitted, { trend }: AdmissionLimits): Admitted {
  return { ...member, admission: { ...member.admission, trend_window_ms: trend?.windowMs ?? 0 } };
}

/** Marks of a decision, those of one run and one reason in one record: each of its members may be acted on, or hold up others, so it has no more than a decision that acts (L4). */
class Together {
  readonly #done: MutationRecord[] = [];
  readonly #beside: MutationRecord[] = [];
  #open: [Fallen, ...Fallen[]] | null = null;
  /** Commits without an effect by run, which stand beside the marks that are open. */
  readonly #commits = new Map<string, [RolledBack, ...RolledBack[]]>();
  #plan = 0;
  #weighed: { readonly fallen: Fallen; readonly bytes: number } | null = null;

  /** Records that stand before the mark they are about; a breaker that opens stands between marks (M6). */
  before(records: readonly MutationRecord[]): void {
    if (this.#open === null || records.some(({ type }) => type === 'BreakerOpened')) this.#close();
    this.#done.push(...records);
  }

  /** Records about others, which stand after the marks that are open. */
  beside(records: readonly MutationRecord[]): void {
    this.#closeCommits();
    if (this.#open === null) this.#done.push(...records);
    else this.#beside.push(...records);
  }

  markCommit(one: RolledBack): void {
    const open = this.#commitsWith(one);
    if (open !== undefined) open.push(one);
    else {
      this.#closeCommitsOf(one.run_id);
      this.#commits.set(one.run_id, [one]);
    }
  }

  mark(fallen: Fallen): void {
    if (!this.#takes(fallen)) this.#close();
    if (this.#open === null) this.#open = [fallen];
    else this.#open.push(fallen);
    this.#plan += this.#planOf(fallen);
  }

  /** Bytes a mark adds: why it fell and its contract stand once in a record of several. */
  bytesOf(fallen: Fallen): number {
    const { evidence, terms, consumers, ...own } = fallen;
    const before = this.#takes(fallen) ? this.#open?.[this.#open.length - 1] : undefined;
    const isBound = before?.terms?.contract_digest.equals(terms?.contract_digest ?? NO_DIGEST) === true;
    return (
      bytesOfMember(own) +
      (consumers.length === 0 ? 0 : bytesOf(consumers)) +
      bytesOf(before === undefined ? evidence : evidence.root) +
      (isBound ? 0 : bytesOf(terms))
    );
  }

  /** Bytes the mark of a commit adds: why it fell stands once in a record of several. */
  bytesOfCommit(one: RolledBack | null): number {
    if (one === null || this.#commitsWith(one) === undefined) return bytesOf(one);
    const { evidence, ...own } = one;
    return bytesOf(own) + bytesOf(evidence.root);
  }

  /** Those whose record it joins: of its run and reason, with room for one more. What a reason states is sealed for one subject alone. */
  #commitsWith(one: RolledBack): [RolledBack, ...RolledBack[]] | undefined {
    const open = this.#commits.get(one.run_id);
    const isOpen =
      open?.[0].tenant === one.tenant &&
      open.length < EFFECTS_MAX &&
      one.evidence.statement === null &&
      isSameReason(open[0].evidence, one.evidence);
    return isOpen ? open : undefined;
  }

  /** Is there a record for it: of its run and reason, with room for one more, in its plan, too? */
  #takes(fallen: Fallen): boolean {
    const first = this.#open?.[0];
    return (
      this.#open !== null &&
      first?.run_id === fallen.run_id &&
      first.tenant === fallen.tenant &&
      this.#open.length < EFFECTS_MAX &&
      isSameReason(first.evidence, fallen.evidence) &&
      this.#plan + this.#planOf(fallen) <= PLAN_BYTES_MAX
    );
  }

  /** Weighed once: each is asked for before it is marked. */
  #planOf(fallen: Fallen): number {
    if (this.#weighed?.fallen !== fallen) this.#weighed = { fallen, bytes: bytesOfPlan(fallen) };
    return this.#weighed.bytes;
  }

  records(): readonly MutationRecord[] {
    this.#close();
    return this.#done;
  }

  #close(): void {
    if (this.#open !== null) this.#done.push(record('MutationsFell', fellTogether(this.#open)));
    this.#plan = 0;
    this.#closeCommits();
    this.#open = null;
    this.#done.push(...this.#beside.splice(0));
  }

  #closeCommits(): void {
    for (const run of this.#commits.keys()) this.#closeCommitsOf(run);
  }

  #closeCommitsOf(run: string): void {
    const open = this.#commits.get(run);
    if (open === undefined) return;
    this.#commits.delete(run);
    const marks = this.#open === null ? this.#done : this.#beside;
    marks.push(record('CheckpointRolledBack', rolledBackTogether(open)));
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
): RolledBack | null {
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
