// What each record of a log means for what waits: an item opens, ends, or its deadline moves. Two tables, one row per record type.
//
// Boundary: pure; (what is known, record) -> what is known then. Decides nothing about recoveries: what the record says is so.
//
// Invariants
//   N1. Every record type has a row; a type that is newer than this build says nothing.
//   N2. A thing that waits for the same again goes on waiting: it is no new item.
//   N3. Nothing but ids, codes, counts and instants is taken from a record.
import type { BudgetsRecord, RecoveriesRecord, TopicName } from '@recourse/messages';
import { capabilityOf, codeOf, keyOf, nameOf } from './item.messages.js';
import type { ItemKind, Place, Thing, ThingChange, ThingKind } from './item.messages.js';

/** Logs in which something can come to wait for a person. */
export const FOLLOWED_LOGS = ['recourse.recoveries', 'recourse.budgets'] as const satisfies readonly TopicName[];
export type FollowedLog = (typeof FOLLOWED_LOGS)[number];

/** What is known of a thing, by its key. */
export type Known = (key: string) => Thing | undefined;

interface Meaning<Body> {
  /** Keys of the things the record is about. */
  readonly about: (body: Body) => readonly string[];
  readonly then: (body: Body, known: Known, place: Place) => readonly ThingChange[];
}

type BodyOf<Record extends { readonly type: string }, Type extends Record['type']> =
  Extract<Record, { readonly type: Type }> extends { readonly body: infer Body } ? Body : never;
type Meanings<Record extends { readonly type: string }> = {
  readonly [Type in Record['type']]: Meaning<BodyOf<Record, Type>> | null;
};
type Recoveries<Type extends RecoveriesRecord['type']> = BodyOf<RecoveriesRecord, Type>;

/** Records of the loop itself. What is parked waits for an administrator, who has a list of it. */
const OF_THE_LOOP = {
  Progress: null,
  RecordParked: null,
  ParkedResolved: null,
  CommandAnswered: null,
  ObligationResent: null,
  CutAccepted: null,
} as const;

