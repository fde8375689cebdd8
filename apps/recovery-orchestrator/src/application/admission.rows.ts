// Rows of limits: what counts toward them, what they hold, and what they let go. What accepted records make, and nothing else (L2).
import type { Change, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import { closureIdOf, recent, scopeIdOf, scopesOf } from '../domain/admission/admission.decisions.js';
import type { Scope } from '../domain/admission/admission.decisions.js';
import type { BreakerDoc, ClosureDoc, HeldDoc, SourceDoc, StormDoc } from '../domain/admission/admission.messages.js';
import { sourceIdOf } from '../domain/admission/admission.decisions.js';
import { paceIdOf } from '../domain/admission/pace.decisions.js';
import type { PaceDoc } from '../domain/admission/pace.decisions.js';
import { MARK_WITHIN_MS, rollbackKey } from '../domain/rollback/rollback.decider.js';
import type { RollbackDoc } from '../domain/rollback/rollback.messages.js';
import { rollbackPhaseAfter } from '../domain/rollback/rollback.transitions.js';
import { existingRollback, haltRow, put, readHalts, rollbackIn, rollbackPut } from './recoveries.kinds.js';
import type { Fold } from './recoveries.kinds.js';

interface LimitDocs {
  readonly source: SourceDoc;
  readonly storm: StormDoc;
  readonly breaker: BreakerDoc;
  readonly closure: ClosureDoc;
  readonly pace: PaceDoc;
}

/** The ledger marks what was admitted. */
const OWNER_OF_MARKS = 'service:mutation-ledger';

/** Most held triggers that one record puts up for review (L4); the last of them continues with the rest. */
const REVIEW_MAX = 200;

/** Rows that records of admission change. */
export const ADMISSION_FOLD = {
  RollbackOpened: ({ storm_window_ms: windowMs, closure_counted: isHit, ...about }, state, { decidedAt: at }) => {
    const { tenant, evidence } = about;
    const standing = rollbackIn(state, about);
    const phase = standing === undefined ? 'opened' : rollbackPhaseAfter(standing.phase, 'Opened');
    const counted =
      windowMs === 0
        ? []
        : scopesOf(tenant, evidence).map((scope) => counting(state, scope, evidence.event_id, windowMs, at));
    return [
      rollbackPut({
        ...about,
        phase,
        held: null,
        judged: null,
        beyond: standing?.beyond ?? null,
        reviewed: standing?.reviewed ?? null,
        owner: OWNER_OF_MARKS,
        deadline_at: at + MARK_WITHIN_MS,
        opened_at: at,
        updated_at: at,
      }),
      ...unlisted(standing, null),
      ...counted,
      ...(isHit ? [hit(state, tenant, evidence.event_id, at)] : []),
    ];
  },
  TriggerHeld: ({ reason, detail, cause, ...about }, state, { decidedAt: at }) => {
    const standing = rollbackIn(state, about);
    const phase = standing === undefined ? 'held' : rollbackPhaseAfter(standing.phase, 'Held');
    const { tenant, run_id, mutation_id } = about;
    // What is held on for something else keeps the deadline it had.
    const kept =
      standing?.phase === 'held'
        ? { owner: standing.owner, deadline_at: standing.deadline_at, opened_at: standing.opened_at }
        : { opened_at: at };
    return [
      rollbackPut({
        ...about,
        phase,
        held: { reason, detail, cause },
        confirmed_by: null,
        judged: null,
        bound_at: null,
        beyond: standing?.beyond ?? null,
        reviewed: standing?.reviewed ?? null,
        ...kept,
        updated_at: at,
      }),
      ...unlisted(standing, cause),
      heldPut({ tenant, run_id, mutation_id, cause, has_more: false, held_at: at }, null),
    ];
  },
  TriggerRejected: (about, state, { decidedAt: at }) => {
    const standing = existingRollback(state, about);
    return [
      rollbackPut({
        ...standing,
        phase: rollbackPhaseAfter(standing.phase, 'Rejected'),
        held: null,
        deadline_at: null,
        updated_at: at,
      }),
      ...unlisted(standing, null),
    ];
  },
  SourceJudged: (about, state, { decidedAt: at }) => {
    const { tenant, source, confirmed, weight_permille, by, reason } = about;
    const standing = existingRollback(state, about);
    const before = readLimit(state, 'source', sourceIdOf(tenant, source));
    const counts = {
      confirmed: (before?.confirmed ?? 0) + (confirmed ? 1 : 0),
      rejected: (before?.rejected ?? 0) + (confirmed ? 0 : 1),
    };
    return [
      rollbackPut({
        ...standing,
        judged: { verdict: confirmed ? 'confirmed' : 'rejected', by, reason, at },
        updated_at: at,
      }),
      row('source', sourceIdOf(tenant, source), {
        source_id: sourceIdOf(tenant, source),
        tenant,
        source,
        weight_permille,
        ...counts,
        updated_at: at,
      }),
    ];
  },
  StormCounted: ({ tenant, capability, event_id, window_ms }, state, { decidedAt: at }) => {
    return [counting(state, { scope: 'capability', tenant, name: capability }, event_id, window_ms, at)];
  },
  BreakerOpened: (about, _state, { decidedAt: at }) => {
    return [row('breaker', about.breaker_id, { ...about, phase: 'open', closed: null, opened_at: at, updated_at: at })];
  },
  BreakerClosed: ({ breaker_id: id, scope, by, reason }, state, { decidedAt: at }) => {
    const standing = readLimit(state, 'breaker', id);
    if (standing === undefined) throw new InvariantViolation('breaker-unknown', id);
    const storm = readLimit(state, 'storm', id);
    const counted = storm === undefined ? [] : [row('storm', id, { ...storm, events: [], updated_at: at })];
    const halts = scope === 'capability' ? readHalts(state).map((halt) => put(haltRow(halt, at))) : [];
    return [
      row('breaker', id, {
        ...standing,
        phase: 'closed',
        deadline_at: null,
        closed: { by, reason, at },
        updated_at: at,
      }),
      ...counted,
      ...reviewed(state, id, at),
      ...halts,
    ];
  },
  HeldReviewed: ({ cause, lifts_closure: isLifted }, state, { decidedAt: at }) => {
    const closure = isLifted ? readLimit(state, 'closure', cause) : undefined;
    return [
      ...(closure === undefined ? [] : [row('closure', cause, { ...closure, is_confirmed: true, updated_at: at })]),
      ...reviewed(state, cause, at),
    ];
  },
} satisfies Partial<Fold>;

/** Rows of the schedules a dispatch or a waiting step took a place in. */
export function evolvePaces(
  state: StateView,
  tenant: string,
  paced: readonly { readonly scope: PaceDoc['scope']; readonly name: string; readonly next_at: number }[],
  at: number,
): readonly Change[] {
  return paced.map(({ scope, name, next_at }) => {
    const id = paceIdOf(tenant, { scope, name });
    return row('pace', id, {
      pace_id: id,
      tenant,
      scope,
      name,
      next_at: Math.max(next_at, readLimit(state, 'pace', id)?.next_at ?? 0),
      updated_at: at,
    });
  });
}

/** Puts a bounded number of the triggers a cause holds up for review, each on its own. */
function reviewed(state: StateView, cause: string, at: number): readonly Change[] {
  const waiting = readHelds(state, cause);
  return waiting
    .slice(0, REVIEW_MAX)
    .map((one, place) => heldPut({ ...one, has_more: place === REVIEW_MAX - 1 && waiting.length > REVIEW_MAX }, at));
}

function counting(state: StateView, scope: Scope, eventId: string, windowMs: number, at: number): Change {
  const id = scopeIdOf(scope);
  const events = recent(readLimit(state, 'storm', id), at, windowMs).filter((one) => one.event_id !== eventId);
  const first = readLimit(state, 'storm', id)?.events.find((one) => one.event_id === eventId) ?? {
    event_id: eventId,
    at,
  };
  return row('storm', id, { storm_id: id, ...scope, events: [...events, first], updated_at: at });
}

function hit(state: StateView, tenant: string, eventId: string, at: number): Change {
  const id = closureIdOf(tenant, eventId);
  const before = readLimit(state, 'closure', id);
  return row('closure', id, {
    closure_id: id,
    tenant,
    event_id: eventId,
    hits: (before?.hits ?? 0) + 1,
    is_confirmed: before?.is_confirmed ?? false,
    updated_at: at,
  });
}

/** It leaves the list of what held it, unless that holds it still. */
function unlisted(standing: RollbackDoc | undefined, cause: string | null): readonly Change[] {
  if (standing?.held === undefined || standing.held === null || standing.held.cause === cause) return [];
  return [
    {
      op: 'delete',
      address: { kind: 'held', group: standing.held.cause, key: rollbackKey(standing.tenant, standing.mutation_id) },
    },
  ];
}

/** Key of a held trigger among those of its cause. */
export function heldKey({ tenant, mutation_id }: HeldDoc): string {
  return rollbackKey(tenant, mutation_id);
}
function heldPut(doc: HeldDoc, dueAt: number | null): Change {
  return put({ kind: 'held', group: doc.cause, key: heldKey(doc), dueAt, doc });
}
function row<Kind extends keyof LimitDocs>(kind: Kind, id: string, doc: LimitDocs[Kind]): Change {
  return put({ kind, group: id, key: id, dueAt: null, doc });
}

/** Reads the row of a limit. */
export function readLimit<Kind extends keyof LimitDocs>(
  state: StateView,
  kind: Kind,
  id: string,
): LimitDocs[Kind] | undefined {
  // Rows of these kinds are written by row() alone.
  return state.get(kind, id, id) as LimitDocs[Kind] | undefined;
}

/** Triggers that one cause holds. */
export function readHelds(state: StateView, cause: string): readonly HeldDoc[] {
  // Rows of this kind are written by heldPut alone.
  return state.list('held', cause) as readonly HeldDoc[];
}

/** Is the breaker over a capability open? */
export function isBroken(state: StateView, tenant: string, capability: string): boolean {
  return readLimit(state, 'breaker', scopeIdOf({ scope: 'capability', tenant, name: capability }))?.phase === 'open';
}

/** When the schedule of a rate is free again; 0 for one nobody used. */
export function nextPlaceAt(state: StateView, tenant: string, scope: PaceDoc['scope'], name: string): number {
  return readLimit(state, 'pace', paceIdOf(tenant, { scope, name }))?.next_at ?? 0;
}
