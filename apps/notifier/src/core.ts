// What the notifier hears: for each log it follows, a line per record type. A type without a line does not compile.
//
// Boundary: pure; (what is known, record) -> what is known then. Decides nothing about recoveries: what the record says is so.
//
// Invariants
//   N1. Every record type has a line; a type that is newer than this build says nothing.
//   N2. A thing that waits for the same again goes on waiting: it is no new item.
//   N3. Nothing but ids, codes, counts and instants is taken from a record.
import { fallenIn, movedIn, plannedIn, rolledBackIn } from '@recourse/messages';
import type { DecodedBody, TopicName } from '@recourse/messages';
import type { Known, Place, ThingChange } from './rules/item/item.messages.js';
import {
  alarmOf,
  autonomyOf,
  breakerOf,
  deliveryOf,
  divergenceOf,
  escalationOf,
  proposalOf,
  forwardOf,
  incidentOf,
  mutationOf,
  rollbackOf,
  stepOf,
  taskOf,
  trendOf,
  weakerOf,
} from './rules/item/item.decisions.js';
import { ASSUMPTIONS, OF_THE_LOOP, only, over, resting } from './meanings.js';
import type { Bodies, Meaning, Meanings, Parking } from './meanings.js';
import {
  advance,
  approveStep,
  askAfterBinding,
  askAfterReopening,
  askAgain,
  decide,
  denyStep,
  escalateStep,
  haltStep,
  moveDeadline,
} from './rules/item/step.decisions.js';
import {
  askForConsumer,
  askAboutHandle,
  askForOutcome,
  askForRuntime,
  endWarnings,
  exposedBy,
  recordEffect,
  warnOfEnd,
} from './rules/item/effect.decisions.js';
import {
  askBeforeEffect,
  askForAlarm,
  askForCeiling,
  askToRaise,
  askToWeaken,
  askForOverdue,
  askForOverrun,
  askForRollback,
  askForFreeze,
  askForTrend,
  beyondBound,
  decideForward,
  openBreaker,
  openIncident,
  openTasks,
  tasksOf,
  tellOfCeiling,
} from './rules/item/waiting.decisions.js';

/** Logs in which something can come to wait for a person. */
export const FOLLOWED_LOGS = [
  'recourse.contracts',
  'recourse.assumptions',
  'recourse.mutations',
  'recourse.recoveries',
  'recourse.budgets',
  'recourse.signed-heads',
] as const satisfies readonly TopicName[];
export type FollowedLog = (typeof FOLLOWED_LOGS)[number];

/** What should not stand: held until a person judges it, or waiting for somebody to look. */
const MUTATIONS: Meanings<Bodies<'recourse.mutations'>> = {
  ...OF_THE_LOOP,
  MutationsFell: over((body) => fallenIn(body).flatMap((fallen) => [...rollbackOf(fallen), ...exposedBy(fallen)])),
  CheckpointRolledBack: over((body) => rolledBackIn(body).flatMap(rollbackOf)),
  TriggerUnmatched: over(rollbackOf),
  TriggerRedundant: null,
  TriggerHeld: { about: rollbackOf, then: askForRollback },
  TriggerRejected: over(rollbackOf),
  HeldReviewed: null,
  SourceJudged: null,
  StormCounted: null,
  RollbackEscalated: { about: rollbackOf, then: askForRollback },
  RollbackOutOfBand: { about: rollbackOf, then: beyondBound },
  OutOfBandReviewed: over(rollbackOf),
  BreakerOpened: { about: breakerOf, then: openBreaker },
  BreakerClosed: over(breakerOf),
  TrendRose: { about: trendOf, then: askForTrend },
  TrendReviewed: over(trendOf),
  ErasureOrdered: null,
  UndoListed: null,

  MutationPlanned: null,
  MutationRecorded: { about: mutationOf, then: recordEffect },
  MutationSettled: over(mutationOf),
  ExecutionConflicted: null,
  ExecutionOverdue: { about: mutationOf, then: askForOutcome },
  RecoverabilityChanged: { about: (body) => movedIn(body).flatMap(mutationOf), then: endWarnings },
  // Its trouble is its step's: that waits.
  CompensationsExecuted: null,
  HandleJudged: { about: mutationOf, then: askAboutHandle },
  EffectAgreed: null,
  MutationReaffirmed: null,
  SpreadOpened: null,
  SpreadContinued: null,
  SpreadClosed: null,
  HoldElapsed: null,
  WorkerAsked: null,
  WorkerAnswered: null,
  AnswerRefused: null,
  WindowClosing: { about: mutationOf, then: warnOfEnd },
  CheckpointRecorded: null,
  StateChunkRecorded: null,
  CommitBeyondBound: null,
  Reattached: null,
  CheckpointHardened: null,
  ReevaluationOpened: null,
  ReevaluationContinued: null,
  ReevaluationClosed: null,
  ConsumerAcknowledged: over(deliveryOf),
  DeliveryReviewed: over(deliveryOf),
  DeliveryOverdue: { about: deliveryOf, then: askForConsumer },
  AckRefused: null,
  LineageReconciled: { about: divergenceOf, then: askForRuntime },
  DivergenceReviewed: over(divergenceOf),
};

