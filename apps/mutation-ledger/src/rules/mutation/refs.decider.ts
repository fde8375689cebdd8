// Refs: verdicts at a position, and which commits a later invalidation reaches (docs/design/ledger.md).
//
// Invariants
//   R1. Verdict and position come from one view; an invalidation reaches a binding iff its seq is above the binding's position.
//   R2. Scopes are apart: an invalidation for all stands for a run whatever the run's own statements say, so that both orders
//       of arrival end alike.
//   R3. No decision holds more effects than the bound; the rest is a spread, and the spreads of one ref go in order of seq.
//   R4. What was executed later is contradicted first, so that its recovery begins first.
import { deriveId } from '@recourse/kernel';
import type { AssumptionStated, Evidence, JudgedRef } from '@recourse/messages';
import { verdictScope } from '../identity.js';
import type { Binding, Spread, Verdict } from './mutation.messages.js';
import type { Body, Contradiction, Finding, MutationRecord } from '../record.messages.js';

/** Most effects of one decision (L4). */
export const EFFECTS_MAX = 200;

/** The view of the assumptions log, as far as verdicts need it. */
export interface VerdictView {
  readonly get: (key: string) => object | undefined;
  readonly position: (partition: number) => number;
  readonly partitionOf: (key: string) => number;
}

/** A ref as judged for one run. */
export interface Judgement {
  readonly judged: JudgedRef;
  readonly evidence: Evidence | null;
}

/** Judges each ref once, from one view. */
export function judgeRefs(
  tenant: string,
  runId: string,
  refs: readonly string[],
  view: VerdictView,
): readonly Judgement[] {
  return [...new Set(refs)].map((ref) => {
    const partition = view.partitionOf(ref);
    const position = view.position(partition);
    // Entries of this view are written by verdictEntry alone.
    const verdicts = [null, runId]
      .map((scope) => view.get(verdictScope(tenant, ref, scope)) as Verdict | undefined)
      .filter((found) => found !== undefined);
    const evidence = latest(
      verdicts.flatMap((found) => (found.evidence === null ? [] : [{ ...found.evidence, partition }])),
    );
    const verdict = evidence !== null ? 'invalidated' : verdicts.length > 0 ? 'holds' : 'unknown';
    return { judged: { ref, partition, position, verdict }, evidence };
  });
}

/** Entry of the view after a statement; null when the statement does not stand. */
export function verdictEntry(body: Body<AssumptionStated>, seq: number): readonly [string, Verdict] | null {
  if (body.superseded) return null;
  const { partition: _, ...evidence } = evidenceOf(body, 0, seq);
  return [
    verdictScope(body.tenant, body.ref, body.run_id),
    { verdict: body.verdict, evidence: body.verdict === 'invalidated' ? evidence : null, stated_at: body.stated_at },
  ];
}

/** A statement as evidence against what relies on it. */
export function evidenceOf(
  { source_kind, event_id, ref, source, statement, stated_at }: Body<AssumptionStated>,
  partition: number,
  position: number,
): Evidence {
  return { kind: source_kind, event_id, ref, source, statement, stated_at, partition, position, root: null };
}

/** What an execution is contradicted by when it is accepted; `bound` holds what its refs were bound to before, if they were. */
export function contradictionsAtBinding(
  mutationId: string,
  tenant: string,
  runId: string,
  judgements: readonly Judgement[],
  bound: readonly Binding[],
): readonly Contradiction[] {
  return judgements.flatMap(({ judged, evidence }) => {
    const before = bound.find((binding) => binding.ref === judged.ref);
    if (evidence === null || (before !== undefined && evidence.position <= before.position)) return [];
    return [contradicted({ mutation_id: mutationId, tenant, run_id: runId }, evidence)];
  });
}

/**
 * Says what a statement does to the bindings of its ref.
 *
 * Shape:  facts for all of them when they fit one decision and no earlier statement is still spreading, else an opened spread.
 */
export function decideStatement(
  body: Body<AssumptionStated>,
  partition: number,
  seq: number,
  bindings: readonly Binding[],
  spreads: readonly Spread[],
  effectsMax: number,
): readonly Finding[] {
  if (body.verdict !== 'invalidated' || body.superseded) return [];
  const { tenant, ref, run_id: scope_run_id } = body;
  return invalidate(
    { tenant, ref, scope_run_id, parent_run_id: null },
    evidenceOf(body, partition, seq),
    bindings,
    spreads,
    effectsMax,
  );
}

/** Contradicts what relies on a ref, or opens the spread that will. */
export function invalidate(
  about: Pick<Spread, 'tenant' | 'ref' | 'scope_run_id'> & { readonly parent_run_id: string | null },
  evidence: Evidence,
  bindings: readonly Binding[],
  spreads: readonly Spread[],
  effectsMax: number,
): readonly Finding[] {
  const { partition, position } = evidence;
  if (spreads.some((spread) => spread.position === position)) return [];
  const reached = reachedBy({ ...about, position }, bindings);
  if (reached.length === 0) return [];
  if (reached.length <= effectsMax && spreads.length === 0)
    return newest(reached, effectsMax).map((binding) => contradicted(binding, evidence));
  return [
    {
      type: 'SpreadOpened',
      body: {
        ...about,
        spread_id: deriveId('spread', about.tenant, about.ref, partition, position),
        position,
        evidence,
        reaffirms: false,
      },
    },
  ];
}