/** What the records of the recoveries mean; `null` means that nothing opens, ends or moves. */
export const RECOVERY_MEANINGS: Meanings<RecoveriesRecord> = {
  ...OF_THE_LOOP,
  RollbackOpened: { about: rollbackOf, then: (body, known) => ends(known, rollbackOf(body)) },
  TriggerRedundant: null,
  TriggerHeld: {
    about: rollbackOf,
    then: (body, _known, place) => [opens(rollbackThing(body), 'rollback', body, place)],
  },
  TriggerRejected: { about: rollbackOf, then: (body, known) => ends(known, rollbackOf(body)) },
  SourceJudged: null,
  StormCounted: null,
  HeldReviewed: null,
  RollbackMarked: { about: rollbackOf, then: (body, known) => ends(known, rollbackOf(body)) },
  RollbackOutOfBand: {
    about: rollbackOf,
    then: (body, _known, place) => [
      opens(rollbackThing({ ...body, reason: 'BEYOND_BOUND' }), 'rollback', { ...body, reason: 'BEYOND_BOUND' }, place),
    ],
  },
  OutOfBandReviewed: { about: rollbackOf, then: (body, known) => ends(known, rollbackOf(body)) },
  DependentNoted: null,
  DependentSettled: null,
  BreakerOpened: {
    about: breakerOf,
    then: (body, _known, place) => [
      opens(
        bare('breaker', body.breaker_id, body),
        'breaker',
        { reason: `BREAKER_${body.scope}`, deadline_at: body.deadline_at },
        place,
      ),
    ],
  },
  BreakerClosed: { about: breakerOf, then: (body, known) => ends(known, breakerOf(body)) },
  StepUncertain: null,
  HaltsReviewed: null,
  UndoOpened: null,
  ReportRefused: null,
  RecoveryClosed: null,
  RollbackEscalated: {
    about: rollbackOf,
    then: (body, _known, place) => [opens(rollbackThing(body), 'rollback', body, place)],
  },
  StepDecided: {
    about: (body) => [...stepOf(body), ...rollbackOf(body)],
    then: (body, known, place) => [decided(body, place), ...ends(known, rollbackOf(body))],
  },
  StepApproved: { about: stepOf, then: approved },
  GlassBroken: { about: stepOf, then: (body, known) => (body.is_complete ? rests(known, stepOf(body)) : []) },
  StepDenied: { about: stepOf, then: (body, known) => rests(known, stepOf(body)) },
  StepResolved: { about: stepOf, then: (body, known) => ends(known, stepOf(body)) },
  LegDispatched: { about: stepOf, then: (body, known) => rests(known, stepOf(body)) },
  StepWaits: { about: stepOf, then: (body, known) => rests(known, stepOf(body)) },
  StepOutcomeRecorded: {
    about: stepOf,
    then: (body, known) => (body.outcome === 'compensated' ? ends(known, stepOf(body)) : []),
  },
  StepEscalated: {
    about: stepOf,
    then: (body, known, place) => [opens(stepThing(body, known), 'manual', body, place)],
  },
  StepHalted: { about: stepOf, then: (body, known, place) => [opens(stepThing(body, known), 'halted', body, place)] },
  StepBound: { about: stepOf, then: (body, known, place) => [asks(stepThing(body, known), body, place)] },
  StepReopened: {
    about: stepOf,
    then: (body, known, place) => [asks(stepThing(body, known), { ...body, reason: 'TRIED_AGAIN' }, place)],
  },
  MutationAdvanced: { about: stepOf, then: advanced },
  FactsAsked: null,
  FactsObserved: null,
  FactChanged: { about: stepOf, then: factChanged },
  LookDispatched: { about: stepOf, then: moved },
  LookAnswered: { about: stepOf, then: moved },
  UndoEscalated: { about: undoOf, then: (body, _known, place) => [opens(undoThing(body), 'undo', body, place)] },
  UndoListed: { about: undoOf, then: (body, known) => (body.is_last ? ends(known, undoOf(body)) : []) },
  TasksOpened: {
    about: ({ tasks }) => tasks.map(({ task_id: id }) => keyOf({ thing: 'task', id })),
    then: tasksOpened,
  },
  TaskClosed: { about: taskOf, then: (body, known) => ends(known, taskOf(body)) },
  IncidentOpened: { about: (body) => [...incidentOf(body), ...stepOf(body)], then: incidentOpened },
  IncidentClosed: { about: incidentOf, then: (body, known) => ends(known, incidentOf(body)) },
  ForwardApprovalRequested: {
    about: forwardOf,
    then: (body, _known, place) => [
      opens(forwardThing(body), 'forward_approval', { ...body, reason: `FORWARD_${body.mode}` }, place),
    ],
  },
  ForwardApprovalDecided: { about: forwardOf, then: forwardDecided },
  ForwardApprovalUsed: { about: forwardOf, then: (body, known) => ends(known, forwardOf(body)) },
  ForwardApprovalExpired: { about: forwardOf, then: (body, known) => ends(known, forwardOf(body)) },
};

/** What a question about a reservation that passed its deadline was about; the others are about a ceiling. */
const QUESTION_ABOUT: Readonly<Record<string, string>> = { unsettled: 'UNSETTLED', overrun: 'OVERRUN' };

/** What the records of the budgets mean. An item keeps its question until a person decides it, or there is nothing left to decide. */
export const BUDGET_MEANINGS: Meanings<BudgetsRecord> = {
  ...OF_THE_LOOP,
  BudgetOpened: null,
  BudgetReserved: null,
  BudgetRefunded: null,
  BudgetEscalated: {
    about: escalationOf,
    then: (body, _known, place) => [
      opens(escalationThing(body, body.capability), 'budget', { ...body, reason: 'CEILING_EXCEEDED' }, place),
    ],
  },
  BudgetOverrun: {
    about: escalationOf,
    then: (body, known, place) => [
      opens(standingEscalation(body, known), 'budget', { ...body, reason: 'OVERRUN' }, place),
    ],
  },
  BudgetOverdue: {
    about: escalationOf,
    then: (body, known, place) => [
      opens(
        standingEscalation(body, known),
        'budget',
        { ...body, reason: QUESTION_ABOUT[body.about] ?? 'CEILING_EXCEEDED' },
        place,
      ),
    ],
  },
  EscalationDecided: { about: escalationOf, then: (body, known) => ends(known, escalationOf(body)) },
  BudgetSettled: { about: escalationOf, then: (body, known) => ends(known, escalationOf(body)) },
  BudgetReleased: { about: escalationOf, then: (body, known) => ends(known, escalationOf(body)) },
};