const RECOVERIES: Meanings<Bodies<'recourse.recoveries'>> = {
  ...OF_THE_LOOP,
  DependentNoted: null,
  DependentSettled: null,
  BreakerNoted: null,
  HaltsReviewed: null,
  ReportRefused: null,
  RecoveryClosed: null,

  RecoveryPlanned: {
    about: (body) => plannedIn(body).flatMap(stepOf),
    then: (body, known, place) => plannedIn(body).flatMap((plan) => decide(plan, known, place)),
  },
  StepApproved: { about: stepOf, then: approveStep },
  GlassBroken: only(({ is_complete }) => is_complete, resting(stepOf)),
  StepDenied: { about: stepOf, then: denyStep },
  StepResolved: over(stepOf),
  LegDispatched: resting(({ members }) => members.flatMap(({ step }) => stepOf(step))),
  StepWaits: resting(stepOf),
  LegSettled: over(({ members }) => members.filter(({ outcome }) => outcome === 'compensated').flatMap(stepOf)),
  StepEscalated: { about: stepOf, then: escalateStep },
  StepHalted: { about: stepOf, then: haltStep },
  StepBound: { about: stepOf, then: askAfterBinding },
  StepReopened: { about: stepOf, then: askAfterReopening },
  MutationAdvanced: { about: stepOf, then: advance },
  FactsAsked: null,
  FactsObserved: null,
  FactChanged: { about: stepOf, then: askAgain },
  LookDispatched: { about: stepOf, then: moveDeadline },
  LookAnswered: { about: stepOf, then: moveDeadline },

  TasksOpened: { about: tasksOf, then: openTasks },
  TaskClosed: over(taskOf),
  IncidentOpened: { about: (body) => [...incidentOf(body), ...stepOf(body)], then: openIncident },
  IncidentClosed: over(incidentOf),
  ForwardApprovalRequested: { about: forwardOf, then: askBeforeEffect },
  ForwardApprovalDecided: { about: forwardOf, then: decideForward },
  ForwardApprovalUsed: over(forwardOf),
  ForwardApprovalExpired: over(forwardOf),
};

/** An item keeps its question until a person decides it, or there is nothing left to decide. */
const BUDGETS: Meanings<Bodies<'recourse.budgets'>> = {
  ...OF_THE_LOOP,
  BudgetOpened: null,
  CeilingProposed: { about: proposalOf, then: askToRaise },
  CeilingMoved: { about: () => [], then: tellOfCeiling },
  BudgetReserved: null,
  BudgetRetried: null,
  BudgetRefunded: null,
  ForwardApprovalNoted: null,
  BudgetDebited: null,
  AutonomyChanged: { about: autonomyOf, then: askForFreeze },
  SignalRefused: null,
  OutcomeCounted: null,
  BudgetEscalated: { about: escalationOf, then: askForCeiling },
  BudgetOverrun: { about: escalationOf, then: askForOverrun },
  BudgetOverdue: { about: escalationOf, then: askForOverdue },
  EscalationDecided: over(escalationOf),
  BudgetSettled: over(escalationOf),
  BudgetReleased: over(escalationOf),
};

/** An alarm goes on until the auditor has signed that it is closed: what it raised once more was not closed by it. */
const HEADS: Meanings<Bodies<'recourse.signed-heads'>> = {
  HeadsSigned: null,
  AlarmRaised: { about: alarmOf, then: askForAlarm },
  AlarmClosed: only(({ note }) => note !== null, over(alarmOf)),
};

/** A weaker version waits until a second person confirms it, or it is dropped. */
const CONTRACTS: Meanings<Bodies<'recourse.contracts'>> = {
  ...OF_THE_LOOP,
  RegistrationProposed: { about: weakerOf, then: askToWeaken },
  RegistrationDropped: over(weakerOf),
  ContractRegistered: over(weakerOf),
  ContractRetired: over(weakerOf),
  EntryRegistered: null,
  EntryRetired: null,
};

/** The table of each log. */
export const HEARD = {
  'recourse.contracts': CONTRACTS,
  'recourse.assumptions': ASSUMPTIONS,
  'recourse.mutations': MUTATIONS,
  'recourse.recoveries': RECOVERIES,
  'recourse.budgets': BUDGETS,
  'recourse.signed-heads': HEADS,
} as const satisfies Record<FollowedLog, object>;

/** What one record means. */
export interface Heard {
  /** Keys of the things it is about. */
  readonly about: readonly string[];
  /** What is known after it. */
  readonly then: (known: Known, place: Place) => readonly ThingChange[];
}

const NOTHING: Heard = { about: [], then: () => [] };

/** Says what a record of a log means. */
export function hear(log: FollowedLog, record: DecodedBody): Heard {
  switch (log) {
    case 'recourse.contracts':
      return heardIn(CONTRACTS, record);
    case 'recourse.assumptions':
      return heardIn<Parking>(ASSUMPTIONS, record);
    case 'recourse.mutations':
      return heardIn(MUTATIONS, record);
    case 'recourse.recoveries':
      return heardIn(RECOVERIES, record);
    case 'recourse.budgets':
      return heardIn(BUDGETS, record);
    case 'recourse.signed-heads':
      return heardIn(HEADS, record);
  }
}

type Typed<Of, Type extends keyof Of = keyof Of> = {
  [One in Type]: { readonly type: One; readonly body: Of[One] & object };
}[Type];

function heardIn<Of>(table: Meanings<Of>, record: DecodedBody): Heard {
  return isHeard(table, record) ? bound(table, record) : NOTHING;
}

/** The codec read the body by the schema of its type, and the table has a line for the type. */
function isHeard<Of>(table: Meanings<Of>, record: DecodedBody): record is DecodedBody & Typed<Of> {
  return Object.hasOwn(table, record.type);
}

function bound<Of, Type extends keyof Of>(table: Meanings<Of>, { type, body }: Typed<Of, Type>): Heard {
  const meaning: Meaning<Of[Type]> | null = table[type];
  if (meaning === null) return NOTHING;
  return { about: meaning.about(body), then: (known, place) => meaning.then(body, known, place) };
}
