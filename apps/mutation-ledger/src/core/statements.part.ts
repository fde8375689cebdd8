// What statements about refs and falls of commits do to those that rely on them, as a part of the mutations core.
//
// Boundary: reads bindings and spreads, and asks the deciders; holds no rule.
import { isClosingRef } from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { Announced, AssumptionStated, Evidence } from '@recourse/messages';
import { closeByEvent, closedByStatement, inRuns } from '../rules/mutation/closing.decider.js';
import { isHeld } from '../rules/mutation/hold.decider.js';
import { decideFalls, standsRef } from '../rules/mutation/lineage.decider.js';
import type { Falling, Passed } from '../rules/mutation/lineage.decider.js';
import type { Binding } from '../rules/mutation/mutation.messages.js';
import { together } from '../rules/mutation/recoverability.decider.js';
import type { MoveRecord } from '../rules/mutation/recoverability.decider.js';
import { decideReaffirmation, decideStatement, isReliedOn, openedBy } from '../rules/mutation/refs.decider.js';
import { continueSpread, MARKS_PER_EFFECT } from '../rules/mutation/spread.decider.js';
import type { Weight } from '../rules/mutation/spread.decider.js';
import type { Body, Finding, MutationRecord } from '../rules/record.messages.js';
import { refScope } from '../rules/identity.js';
import { fall } from './falls.part.js';
import type { FallPolicy } from './falls.part.js';
import {
  asManyAsFit,
  bytesOf,
  bytesOfEvidence,
  bytesOfMember,
  bytesOfTold,
  MARKS_BYTES_MAX,
  ROOT_BYTES,
} from './weights.js';
import { withFates } from './fates.part.js';
import { cancels } from './cancels.js';
import { bindingsIn, bindingsLastFirst } from '../rows/binding.rows.js';
import { mutationIn, spreadsIn, storedMutationIn } from '../rows/mutation.rows.js';

/** What the part needs to be told. */
export interface StatementPolicy extends FallPolicy {
  /** Most commits that one decision contradicts. */
  readonly effectsMax: number;
  /** Most commits that one decision of a spread marks, as far as they owe nothing outside. */
  readonly marksMax: number;
}

/** Bytes of one decision of a spread: there is nothing beside them in it (L4). */
const SPREAD_BYTES_MAX = 700_000;
/** The mark of a commit without an effect beside its evidence, about. */
const COMMIT_BYTES = 450;

/** Statements that reach the commits of a ref: it does not hold, or it holds again. */
export function isNewsOfRef({ verdict, kind }: Pick<AssumptionStated, 'verdict' | 'kind'>): boolean {
  return verdict === 'invalidated' || kind === 'reaffirmed';
}

/** Decides a statement once the view contains it: whatever binds later is then judged at or after it. */
export function onStatement(
  context: DecideContext,
  input: RecordInput,
  body: Body<AssumptionStated>,
  policy: StatementPolicy,
): Decision {
  const { state, views } = context;
  const isEvent = isClosingRef(body.ref);
  if (body.superseded || !(isNewsOfRef(body) || isEvent)) return NOTHING;
  readUpTo(context, 'assumptions', input);
  const scope = refScope(body.tenant, body.ref);
  const bindings = bindingsIn(state, scope);
  const closed = closing(context, body, bindings, policy);
  if (closed === null) return append(openedBy(body, input.partition, input.seq));
  const spreads = spreadsIn(state, scope);
  // Each commit may be told of by itself, with the statement: a long one reaches fewer in one decision.
  const records = asManyAsFit(policy.effectsMax, (count) => {
    const contradicted = decideStatement(body, input.partition, input.seq, bindings, spreads, count);
    const verdicts = views.view('assumptions');
    const reaffirmed = decideReaffirmation(body, input.partition, input.seq, bindings, spreads, count, verdicts);
    return fall(context, [...closed, ...withCancels(context, contradicted, bindings, policy), ...reaffirmed], policy);
  });
  return append(...records);
}

/** Windows that an event closes, a record for each run of few; null where they fit no one decision (L4). */
function closing(
  context: DecideContext,
  body: Body<AssumptionStated>,
  bindings: readonly Binding[],
  { marksMax }: StatementPolicy,
): readonly MoveRecord[] | null {
  const reached = closedByStatement(body, bindings);
  if (reached.length > marksMax) return null;
  const closed = together(inRuns(reached).flatMap((binding) => close(context, binding, body) ?? []));
  return bytesOf(closed) > MARKS_BYTES_MAX ? null : closed;
}

/** What an event does to the window of one; null where it does nothing. */
function close(
  { state, now }: DecideContext,
  { run_id, mutation_id, ref }: Binding,
  { stated_at }: Pick<Evidence, 'stated_at'>,
): MoveRecord | null {
  return closeByEvent(mutationIn(state, run_id, mutation_id), { ref, stated_at }, now);
}

