// Admission of triggers as a part of the orchestrator's core: rows read, the decisions asked, records and rows out.
//
// Boundary: holds no rule; those are in domain/admission/. Rows of a limit are read and written only where the limit is set:
// what counts is said by the records, so the fold knows no configuration (L2).
import { entryOf, entryView } from '@recourse/contract';
import type { AcceptedRecord, Change, DecideContext, StateView } from '@recourse/event-log';
import { InvariantViolation } from '@recourse/kernel';
import type { CloseBreaker, MutationRolledBack, ConfirmTrigger, RejectTrigger } from '@recourse/messages';
import {
  admission,
  burst,
  closureIdOf,
  isVouchedFor,
  recent,
  scopeIdOf,
  scopesOf,
  sourceIdOf,
  weightOf,
} from '../domain/admission/admission.decisions.js';
import type { Opening, Scope, Seen } from '../domain/admission/admission.decisions.js';
import type {
  AdmissionLimits,
  BreakerDoc,
  ClosureDoc,
  HeldDoc,
  SourceDoc,
  StormDoc,
} from '../domain/admission/admission.messages.js';
import {
  closeBreaker,
  judgedFact,
  judgingRefusal,
  movedWeight,
  rejectedFact,
} from '../domain/admission/judging.decisions.js';
import type { Verdict } from '../domain/admission/judging.decisions.js';
import { boundOf, reopened } from '../domain/rollback/bound.decider.js';
import { paceIdOf } from '../domain/admission/pace.decisions.js';
import type { PaceDoc } from '../domain/admission/pace.decisions.js';
import { OWNER_OF_HALTED } from '../domain/policy.messages.js';
import type { RecoveryPolicy } from '../domain/policy.messages.js';
import {
  held,
  isHeard,
  MARK_WITHIN_MS,
  opened,
  redundant,
  rollbackKey,
  triggerOfStanding,
} from '../domain/rollback/rollback.decider.js';
import type { Trigger } from '../domain/rollback/rollback.decider.js';
import { rollbackPhaseAfter } from '../domain/rollback/rollback.transitions.js';
import { bodyOf } from '../domain/step/step-row.transitions.js';
import { fact } from '../domain/step/step.messages.js';
import type { Fact, Refusal, RollbackDoc } from '../domain/step/step.messages.js';
import { haltRow, put, readHalts, readRow, rollbackPut } from './recoveries.kinds.js';

interface LimitDocs {
  readonly source: SourceDoc;
  readonly storm: StormDoc;
  readonly breaker: BreakerDoc;
  readonly closure: ClosureDoc;
  readonly pace: PaceDoc;
}

/** What became of a trigger. */
export interface Decided {
  readonly facts: readonly Fact[];
  readonly outcome: 'opened' | 'held' | 'redundant';
  readonly cause: string | null;
}

/** The ledger marks what was admitted. */
const OWNER_OF_MARKS = 'service:mutation-ledger';

/** Most held triggers one record has looked at again (L4); the last of them goes on with the rest. */
const REVIEW_MAX = 200;

/** What deciding about triggers needs beside the state. */
export interface Admitting {
  readonly policy: Pick<RecoveryPolicy, 'reviewDeadlineMs'>;
  readonly limits: AdmissionLimits;
}

/** Admits a trigger, holds it, or records that it changes nothing. `isAgain`: it was held, and what held it changed. */
export function decideTrigger(
  context: DecideContext,
  trigger: Trigger,
  { policy, limits }: Admitting,
  isAgain = false,
): Decided {
  const standing = readRow(context.state, 'rollback', trigger.runId, rollbackKey(trigger.tenant, trigger.mutationId));
  if (!isAgain && isHeard(standing, trigger.evidence.event_id))
    return { facts: [redundant(trigger)], outcome: 'redundant', cause: null };
  const { tenant, evidence, commandId } = trigger;
  const verdict = admission(
    { tenant, evidence, isCommand: commandId !== null, isAgain },
    seenOf(context, trigger, limits),
    limits,
    context.now,
  );
  if (verdict.kind === 'admit') {
    return {
      facts: [
        opened(trigger, {
          confirmedBy: null,
          stormWindowMs: verdict.isCounted ? (limits.storm?.windowMs ?? 0) : 0,
          isHit: verdict.isHit,
          boundAt: boundOf(evidence, limits, context.now),
        }),
      ],
      outcome: 'opened',
      cause: null,
    };
  }
  const opening = verdict.opens === null ? [] : [breakerFact(verdict.opens, trigger.runId, context.now, policy)];
  const isListed = standing?.phase === 'held' && !isAgain;
  return {
    facts: [...opening, isListed ? redundant(trigger) : held(trigger, verdict, context.now, policy)],
    outcome: isListed ? 'redundant' : 'held',
    cause: verdict.cause,
  };
}

