// A run is taken back: which of its effects an undo reaches, in which order (B3, B17), and what a failed step takes with it (A53).
//
// Invariants
//   U1. What was executed later is contradicted first; what is only planned may still come to be, and goes before all.
//   U2. No decision holds more effects than the bound (L4): each part says where the next begins.
//   U3. Every effect of the run that was asked for is named, also those that something rolled back before.
//   U4. What is recorded again between two parts is still named: its place moves, what was named is remembered.
import { deriveId } from '@recourse/kernel';
import type { Evidence, ToolExecuted, UndoOpened } from '@recourse/messages';
import type { Mutation, Undo } from './mutation.messages.js';
import type { Body, MutationRecord } from '../record.messages.js';

/** Places above those of any log: a plan has none yet. Forty-eight bits of its id keep plans apart. */
const PLANNED_FROM = 2 ** 52;
const ID_BITS_AS_HEX = 12;

/** The undo a recorded request begins. */
export function undoOf({ undo_id, tenant, run_id, mutation_ids, evidence }: Body<UndoOpened>): Undo {
  return { undo_id, tenant, run_id, asked_ids: mutation_ids, evidence, named_ids: [], begun_at: null };
}

/** The undo of a run that one of its steps begins by failing for good; `id` is the mutation of that step. */
export function undoAfterFailure(
  id: string,
  { event_id, tenant, run_id, agent_id, capability, committed_at }: ToolExecuted,
): Undo {
  const evidence: Evidence = {
    kind: 'tool_return',
    event_id,
    ref: null,
    source: agent_id,
    statement: null,
    stated_at: committed_at,
    partition: -1,
    position: -1,
    root: null,
  };
  return {
    undo_id: deriveId('undo', id, capability, event_id),
    tenant,
    run_id,
    asked_ids: [],
    evidence,
    named_ids: [],
    begun_at: null,
  };
}

/** The next part: its effects are named, and those that stand contradicted. `mutations` are those of the run. */
export function undoPart(undo: Undo, mutations: readonly Mutation[], effectsMax: number): readonly MutationRecord[] {
  const { undo_id, tenant, run_id, asked_ids, evidence, begun_at: begunAt } = undo;
  const named = new Set(undo.named_ids);
  const own = mutations.filter((mutation) => mutation.tenant === tenant);
  const reached = own
    .filter(({ mutation_id }) => asked_ids.length === 0 || asked_ids.includes(mutation_id))
    .map((mutation) => ({ mutation, place: placeOf(mutation) }))
    .filter(
      ({ mutation: { mutation_id, created_at } }) =>
        !named.has(mutation_id) && (begunAt === null || created_at <= begunAt),
    )
    .sort((a, b) => b.place - a.place);
  const part = reached.slice(0, effectsMax);
  const isLast = part.length === reached.length;
  const standing = part.filter(({ mutation }) => mutation.rollback_id === null);
  const unknown = isLast ? asked_ids.filter((id) => !own.some(({ mutation_id }) => mutation_id === id)) : [];
  const spread: MutationRecord = {
    type: 'UndoSpread',
    body: {
      undo_id,
      tenant,
      run_id,
      mutation_ids: part.map(({ mutation }) => mutation.mutation_id),
      unknown_ids: unknown,
      asked_ids,
      evidence,
      below_seq: isLast ? 0 : (part.at(-1)?.place ?? 0),
      is_last: isLast,
    },
  };
  return [
    spread,
    ...standing.map(({ mutation: { mutation_id } }): MutationRecord => ({
      type: 'MutationContradicted',
      body: { mutation_id, tenant, run_id, evidence },
    })),
  ];
}

function placeOf({ recorded_seq, mutation_id }: Mutation): number {
  if (recorded_seq !== null) return recorded_seq;
  const digits = Number.parseInt(mutation_id.replace(/^.*_/u, '').slice(0, ID_BITS_AS_HEX), 16);
  return PLANNED_FROM + (Number.isFinite(digits) ? digits : 0);
}
