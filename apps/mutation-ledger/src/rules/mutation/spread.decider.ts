// Spreads: a statement that reaches more commits than one decision holds, a bounded part at a time (docs/design/ledger.md).
//
// Boundary: whom a statement reaches is refs.decider.ts' to say; how the rows are walked, the caller's.
//
// Invariants
//   R5. A spread looks at each binding of its ref once, and once more before it ends, however many decisions it takes.
//   R6. What a spread reaches was bound before its statement: parts only ever leave less of it.
//   R7. One of an event closes windows as one statement of few does (E1, E2); what is recorded later was judged with the event known.
import type { Evidence } from '@recourse/messages';
import type { Binding, Spread } from './mutation.messages.js';
import type { Finding, MutationRecord } from '../record.messages.js';
import { inRuns, isClosedBy } from './closing.decider.js';
import { together } from './recoverability.decider.js';
import type { MoveRecord } from './recoverability.decider.js';
import { contradicted, EFFECTS_MAX, isReached, reaffirmed } from './refs.decider.js';

/** Marks that a decision of a spread may hold for each effect that owes something outside: a mark owes nothing, and is a record at the most. */
export const MARKS_PER_EFFECT = 4;
/** Most marks of one decision of a spread: as many records fit a batch. */
export const MARKS_MAX = EFFECTS_MAX * MARKS_PER_EFFECT;

/** What a mark takes of a decision. */
export interface Weight {
  readonly marks: number;
  readonly bytes: number;
}

/** What one decision of a spread may hold. */
export interface Bounds {
  /** Marks, each as many as `weighs` says. */
  readonly marksMax: number;
  readonly bytesMax: number;
  /** What a binding takes beside the one before it, for what speaks against both. */
  readonly weighs: (binding: Binding, before: Binding | undefined, evidence: Evidence) => Weight;
  /** What the event of a spread does to the window of one that it closes; null where it does nothing. */
  readonly close: (binding: Binding, evidence: Evidence) => MoveRecord | null;
}

/** Bindings of the ref that were recorded before a place in the log, the last first; null: all of them. */
export type Walk = (below: number | null) => Iterable<Binding>;

/** A part of a spread: those it reaches that rely on the ref, and what is to be recorded about all of them. */
export interface Part {
  readonly bindings: readonly Binding[];
  readonly found: readonly Finding[];
}

/**
 * Takes the next bounded part of a ref's oldest spread, and closes it with the last.
 *
 * Shape:  goes on behind where the part before ended, so that all parts together look at each binding once (R5); who was recorded
 *         again meanwhile stands before that, and is found by the one look at all of them that comes before the end.
 */
export function continueSpread(spreads: readonly Spread[], walk: Walk, bounds: Bounds): Part {
  const [spread] = [...spreads].sort((a, b) => a.position - b.position);
  if (spread === undefined) return { bindings: [], found: [] };
  const through = spread.through_seq ?? null;
  const rest = taken(spread, reached(spread, walk(through)), bounds, []);
  const { part, isAll } =
    rest.isAll && through !== null ? taken(spread, heard(spread, walk(null)), bounds, rest.part) : rest;
  const bindings = [...heard(spread, part)];
  const facts = [
    ...closedIn(spread, part, bounds),
    ...bindings.map((binding) => (spread.reaffirms === true ? reaffirmed : contradicted)(binding, spread.evidence)),
  ];
  const { spread_id, tenant, ref, position } = spread;
  const job = { spread_id, tenant, ref, position, contradicted: spread.contradicted + part.length };
  const last = part.at(-1);
  const told: MutationRecord =
    isAll || last === undefined
      ? { type: 'SpreadClosed', body: job }
      : { type: 'SpreadContinued', body: { ...job, through_mutation_id: last.mutation_id } };
  return { bindings, found: [...facts, told] };
}

/** What fits one decision beside `before`, of those that a spread reaches; `isAll`: nothing that it reaches is left. */
function taken(
  spread: Spread,
  bindings: Iterable<Binding>,
  { marksMax, bytesMax, weighs }: Bounds,
  before: readonly Binding[],
): { readonly part: readonly Binding[]; readonly isAll: boolean } {
  const part = [...before];
  const known = new Set(before.map(({ mutation_id }) => mutation_id));
  const weights = before.map((binding, at) => weighs(binding, before[at - 1], spread.evidence));
  let marks = weights.reduce((sum, one) => sum + one.marks, 0);
  let bytes = weights.reduce((sum, one) => sum + one.bytes, 0);
  for (const binding of bindings) {
    if (known.has(binding.mutation_id)) continue;
    const weight = weighs(binding, part.at(-1), spread.evidence);
    [marks, bytes] = [marks + weight.marks, bytes + weight.bytes];
    if (part.length > 0 && (marks > marksMax || bytes > bytesMax)) return { part, isAll: false };
    part.push(binding);
  }
  return { part, isAll: true };
}

/** Those that a spread tells something: they hear of what they rely on, or have a window that its event closes (R7). */
function* reached(spread: Spread, bindings: Iterable<Binding>): Generator<Binding> {
  for (const binding of bindings) if (isEnding(spread, binding) || isHearing(spread, binding)) yield binding;
}

/** Those of them that rely on the ref: once they have heard they are no more among them. */
function* heard(spread: Spread, bindings: Iterable<Binding>): Generator<Binding> {
  for (const binding of bindings) if (isHearing(spread, binding)) yield binding;
}

/** The windows that a part closes, those of a run together. */
function closedIn(spread: Spread, part: readonly Binding[], { close }: Bounds): readonly MoveRecord[] {
  const ended = part.filter((binding) => isEnding(spread, binding));
  return together(inRuns(ended).flatMap((binding) => close(binding, spread.evidence) ?? []));
}

function isEnding({ reaffirms, scope_run_id }: Spread, binding: Binding): boolean {
  return reaffirms === true && isClosedBy(scope_run_id, binding);
}

function isHearing(spread: Spread, binding: Binding): boolean {
  return isReached(spread, binding) && (spread.reaffirms !== true || binding.is_contradicted === true);
}