/** A held trigger, after what held it changed: admitted, or held for something else. */
export function reviewHeld(context: DecideContext, cause: string, key: string, admitting: Admitting): readonly Fact[] {
  const waiting = readHelds(context.state, cause).find((one) => heldKey(one) === key);
  const standing = waiting === undefined ? undefined : readRow(context.state, 'rollback', waiting.run_id, key);
  if (waiting === undefined || standing?.phase !== 'held') return [];
  const decided = decideTrigger(context, triggerOfStanding(standing), admitting, true);
  const goesOn = waiting.has_more && decided.cause !== cause;
  return goesOn
    ? [
        ...decided.facts,
        fact('HeldReviewed', { cause, tenant: waiting.tenant, run_id: waiting.run_id, lifts_closure: false }),
      ]
    : decided.facts;
}

/** What a person says of a trigger. */
export function judge(
  context: DecideContext,
  command: ConfirmTrigger | RejectTrigger,
  verdict: Verdict,
  { policy, limits }: Admitting,
): Refusal | { readonly facts: readonly Fact[]; readonly phase: RollbackDoc['phase'] } {
  const standing = readRow(
    context.state,
    'rollback',
    command.run_id,
    rollbackKey(command.envelope.tenant, command.mutation_id),
  );
  const refusal = judgingRefusal(standing, command);
  if (refusal !== null || standing === undefined)
    return refusal ?? { httpStatus: 404, code: 'ROLLBACK_UNKNOWN', message: 'There is no such rollback.' };
  const weight = weightOf(sourceSeen(context, standing.tenant, standing.evidence.source));
  const judged = judgedFact(standing, command, verdict, weight);
  if (standing.phase !== 'held') return { facts: [judged], phase: standing.phase };
  if (verdict === 'rejected')
    return {
      facts: [rejectedFact(standing, command), judged, ...reopened(standing, context.now, policy)],
      phase: standing.beyond === null ? 'rejected' : 'beyond',
    };
  const through = opened(triggerOfStanding(standing), {
    confirmedBy: command.envelope.principal,
    stormWindowMs: 0,
    isHit: false,
    boundAt: boundOf(standing.evidence, limits, context.now),
  });
  return {
    facts: [through, judged, ...releasing(standing, weight, movedWeight(weight, verdict), limits)],
    phase: 'opened',
  };
}

/** Others that go with it: all of its event, and all of a source that is trusted from now on. */
function releasing(
  { held: holding, tenant, run_id, evidence }: RollbackDoc,
  before: number,
  after: number,
  { trustThresholdPermille: threshold }: AdmissionLimits,
): readonly Fact[] {
  if (holding?.reason === 'CLOSURE_LIMIT')
    return [fact('HeldReviewed', { cause: holding.cause, tenant, run_id, lifts_closure: true })];
  const isTrustedNow = threshold !== null && before < threshold && after >= threshold;
  return isTrustedNow
    ? [fact('HeldReviewed', { cause: sourceIdOf(tenant, evidence.source), tenant, run_id, lifts_closure: false })]
    : [];
}

/** Closes a breaker. */
export function close({ state }: DecideContext, command: CloseBreaker): Fact | Refusal {
  return closeBreaker(
    command.breaker_id.length > ID_MAX ? undefined : read(state, 'breaker', command.breaker_id),
    command,
  );
}

/** Longer ids were never given. */
const ID_MAX = 200;