/**
 * Says which contradicted commits a statement reaffirms: those whose people may have agreed because the ref did not hold.
 *
 * Shape:  a commit for whose run another statement still contradicts the ref is left alone (R2); as for an invalidation a spread where
 *         they do not fit one decision.
 */
export function decideReaffirmation(
  body: Body<AssumptionStated>,
  partition: number,
  seq: number,
  bindings: readonly Binding[],
  spreads: readonly Spread[],
  effectsMax: number,
  view: VerdictView,
): readonly MutationRecord[] {
  if (
    body.kind !== 'reaffirmed' ||
    body.verdict !== 'holds' ||
    body.superseded ||
    spreads.some((spread) => spread.position === seq)
  )
    return [];
  const { tenant, ref, run_id: scope_run_id } = body;
  const evidence = evidenceOf(body, partition, seq);
  const reached = contradictedBefore({ position: seq, scope_run_id }, bindings).filter((binding) =>
    judgeRefs(tenant, binding.run_id, [ref], view).every(({ judged }) => judged.verdict !== 'invalidated'),
  );
  if (reached.length === 0 && spreads.length === 0) return [];
  if (reached.length <= effectsMax && spreads.length === 0)
    return newest(reached, effectsMax).map((binding) => reaffirmed(binding, evidence));
  return [openedBy(body, partition, seq)];
}

/** The spread of a statement that a ref holds: reaffirms what it contradicted, and closes the windows that it ends where it is an event. */
export function openedBy(body: Body<AssumptionStated>, partition: number, seq: number): MutationRecord<'SpreadOpened'> {
  const { tenant, ref, run_id: scope_run_id } = body;
  return {
    type: 'SpreadOpened',
    body: {
      spread_id: deriveId('spread', tenant, ref, partition, seq),
      tenant,
      ref,
      position: seq,
      scope_run_id,
      evidence: evidenceOf(body, partition, seq),
      reaffirms: true,
      parent_run_id: null,
    },
  };
}

function contradictedBefore(
  spread: Pick<Spread, 'position' | 'scope_run_id'>,
  bindings: readonly Binding[],
): readonly Binding[] {
  return reachedBy(spread, bindings).filter(({ is_contradicted: isContradicted }) => isContradicted === true);
}

export function reaffirmed(
  { mutation_id, tenant, run_id }: Pick<Binding, 'mutation_id' | 'tenant' | 'run_id'>,
  evidence: Evidence,
): MutationRecord {
  return { type: 'MutationReaffirmed', body: { mutation_id, tenant, run_id, evidence } };
}

type Reaching = Pick<Spread, 'position' | 'scope_run_id'> & { readonly parent_run_id?: string | null };

function reachedBy(reaching: Reaching, bindings: readonly Binding[]): readonly Binding[] {
  return bindings.filter((binding) => isReached(reaching, binding));
}

/** Whether its commit relies on the ref of a binding, not only hears of an event that closes its window. */
export function isReliedOn({ closes, relies }: Binding): boolean {
  return closes !== true || relies === true;
}

/** Whether a statement reaches a binding: of commits, those that named it under its own run. */
export function isReached({ position, scope_run_id, parent_run_id }: Reaching, binding: Binding): boolean {
  return (
    isReliedOn(binding) &&
    position > binding.position &&
    (binding.parent_run_id ?? null) === (parent_run_id ?? null) &&
    (scope_run_id === null || scope_run_id === binding.run_id)
  );
}

/** The newest of many, newest first (R4): a ref may have a million bindings, of which a decision takes two hundred, so that not all are put in order. */
export function newest(bindings: readonly Binding[], count: number): readonly Binding[] {
  const isFew = bindings.length <= count;
  const oldest = isFew
    ? 0
    : (Float64Array.from(bindings, ({ recorded_seq: seq }) => seq ?? 0).sort()[bindings.length - count] ?? 0);
  const taken = isFew ? [...bindings] : bindings.filter(({ recorded_seq: seq }) => (seq ?? 0) >= oldest);
  return taken
    .sort((a, b) => (b.recorded_seq ?? 0) - (a.recorded_seq ?? 0) || (a.mutation_id < b.mutation_id ? -1 : 1))
    .slice(0, count);
}

export function contradicted(
  { mutation_id, tenant, run_id }: Pick<Binding, 'mutation_id' | 'tenant' | 'run_id'>,
  evidence: Evidence,
): Contradiction {
  return { type: 'Contradiction', body: { mutation_id, tenant, run_id, evidence } };
}

function latest(evidence: readonly Evidence[]): Evidence | null {
  return [...evidence].sort((a, b) => b.position - a.position)[0] ?? null;
}