/** Commits fell: those derived from them are contradicted. As a statement it is decided once the view has it. */
export function onFall(
  context: DecideContext,
  input: RecordInput,
  fallen: readonly (Announced | Passed)[],
  policy: StatementPolicy,
): Decision {
  // No writer makes such a one: whatever it should have said would be lost.
  if (fallen.length === 0)
    throw new InvariantViolation('falls', `the notice at ${input.partition}/${input.seq} names no commit`);
  readUpTo(context, 'fallen', input);
  const falling = fallen.map((about) => fallingIn(context.state, about));
  const bindings = falling.flatMap((one) => one.bindings);
  // Every partition hears of every fall, and nearly always nothing of it was derived from one.
  if (bindings.length === 0) return NOTHING;
  const records = asManyAsFit(policy.effectsMax, (count) => {
    const reached = decideFalls(falling, input, count);
    const fared = falling.flatMap((one, at) => withFates(context, reached[at] ?? [], one.bindings, () => bindings));
    return fall(context, withCancels(context, fared, bindings, policy), policy);
  });
  return append(...records);
}

function fallingIn(state: StateView, about: Announced | Passed): Falling {
  const scope = refScope(about.tenant, standsRef(about.mutation_id));
  return { about, bindings: bindingsIn(state, scope), spreads: spreadsIn(state, scope) };
}

/** Reads a view at least as far as an input of its log. Errors: Lacking; InvariantViolation when it ends before the input. */
function readUpTo({ views }: DecideContext, view: string, { partition, seq }: RecordInput): void {
  const isBehind = (): boolean => views.view(view).position(partition) < seq;
  if (!isBehind()) return;
  views.readToEnd();
  if (isBehind())
    throw new InvariantViolation('judged-at', `the view is behind a statement at ${partition}/${seq}`, 'partition');
}

/** Cancels a contradicted effect that is still held, in the same decision, once. */
export function withCancels(
  context: DecideContext,
  found: readonly Finding[],
  bindings: readonly Binding[],
  policy: StatementPolicy,
): readonly Finding[] {
  const held = new Set(bindings.filter((binding) => binding.is_held === true).map((binding) => binding.mutation_id));
  if (held.size === 0) return found;
  return found.flatMap((one) => {
    if (one.type !== 'Contradiction' || !held.delete(one.body.mutation_id)) return [one];
    const mutation = mutationIn(context.state, one.body.run_id, one.body.mutation_id);
    return isHeld(mutation)
      ? [one, ...cancels(context, mutation, { reason: 'REF_INVALIDATED', eventId: one.body.evidence.event_id }, policy)]
      : [one];
  });
}

/** The next part of a statement that reaches more commits than one decision may hold. */
export function onSpreadDue(context: DecideContext, scope: string, policy: StatementPolicy): Decision {
  return append(...asManyAsFit(policy.marksMax, (marksMax) => partOf(context, scope, { ...policy, marksMax })));
}

function partOf(context: DecideContext, scope: string, policy: StatementPolicy): readonly MutationRecord[] {
  const { state } = context;
  const { bindings, found: next } = continueSpread(
    spreadsIn(state, scope),
    (below) => bindingsLastFirst(state, scope, below),
    {
      marksMax: policy.marksMax,
      bytesMax: SPREAD_BYTES_MAX,
      weighs: (binding, before, evidence) => {
        const told = isReliedOn(binding) ? weightOf(state, { binding, before, evidence }) : { marks: 0, bytes: 0 };
        const closed = binding.closes === true ? close(context, binding, evidence) : undefined;
        return closed === undefined ? told : { marks: told.marks + 1, bytes: told.bytes + bytesOf(closed) };
      },
      close: (binding, evidence) => close(context, binding, evidence),
    },
  );
  const fared = withFates(context, next, bindings, () => bindingsIn(state, scope));
  return fall(context, withCancels(context, fared, bindings, policy), policy, SPREAD_BYTES_MAX);
}

/** A binding, the one before it in the same part, and what speaks against both. */
interface Reached {
  readonly binding: Binding;
  readonly before: Binding | undefined;
  readonly evidence: Evidence;
}

/** What a binding takes of a decision, marked or told of by itself; one that is held owes a worker its cancellation (L4). */
function weightOf(state: StateView, { binding, before, evidence }: Reached): Weight {
  const { run_id, mutation_id, is_held, is_commit } = binding;
  const marks = is_held === true ? MARKS_PER_EFFECT : 1;
  const mutation = is_commit === true ? undefined : storedMutationIn(state, run_id, mutation_id);
  const why = bytesOfEvidence(evidence);
  if (mutation === undefined) return { marks, bytes: Math.max(bytesOfTold(evidence), COMMIT_BYTES + why) };
  const isBeside = before?.run_id === run_id;
  const bytes = bytesOfMember(mutation) + ROOT_BYTES + (isBeside ? 0 : why + bytesOf(mutation.terms));
  return { marks, bytes: Math.max(bytesOfTold(evidence), bytes) };
}