/** Counts a marked commit toward the breaker of the capability that would be called, and opens it when there are too many. */
export function countMarked(
  { state, now }: DecideContext,
  {
    tenant,
    run_id,
    mutation_id,
    evidence,
    terms,
  }: Pick<MutationRolledBack, 'tenant' | 'run_id' | 'mutation_id' | 'evidence' | 'terms'>,
  { policy, limits: { storm: limit } }: Admitting,
): readonly Fact[] {
  const capability = terms?.reversal_capability ?? null;
  if (limit === null || capability === null || isVouchedFor(evidence)) return [];
  const scope: Scope = { scope: 'capability', tenant, name: capability };
  const storm = read(state, 'storm', scopeIdOf(scope));
  if (
    storm?.events.some((one) => one.event_id === evidence.event_id) === true ||
    read(state, 'breaker', scopeIdOf(scope))?.phase === 'open'
  )
    return [];
  const opening = burst(scope, storm, limit, now);
  if (opening !== null) return [breakerFact(opening, run_id, now, policy)];
  return [
    fact('StormCounted', {
      tenant,
      run_id,
      mutation_id,
      capability,
      event_id: evidence.event_id,
      window_ms: limit.windowMs,
    }),
  ];
}

/** Is the breaker over a capability open? */
export function isBroken(state: StateView, tenant: string, capability: string): boolean {
  return read(state, 'breaker', scopeIdOf({ scope: 'capability', tenant, name: capability }))?.phase === 'open';
}

/** When the schedule of a rate is free again; 0 for one nobody used. */
export function nextPlaceAt(state: StateView, tenant: string, scope: PaceDoc['scope'], name: string): number {
  return read(state, 'pace', paceIdOf(tenant, { scope, name }))?.next_at ?? 0;
}

function breakerFact(
  { scope: { scope, tenant, name }, count, limit, windowMs }: Opening,
  runId: string,
  now: number,
  { reviewDeadlineMs }: Admitting['policy'],
): Fact {
  return fact('BreakerOpened', {
    breaker_id: scopeIdOf({ scope, tenant, name }),
    scope,
    name,
    tenant,
    run_id: runId,
    count,
    limit,
    window_ms: windowMs,
    owner: OWNER_OF_HALTED,
    deadline_at: now + reviewDeadlineMs,
  });
}

/** Rows are read only where a limit is set that they are about. */
function seenOf(context: DecideContext, { tenant, evidence }: Trigger, limits: AdmissionLimits): Seen {
  const { state } = context;
  const isJudged = limits.trustThresholdPermille !== null && !isVouchedFor(evidence);
  return {
    ...(isJudged ? sourceSeen(context, tenant, evidence.source) : { source: undefined, declaredPermille: null }),
    scopes:
      limits.storm === null
        ? []
        : scopesOf(tenant, evidence).map((scope) => ({
            scope,
            storm: read(state, 'storm', scopeIdOf(scope)),
            breaker: read(state, 'breaker', scopeIdOf(scope)),
          })),
    closure: limits.closureMax === null ? undefined : read(state, 'closure', closureIdOf(tenant, evidence.event_id)),
  };
}

function sourceSeen(
  { state, views }: DecideContext,
  tenant: string,
  source: string,
): Pick<Seen, 'source' | 'declaredPermille'> {
  return {
    source: read(state, 'source', sourceIdOf(tenant, source)),
    declaredPermille: entryOf(views.view(entryView.name), 'context_source', tenant, source)?.trust_permille ?? null,
  };
}

// Rows ----------------------------------------------------------------------------------------------------------------

/** Rows an accepted record of admission changes; null for other records. */
export function evolveAdmission(state: StateView, record: AcceptedRecord): readonly Change[] | null {
  return EVOLVE[record.type]?.(state, record) ?? null;
}

