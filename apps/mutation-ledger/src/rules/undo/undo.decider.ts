// A run is taken back, or some of its effects: because somebody asks for it (B3), or because one of its steps failed for good
// (A53). Which effects an undo reaches, in which order (B17). What became of them is told by undo-report.query.ts.
//
// Invariants
//   U1. What was executed later falls first; what is only planned may still come to be, and goes before all.
//   U2. No decision holds more effects than the bound (L4): what was named is remembered, and the next part names the rest.
//   U3. Every effect of the run that was asked for is named, also those that something rolled back before.
//   U4. What is recorded again between two parts is still named: its place moves, what was named is remembered.
import { deriveId, isRunId, isUsableId } from '@recourse/kernel';
import { plainPayload } from '@recourse/contract';
import type { Evidence, ToolExecuted, UndoRun } from '@recourse/messages';
import type { Mutation } from '../mutation/mutation.messages.js';
import { record } from '../record.messages.js';
import type { Finding } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';
import { kindOfWord } from '../rollback/rollback.decider.js';
import type { Undo } from './undo.messages.js';

/** Most mutations one request may name; a whole run may have any number. */
export const UNDO_IDS_MAX = 200;

/** Places above those of any log: a plan has none yet. Forty-eight bits of its id keep plans apart. */
const PLANNED_FROM = 2 ** 52;
const ID_BITS_AS_HEX = 12;

/** Ids follow from their cause (L1). */
export function undoIdOf(commandId: string): string {
  return deriveId('undo', commandId);
}

/** Refuses what no row could hold, and lists nobody could oversee. */
export function undoRefusal({ envelope, run_id, mutation_ids: ids }: UndoRun): Refusal | null {
  if (ids.length > UNDO_IDS_MAX)
    return invalid(`One request names ${String(UNDO_IDS_MAX)} mutations at the most; name none for the whole run.`);
  if (new Set(ids).size !== ids.length) return invalid('A mutation is named twice.');
  return isRunId(run_id) && [envelope.tenant, ...ids].every(isUsableId)
    ? null
    : invalid('Tenant and mutations must be 1 to 200 bytes without NUL, a run up to 512.');
}

/** The undo that a person asks for, or a program. */
export function undoOf({ envelope, run_id, mutation_ids, reason }: UndoRun): Undo {
  const { command_id, principal, tenant, issued_at } = envelope;
  const evidence: Evidence = {
    kind: kindOfWord(envelope),
    event_id: command_id,
    ref: null,
    source: principal,
    statement: plainPayload({ reason }),
    stated_at: issued_at,
    partition: -1,
    position: -1,
    root: null,
  };
  return {
    undo_id: undoIdOf(command_id),
    tenant,
    run_id,
    command_id,
    begun_by: null,
    asked_ids: mutation_ids,
    evidence,
    mutation_ids: [],
    opened_at: null,
  };
}

/** A step that failed, and how that is known. */
export type FailedStep = Pick<
  ToolExecuted,
  'event_id' | 'tenant' | 'run_id' | 'agent_id' | 'capability' | 'step_id' | 'error_kind' | 'committed_at'
>;

/** The undo of a run that one of its steps begins by failing for good; `id` is the mutation of that step, and whoever agrees is told of it. */
export function undoAfterFailure(
  id: string,
  { event_id, tenant, run_id, agent_id, capability, step_id, error_kind, committed_at }: FailedStep,
): Undo {
  const evidence: Evidence = {
    kind: 'tool_return',
    event_id,
    ref: null,
    source: agent_id,
    statement: plainPayload({ failed: id, capability, step_id, error_kind }),
    stated_at: committed_at,
    partition: -1,
    position: -1,
    root: null,
  };
  return {
    undo_id: deriveId('undo', id, capability, event_id),
    tenant,
    run_id,
    command_id: null,
    begun_by: { mutation_id: id, step_id },
    asked_ids: [],
    evidence,
    mutation_ids: [],
    opened_at: null,
  };
}

/** Effects of a run that an undo is about: not the step that began it, nor what fell before without it. */
export function reachOf({ tenant, begun_by }: Undo, mutations: readonly Mutation[]): readonly Mutation[] {
  return mutations.filter(
    (mutation) =>
      mutation.tenant === tenant &&
      (begun_by === null || (mutation.mutation_id !== begun_by.mutation_id && mutation.rollback_id === null)),
  );
}

/** The next part: its effects are named, and those that stand are to fall. `mutations` are those of the run. */
export function undoPart(undo: Undo, mutations: readonly Mutation[], effectsMax: number): readonly Finding[] {
  const { undo_id, tenant, run_id, command_id, begun_by, asked_ids, evidence, opened_at: openedAt } = undo;
  const named = new Set(undo.mutation_ids);
  const own = reachOf(undo, mutations);
  const reached = own
    .filter(({ mutation_id }) => asked_ids.length === 0 || asked_ids.includes(mutation_id))
    .map((mutation) => ({ mutation, place: placeOf(mutation) }))
    .filter(
      ({ mutation: { mutation_id, created_at } }) =>
        !named.has(mutation_id) && (openedAt === null || created_at <= openedAt),
    )
    .sort((a, b) => b.place - a.place);
  const part = reached.slice(0, effectsMax).map(({ mutation }) => mutation);
  const isLast = part.length === reached.length;
  const listed = record('UndoListed', {
    undo_id,
    tenant,
    run_id,
    command_id,
    begun_by,
    asked_ids,
    evidence,
    mutation_ids: part.map(({ mutation_id }) => mutation_id),
    unknown_ids: isLast ? asked_ids.filter((id) => !own.some(({ mutation_id }) => mutation_id === id)) : [],
    is_last: isLast,
  });
  const standing = part.filter(({ rollback_id }) => rollback_id === null);
  return [
    listed,
    ...standing.map(({ mutation_id }): Finding => ({
      type: 'Contradiction',
      body: { mutation_id, tenant, run_id, evidence },
    })),
  ];
}

function placeOf({ recorded_seq, mutation_id }: Mutation): number {
  if (recorded_seq !== null) return recorded_seq;
  const digits = Number.parseInt(mutation_id.replace(/^.*_/u, '').slice(0, ID_BITS_AS_HEX), 16);
  return PLANNED_FROM + (Number.isFinite(digits) ? digits : 0);
}

function invalid(message: string): Refusal {
  return { code: 'COMMAND_INVALID', message };
}