/** A record of one of the logs, as it was read. */
export interface LogFact {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Keys of the things a record is about; none for a record that says nothing here. */
export function thingsOf(log: FollowedLog, { type, body }: LogFact): readonly string[] {
  return meaningOf(log, type)?.about(body) ?? [];
}

/** What is known after a record. */
export function changesOf(
  log: FollowedLog,
  { type, body }: LogFact,
  known: Known,
  place: Place,
): readonly ThingChange[] {
  return meaningOf(log, type)?.then(body, known, place) ?? [];
}

function meaningOf(log: FollowedLog, type: string): Meaning<LogFact['body']> | null {
  const table: Readonly<Record<string, unknown>> = log === 'recourse.budgets' ? BUDGET_MEANINGS : RECOVERY_MEANINGS;
  // The codec of the record's type made the body, so it has the fields its row reads; a type without a row is newer than this build.
  return Object.hasOwn(table, type) ? (table[type] as Meaning<LogFact['body']> | null) : null;
}

interface Asking {
  readonly deadline_at: number;
  readonly reason: string;
  readonly required_approvals?: number;
}

/** The thing waits: anew, or (N2) still. */
function opens(
  thing: Thing,
  kind: ItemKind,
  { deadline_at: deadlineAt, reason, required_approvals: requiredApprovals = 0 }: Asking,
  place: Place,
): ThingChange {
  const { item } = thing;
  const code = codeOf(reason);
  if (item?.kind === kind && item.reason === code)
    return { op: 'put', thing: { ...thing, item: { ...item, deadlineAt } } };
  return {
    op: 'put',
    thing: {
      ...thing,
      item: {
        kind,
        opening: nameOf(place),
        openedAt: place.at,
        deadlineAt,
        reason: code,
        requiredApprovals,
        approvals: 0,
      },
    },
  };
}

/** People are asked where the record asks for approvals; else the machine goes on. */
function asks(thing: Thing, body: Asking, place: Place): ThingChange {
  return (body.required_approvals ?? 0) > 0
    ? opens(thing, 'approval', body, place)
    : { op: 'put', thing: { ...thing, item: null } };
}

/** Nobody is waited for any more; it may come to wait again. */
function rests(known: Known, keys: readonly string[]): readonly ThingChange[] {
  return keys.flatMap((key) => {
    const thing = known(key);
    return thing === undefined ? [] : [{ op: 'put' as const, thing: { ...thing, item: null } }];
  });
}

/** It is over. */
function ends(known: Known, keys: readonly string[]): readonly ThingChange[] {
  return keys.flatMap((key) => (known(key) === undefined ? [] : [{ op: 'forget' as const, key }]));
}

/** An approval is asked for, or the machine goes on; what is a person's from the start is escalated by the next record. */
function decided(body: Recoveries<'StepDecided'>, place: Place): ThingChange {
  const thing: Thing = { ...stepThing(body, () => undefined), capability: capabilityOf(body.execution.capability) };
  return body.decision === 'request_approval' ? opens(thing, 'approval', body, place) : { op: 'put', thing };
}

/** What the ledger learnt decides a step anew, unless a person has it: they keep it. */
function advanced(body: Recoveries<'MutationAdvanced'>, known: Known, place: Place): readonly ThingChange[] {
  const thing = stepThing(body, known);
  if (thing.item?.kind === 'manual') return [];
  const again = { ...thing, capability: capabilityOf(body.execution.capability) };
  return [
    body.decision === 'request_approval'
      ? opens(again, 'approval', body, place)
      : { op: 'put', thing: { ...again, item: null } },
  ];
}

function approved(body: Recoveries<'StepApproved'>, known: Known): readonly ThingChange[] {
  return stepOf(body).flatMap((key) => agreed(known(key)));
}

function forwardDecided(body: Recoveries<'ForwardApprovalDecided'>, known: Known): readonly ThingChange[] {
  return body.verdict === 'approve'
    ? forwardOf(body).flatMap((key) => agreed(known(key)))
    : ends(known, forwardOf(body));
}

/** The last of the approvals asked for ends the waiting. */
function agreed(thing: Thing | undefined): readonly ThingChange[] {
  if (thing?.item === undefined || thing.item === null) return [];
  const approvals = thing.item.approvals + 1;
  return [
    {
      op: 'put',
      thing: { ...thing, item: approvals >= thing.item.requiredApprovals ? null : { ...thing.item, approvals } },
    },
  ];
}

/** What people agreed to is void, and they are asked again; what a person was given stays theirs. */
function factChanged(body: Recoveries<'FactChanged'>, known: Known, place: Place): readonly ThingChange[] {
  const thing = stepThing(body, known);
  return thing.item?.kind === 'manual' ? moved(body, known) : [asks(thing, { ...body, reason: 'FACT_CHANGED' }, place)];
}

/** Somebody has a look taken: it stays theirs, with another deadline. */
function moved(
  body: Recoveries<'LookDispatched'> | Recoveries<'LookAnswered'> | Recoveries<'FactChanged'>,
  known: Known,
): readonly ThingChange[] {
  return stepOf(body).flatMap((key) => {
    const thing = known(key);
    return thing?.item === undefined || thing.item === null
      ? []
      : [{ op: 'put' as const, thing: { ...thing, item: { ...thing.item, deadlineAt: body.deadline_at } } }];
  });
}

function tasksOpened(body: Recoveries<'TasksOpened'>, _known: Known, place: Place): readonly ThingChange[] {
  return body.tasks.map(({ task_id: id, kind, deadline_at }) => {
    const thing: Thing = {
      ...bare('task', id, body),
      recoveryId: body.recovery_id,
      stepId: body.step_id,
      capability: capabilityOf(body.capability),
    };
    return opens(thing, 'task', { reason: kind, deadline_at }, place);
  });
}

function incidentOpened(body: Recoveries<'IncidentOpened'>, known: Known, place: Place): readonly ThingChange[] {
  const step = stepThing(body, known);
  const thing: Thing = {
    ...bare('incident', body.incident_id, body),
    recoveryId: body.recovery_id,
    stepId: body.step_id,
    capability: step.capability,
  };
  return [opens(thing, 'incident', { reason: body.severity, deadline_at: body.deadline_at }, place)];
}

interface OfRun {
  readonly tenant: string;
  readonly run_id: string;
}
interface OfStep extends OfRun {
  readonly step_id: string;
  readonly recovery_id: string;
}
interface OfReservation extends OfRun {
  readonly reservation_id: string;
}

function bare(thing: ThingKind, id: string, { tenant, run_id: runId }: OfRun): Thing {
  return { thing, id, tenant, runId, recoveryId: null, stepId: null, capability: null, item: null };
}

function stepThing(body: OfStep, known: Known): Thing {
  return (
    known(keyOf({ thing: 'step', id: body.step_id })) ?? {
      ...bare('step', body.step_id, body),
      recoveryId: body.recovery_id,
      stepId: body.step_id,
    }
  );
}

function rollbackThing(body: Recoveries<'RollbackEscalated'> | Recoveries<'TriggerHeld'>): Thing {
  return bare('rollback', body.rollback_id, body);
}
function undoThing(body: Recoveries<'UndoEscalated'>): Thing {
  return bare('undo', body.undo_id, body);
}
function forwardThing(body: Recoveries<'ForwardApprovalRequested'>): Thing {
  return { ...bare('forward', body.approval_id, body), capability: capabilityOf(body.capability) };
}

/** A reservation has at most one question at a time; it goes by the reservation. */
function escalationThing(body: OfReservation, capability: string | null): Thing {
  return {
    ...bare('escalation', body.reservation_id, body),
    capability: capability === null ? null : capabilityOf(capability),
  };
}

function standingEscalation(body: OfReservation, known: Known): Thing {
  return known(keyOf({ thing: 'escalation', id: body.reservation_id })) ?? escalationThing(body, null);
}

function stepOf({ step_id: id }: { readonly step_id: string }): readonly string[] {
  return [keyOf({ thing: 'step', id })];
}
function rollbackOf({ rollback_id: id }: { readonly rollback_id: string }): readonly string[] {
  return [keyOf({ thing: 'rollback', id })];
}
function breakerOf({ breaker_id: id }: { readonly breaker_id: string }): readonly string[] {
  return [keyOf({ thing: 'breaker', id })];
}
function undoOf({ undo_id: id }: { readonly undo_id: string }): readonly string[] {
  return [keyOf({ thing: 'undo', id })];
}
function taskOf({ task_id: id }: { readonly task_id: string }): readonly string[] {
  return [keyOf({ thing: 'task', id })];
}
function incidentOf({ incident_id: id }: { readonly incident_id: string }): readonly string[] {
  return [keyOf({ thing: 'incident', id })];
}
function forwardOf({ approval_id: id }: { readonly approval_id: string }): readonly string[] {
  return [keyOf({ thing: 'forward', id })];
}
function escalationOf({ reservation_id: id }: { readonly reservation_id: string }): readonly string[] {
  return [keyOf({ thing: 'escalation', id })];
}