const EVOLVE: Readonly<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>> = {
  RollbackOpened: (state, { body, decidedAt: at }) => {
    const { storm_window_ms: windowMs, closure_counted: isHit, ...about } = bodyOf('RollbackOpened', body);
    const { tenant, evidence } = about;
    const standing = standingOf(state, about);
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
  TriggerHeld: (state, { body, decidedAt: at }) => {
    const { reason, detail, cause, ...about } = bodyOf('TriggerHeld', body);
    const standing = standingOf(state, about);
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
  TriggerRejected: (state, { body, decidedAt: at }) => {
    const standing = existing(state, bodyOf('TriggerRejected', body));
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
  SourceJudged: (state, { body, decidedAt: at }) => {
    const about = bodyOf('SourceJudged', body);
    const { tenant, source, confirmed, weight_permille, by, reason } = about;
    const standing = existing(state, about);
    const before = read(state, 'source', sourceIdOf(tenant, source));
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
  StormCounted: (state, { body, decidedAt: at }) => {
    const { tenant, capability, event_id, window_ms } = bodyOf('StormCounted', body);
    return [counting(state, { scope: 'capability', tenant, name: capability }, event_id, window_ms, at)];
  },
  BreakerOpened: (_state, { body, decidedAt: at }) => {
    const about = bodyOf('BreakerOpened', body);
    return [row('breaker', about.breaker_id, { ...about, phase: 'open', closed: null, opened_at: at, updated_at: at })];
  },
  BreakerClosed: (state, { body, decidedAt: at }) => {
    const { breaker_id: id, scope, by, reason } = bodyOf('BreakerClosed', body);
    const standing = read(state, 'breaker', id);
    if (standing === undefined) throw new InvariantViolation('breaker-unknown', id);
    const storm = read(state, 'storm', id);
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
  HeldReviewed: (state, { body, decidedAt: at }) => {
    const { cause, lifts_closure: isLifted } = bodyOf('HeldReviewed', body);
    const closure = isLifted ? read(state, 'closure', cause) : undefined;
    return [
      ...(closure === undefined ? [] : [row('closure', cause, { ...closure, is_confirmed: true, updated_at: at })]),
      ...reviewed(state, cause, at),
    ];
  },
};

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
      next_at: Math.max(next_at, read(state, 'pace', id)?.next_at ?? 0),
      updated_at: at,
    });
  });
}

/** A bounded number of those a cause holds, each looked at by itself. */
function reviewed(state: StateView, cause: string, at: number): readonly Change[] {
  const waiting = readHelds(state, cause);
  return waiting
    .slice(0, REVIEW_MAX)
    .map((one, place) => heldPut({ ...one, has_more: place === REVIEW_MAX - 1 && waiting.length > REVIEW_MAX }, at));
}

function counting(state: StateView, scope: Scope, eventId: string, windowMs: number, at: number): Change {
  const id = scopeIdOf(scope);
  const events = recent(read(state, 'storm', id), at, windowMs).filter((one) => one.event_id !== eventId);
  const first = read(state, 'storm', id)?.events.find((one) => one.event_id === eventId) ?? { event_id: eventId, at };
  return row('storm', id, { storm_id: id, ...scope, events: [...events, first], updated_at: at });
}

function hit(state: StateView, tenant: string, eventId: string, at: number): Change {
  const id = closureIdOf(tenant, eventId);
  const before = read(state, 'closure', id);
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

function standingOf(
  state: StateView,
  { tenant, run_id, mutation_id }: Pick<RollbackDoc, 'tenant' | 'run_id' | 'mutation_id'>,
): RollbackDoc | undefined {
  return readRow(state, 'rollback', run_id, rollbackKey(tenant, mutation_id));
}

function existing(state: StateView, about: Pick<RollbackDoc, 'tenant' | 'run_id' | 'mutation_id'>): RollbackDoc {
  const standing = standingOf(state, about);
  if (standing === undefined) throw new InvariantViolation('rollback-unknown', about.mutation_id);
  return standing;
}

function heldKey({ tenant, mutation_id }: HeldDoc): string {
  return rollbackKey(tenant, mutation_id);
}
function heldPut(doc: HeldDoc, dueAt: number | null): Change {
  return put({ kind: 'held', group: doc.cause, key: heldKey(doc), dueAt, doc });
}
function row<Kind extends keyof LimitDocs>(kind: Kind, id: string, doc: LimitDocs[Kind]): Change {
  return put({ kind, group: id, key: id, dueAt: null, doc });
}

function read<Kind extends keyof LimitDocs>(state: StateView, kind: Kind, id: string): LimitDocs[Kind] | undefined {
  // Rows of these kinds are written by row() alone.
  return state.get(kind, id, id) as LimitDocs[Kind] | undefined;
}

function readHelds(state: StateView, cause: string): readonly HeldDoc[] {
  // Rows of this kind are written by heldPut alone.
  return state.list('held', cause) as readonly HeldDoc[];
}
