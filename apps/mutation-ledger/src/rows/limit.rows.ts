// Rows of limits: what counts toward them, what they hold, and what they let go. What accepted records make, and nothing else (L2).
//
// Rows: `source`, `storm`, `breaker` and `closure` by the id of what they are about; `held`, triggers by what holds them.
// Timer: a held trigger once what holds it changed.
import type { AcceptedRecord, Change, ColumnSpec, KindSpec, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { Evidence } from '@recourse/messages';
import {
  closureIdOf,
  recent,
  rootEventOf,
  scopeIdOf,
  scopesOf,
  sourceIdOf,
} from '../rules/admission/admission.decisions.js';
import type { Scope } from '../rules/admission/admission.decisions.js';
import type { BreakerDoc, ClosureDoc, HeldDoc, SourceDoc, StormDoc } from '../rules/admission/admission.messages.js';
import { rollbackKey } from '../rules/identity.js';
import type { Admitted, RollbackDoc } from '../rules/rollback/rollback.messages.js';
import type { ByType } from '../rules/record.messages.js';

interface LimitDocs {
  readonly source: SourceDoc;
  readonly storm: StormDoc;
  readonly breaker: BreakerDoc;
  readonly closure: ClosureDoc;
}

const texts = (...names: readonly string[]): readonly ColumnSpec[] =>
  names.map((name) => ({ name, type: 'text', of: ({ doc }) => textOf(doc[name]) }));
const longs = (...names: readonly string[]): readonly ColumnSpec[] =>
  names.map((name) => ({ name, type: 'bigint', of: ({ doc }) => longOf(doc[name]) }));

/** Rows of limits: group and key are the id of what they are about. Held triggers of one cause are a group. */
export const LIMIT_KINDS: readonly KindSpec[] = [
  {
    kind: 'source',
    table: 'trigger_sources',
    columns: [...texts('tenant', 'source'), ...longs('weight_permille', 'confirmed', 'rejected', 'updated_at')],
    indexes: [['tenant', 'source']],
  },
  { kind: 'storm', table: 'storms', columns: [...texts('tenant', 'scope', 'name'), ...longs('updated_at')] },
  {
    kind: 'breaker',
    table: 'breakers',
    columns: [
      ...texts('tenant', 'breaker_id', 'scope', 'name', 'run_id', 'phase', 'owner'),
      ...longs('deadline_at', 'opened_at', 'updated_at'),
    ],
    indexes: [['tenant', 'phase', 'deadline_at'], ['breaker_id']],
  },
  { kind: 'closure', table: 'closures', columns: [...texts('tenant', 'event_id'), ...longs('hits', 'updated_at')] },
  {
    kind: 'held',
    table: 'held_triggers',
    columns: [...texts('tenant', 'run_id', 'mutation_id', 'cause'), ...longs('held_at')],
    indexes: [['tenant', 'cause']],
  },
];

/** Most held triggers that one record puts up for review (L4); the last of them continues with the rest. */
const REVIEW_MAX = 200;

/** When a record was decided, and where it stands; 0 while it is not accepted. */
export type At = Pick<AcceptedRecord, 'decidedAt' | 'seq'>;

/** What records make of rows; a decision folds them too, over what it has decided so far (core/limits.part.ts). */
export type DraftFold = ByType<[state: StateView, at: At], readonly Change[]>;

/** Rows that records of limits change. */
export const LIMIT_FOLD = {
  SourceJudged: ({ tenant, source, confirmed, weight_permille }, state, { decidedAt: at }) => {
    const id = sourceIdOf(tenant, source);
    const before = readLimit(state, 'source', id);
    const counts = {
      confirmed: (before?.confirmed ?? 0) + (confirmed ? 1 : 0),
      rejected: (before?.rejected ?? 0) + (confirmed ? 0 : 1),
    };
    return [row('source', id, { source_id: id, tenant, source, weight_permille, ...counts, updated_at: at })];
  },
  StormCounted: ({ tenant, capability, event_id, window_ms }, state, { decidedAt: at }) => {
    return [counting(state, { scope: 'capability', tenant, name: capability }, event_id, window_ms, at)];
  },
  BreakerOpened: (about, _state, { decidedAt: at }) => {
    return [row('breaker', about.breaker_id, { ...about, phase: 'open', closed: null, opened_at: at, updated_at: at })];
  },
  BreakerClosed: ({ breaker_id: id, by, reason }, state, { decidedAt: at }) => {
    const standing = readLimit(state, 'breaker', id);
    if (standing === undefined) throw new InvariantViolation('breaker-unknown', id);
    const storm = readLimit(state, 'storm', id);
    return [
      row('breaker', id, {
        ...standing,
        phase: 'closed',
        deadline_at: null,
        closed: { by, reason, at },
        updated_at: at,
      }),
      ...(storm === undefined ? [] : [row('storm', id, { ...storm, events: [], updated_at: at })]),
      ...reviewed(state, id, at),
    ];
  },
  HeldReviewed: ({ cause, lifts_closure: isLifted }, state, { decidedAt: at }) => {
    const closure = isLifted ? readLimit(state, 'closure', cause) : undefined;
    return [
      ...(closure === undefined ? [] : [row('closure', cause, { ...closure, is_confirmed: true, updated_at: at })]),
      ...reviewed(state, cause, at),
    ];
  },
} satisfies DraftFold;

/** What an admitted trigger counts toward. */
export function countAdmitted(
  state: StateView,
  {
    tenant,
    evidence,
    admission: { storm_window_ms: windowMs, closure_counted: isHit },
  }: Pick<Admitted, 'tenant' | 'evidence' | 'admission'>,
  at: number,
): readonly Change[] {
  const counted =
    windowMs === 0
      ? []
      : scopesOf(tenant, evidence).map((scope) => counting(state, scope, rootEventOf(evidence), windowMs, at));
  return isHit ? [...counted, hit(state, tenant, evidence, at)] : counted;
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

function hit(state: StateView, tenant: string, evidence: Evidence, at: number): Change {
  const id = closureIdOf(tenant, evidence);
  const before = readLimit(state, 'closure', id);
  return row('closure', id, {
    closure_id: id,
    tenant,
    event_id: evidence.event_id,
    hits: (before?.hits ?? 0) + 1,
    is_confirmed: before?.is_confirmed ?? false,
    updated_at: at,
  });
}

/** It leaves the list of what held it, unless that holds it still. */
export function unlisted(
  state: StateView,
  standing: RollbackDoc | undefined,
  cause: string | null,
  at: number,
): readonly Change[] {
  if (standing?.held === undefined || standing.held === null || standing.held.cause === cause) return [];
  const { cause: group } = standing.held;
  const key = heldKey(standing);
  return [{ op: 'delete', address: { kind: 'held', group, key } }, ...passedOn(state, group, key, at)];
}

/** Another of the list goes on with what waits behind the one that leaves: else nobody would. */
function passedOn(state: StateView, cause: string, leaving: string, at: number): readonly Change[] {
  const row = state.get('held', cause, leaving) as HeldDoc | undefined; // heldPut alone writes rows of this kind
  if (row?.has_more !== true) return [];
  const next = readHelds(state, cause).find((one) => heldKey(one) !== leaving);
  return next === undefined ? [] : [heldPut({ ...next, has_more: true }, at)];
}

/** Key of a held trigger among those of its cause. */
export function heldKey({ tenant, mutation_id }: Pick<HeldDoc, 'tenant' | 'mutation_id'>): string {
  return rollbackKey(tenant, mutation_id);
}

export function heldPut(doc: HeldDoc, dueAt: number | null): Change {
  return { op: 'put', row: { kind: 'held', group: doc.cause, key: heldKey(doc), dueAt, doc } };
}

function row<Kind extends keyof LimitDocs>(kind: Kind, id: string, doc: LimitDocs[Kind]): Change {
  return { op: 'put', row: { kind, group: id, key: id, dueAt: null, doc } };
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

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
function longOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
