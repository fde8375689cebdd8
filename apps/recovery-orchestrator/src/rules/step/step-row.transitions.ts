// Folds records into the row of a step. Holds no rules: what a record says is so (L2).
import { InvariantViolation } from '@recourse/kernel';
import type { MutationRef, Planned, StepWait } from '@recourse/messages';
import type { DecisionReason } from '../decision/recovery.decisions.js';
import { OWNER_OF_ORDER, ownerOfLeg } from '../policy.messages.js';
import { isMemberRecord, stepsTold } from './leg.messages.js';
import type { StepDispatched, StepSettled, StepTold } from './leg.messages.js';
import { factChangedBy, factsAskedBy, factsSeenBy, lookEndedBy, lookSentBy } from './step-look.transitions.js';
import { moveStep } from './step-move.transitions.js';
import type { StepDoc } from './step.messages.js';
import { wordsIn } from './worker-words.decisions.js';
import type { LegDoc } from './leg.messages.js';
import { withOutcome } from './answer.transitions.js';
import { advanceOf, EVENT_OF_VERDICT, isAtRest, PHASE_OPENED_BY } from './step.transitions.js';
import { callByType } from '../record.messages.js';
import type { Body, ByType, RecoveryRecord } from '../record.messages.js';

/** Records that open or move a step. */
export const STEP_RECORDS = [
  'StepApproved',
  'StepDenied',
  'StepResolved',
  'StepEscalated',
  'StepHalted',
  'StepWaits',
  'GlassBroken',
  'StepReopened',
  'LookDispatched',
  'LookAnswered',
  'FactsAsked',
  'FactsObserved',
  'FactChanged',
  'StepBound',
  'MutationAdvanced',
] as const;
export type StepRecordType = (typeof STEP_RECORDS)[number];

export type StepRecord = RecoveryRecord<StepRecordType>;

export function isStepRecord(told: RecoveryRecord): told is StepRecord {
  return STEP_RECORDS.some((type) => type === told.type);
}

/** The row after each record about a step that was decided. */
const ROW_AFTER: ByType<StepRecordType, [StepDoc, number], StepDoc> = {
  StepApproved: approvedBy,
  StepDenied: deniedBy,
  StepResolved: resolvedBy,
  StepEscalated: escalatedBy,
  StepHalted: haltedBy,
  StepWaits: waitsAfter,
  GlassBroken: glassBrokenBy,
  StepReopened: reopenedBy,
  LookDispatched: lookSentBy,
  LookAnswered: lookEndedBy,
  FactsAsked: factsAskedBy,
  FactsObserved: factsSeenBy,
  FactChanged: factChangedBy,
  StepBound: boundBy,
  MutationAdvanced: advancedBy,
};

/**
 * The row after a record.
 *
 * Units:  `at` is the record's decided_at, epoch milliseconds.
 * Errors: InvariantViolation for a record its phase has no cell for, or about a step nobody opened.
 */
export function stepAfter(step: StepDoc | undefined, told: StepRecord, at: number): StepDoc {
  return callByType(ROW_AFTER, told, known(step, told.type), at);
}

function known(step: StepDoc | undefined, type: string): StepDoc {
  if (step === undefined) throw new InvariantViolation('step-unknown', `${type} about a step that was not planned`);
  return step;
}

/** The row after what a record about several steps says of this one. Errors: as of `stepAfter`. */
export function stepAfterMember(step: StepDoc | undefined, told: StepTold, at: number): StepDoc {
  switch (told.type) {
    case 'RecoveryPlanned':
      return openedBy(told.body, at);
    case 'LegDispatched':
      return dispatchedBy(told.body, known(step, told.type), at);
    case 'LegSettled':
      return settledBy(told.body, known(step, told.type), at);
  }
}

/** The row after a record that may be about something else. */
export function stepFollowing(step: StepDoc, told: RecoveryRecord, at: number): StepDoc {
  return followerOf(told, at)(step);
}

/** What a record makes of a row. Taken apart once, whomever of its members it is asked for. */
function followerOf(told: RecoveryRecord, at: number): (step: StepDoc) => StepDoc {
  if (isStepRecord(told)) return (step) => (told.body.step_id === step.step_id ? stepAfter(step, told, at) : step);
  if (!isMemberRecord(told)) return (step) => step;
  const members = new Map(stepsTold(told).map((own) => [own.stepId, own]));
  return (step) => {
    const own = members.get(step.step_id);
    return own === undefined ? step : stepAfterMember(step, own, at);
  };
}

/** Rows after records that may be about any of them. */
export function stepsFollowing(
  steps: readonly StepDoc[],
  told: readonly RecoveryRecord[],
  at: number,
): readonly StepDoc[] {
  if (told.length === 0) return steps;
  const followers = told.map((next) => followerOf(next, at));
  return steps.map((step) => followers.reduce((doc, follow) => follow(doc), step));
}

/** The row of a step that was planned; one that waits stands in a list at once. */
export function openedBy({ wait, ...body }: Planned, at: number): StepDoc {
  // A reason this version does not know cannot be in its own log: the decision table is the only writer.
  const phase = PHASE_OPENED_BY[body.reason as DecisionReason];
  const isOver = isAtRest(phase);
  const opened: StepDoc = {
    ...body,
    ref: untilClosed(body.ref, body.reason, at),
    phase,
    deadline_at: isOver ? null : body.deadline_at,
    due_at: isOver ? null : body.deadline_at,
    approvals: [],
    glass: [],
    glass_until: null,
    attempt: 0,
    attempts_before: 0,
    calls_done: 0,
    look: null,
    facts_ask: null,
    facts_asked: 0,
    facts: null,
    facts_before: null,
    last_seen: null,
    changed: [],
    reaffirmed: null,
    first_dispatched_at: null,
    legs: [],
    outstanding: [],
    paced: [],
    go_at: null,
    last: null,
    denied_by: null,
    resolved: null,
    decision_record: null,
    asked_at: phase === 'awaiting_approval' ? at : null,
    was_given: false,
    decided_at: at,
    updated_at: at,
  };
  return wait === null ? opened : waitsAfter(wait, opened, at);
}

function approvedBy(body: Body<'StepApproved'>, step: StepDoc, at: number): StepDoc {
  const approvals = [...step.approvals, { approval_id: body.approval_id, by: body.by, reason: body.reason, at }];
  return moveStep(
    { ...step, approvals },
    approvals.length >= step.required_approvals ? 'ApprovalCompleted' : 'ApprovalAdded',
    at,
  );
}

function deniedBy(body: Body<'StepDenied'>, step: StepDoc, at: number): StepDoc {
  return moveStep(
    { ...step, denied_by: body.by, denied_for: { reason: body.reason, at }, reason: 'DENIED' },
    'Denied',
    at,
  );
}

function resolvedBy(
  { resolution, by, reason, evidence, verified }: Body<'StepResolved'>,
  step: StepDoc,
  at: number,
): StepDoc {
  return moveStep({ ...step, resolved: { resolution, by, reason, evidence, verified, at } }, 'Resolved', at);
}

function dispatchedBy(body: StepDispatched, step: StepDoc, at: number): StepDoc {
  const { leg_id, adapter, attempt, lease_id, not_after, answer_by, position } = body;
  const leg: LegDoc = { leg_id, adapter, attempt, lease_id, not_after, answer_by, position, answered: null };
  const sent = {
    ...step,
    outstanding: body.outstanding,
    paced: body.paced,
    go_at: null,
    attempt,
    first_dispatched_at: body.first_dispatched_at,
    legs: [...step.legs, leg],
  };
  return moveStep(
    { ...sent, owner: ownerOfLeg(body.adapter), deadline_at: answer_by, due_at: answer_by },
    'Dispatched',
    at,
  );
}

function settledBy(body: StepSettled, step: StepDoc, at: number): StepDoc {
  const { attempt, reported, outcome, reason, observations, error_kind, said, retry_at } = body;
  if (outcome === 'not_begun') return notBegun(body, step, at);
  const legs =
    reported === null
      ? step.legs
      : step.legs.map((leg) => (leg.leg_id === body.leg_id ? { ...leg, answered: reported } : leg));
  const last = { attempt, reported, outcome, reason, observations, at, ...wordsIn({ error_kind, said }) };
  const next = {
    ...withOutcome(step, last),
    attempts_before: step.attempts_before + (UNCOUNTED.includes(reason) ? 1 : 0),
    legs,
    // What nobody else saw made is made again by a later attempt, if it has to be.
    calls_done: step.phase === 'manual' && outcome !== 'compensated' ? step.calls_done : body.calls_done,
    outcome_kind: body.outcome_kind ?? step.outcome_kind,
    deadline_at: retry_at ?? step.deadline_at,
    due_at: retry_at,
  };
  return moveStep(outcome === 'compensated' ? { ...next, reason } : next, EVENT_OF_VERDICT[outcome], at);
}

/** Of an attempt that called nobody, as far as anybody saw: it does not count. */
const UNCOUNTED: readonly string[] = ['HELD_BACK', 'NOT_REACHED'];

/** It stands behind those ahead of it, and the attempt it was not reached in does not count. */
function notBegun({ reason, retry_at }: StepSettled, step: StepDoc, at: number): StepDoc {
  const before = { ...step, reason, owner: OWNER_OF_ORDER, attempts_before: step.attempts_before + 1 };
  return { ...moveStep(before, 'NotBegun', at), deadline_at: retry_at, due_at: retry_at };
}

/** A window that closed is over, also where an event closed it before its time: nothing that reads the ref dispatches any more (B5). */
function untilClosed(ref: MutationRef, reason: string, at: number): MutationRef {
  const endsAt = ref.reversal_expires_at;
  const isEarlier = reason === 'REVERSAL_EXPIRED' && endsAt !== null && endsAt > at;
  return isEarlier ? { ...ref, reversal_expires_at: at } : ref;
}

/** What is told while somebody looks is dealt with once that is over; the end of a window takes nothing of it back. */
function toldMeanwhile(step: StepDoc, reason: string): StepDoc {
  return reason === 'REVERSAL_EXPIRED' ? step : { ...step, told_meanwhile: reason };
}

/** A manual item keeps deadline and owner: it waits for a person, in the open (P12). */
function escalatedBy(
  body: Body<'StepEscalated'>,
  { told_meanwhile: _dealtWith, ...step }: StepDoc,
  at: number,
): StepDoc {
  const kind = step.outcome_kind === 'reversal_refused' ? step.outcome_kind : body.outcome_kind;
  const ref = untilClosed(step.ref, body.reason, at);
  const given = moveStep({ ...step, ref, reason: body.reason, owner: body.owner, outcome_kind: kind }, 'Escalated', at);
  return { ...given, deadline_at: body.deadline_at };
}

/** A halted item keeps its reason in the open, with deadline and owner (P12). */
function haltedBy(body: Body<'StepHalted'>, step: StepDoc, at: number): StepDoc {
  return {
    ...moveStep({ ...step, reason: body.reason, owner: body.owner }, 'Halted', at),
    deadline_at: body.deadline_at,
    due_at: body.deadline_at,
  };
}

/** The second person completes it; it holds as long as the shorter of the two. */
function glassBrokenBy(
  { approval_id, by, reason, valid_until: until, is_complete: isComplete }: Body<'GlassBroken'>,
  step: StepDoc,
  at: number,
): StepDoc {
  const glass = [...step.glass.filter((one) => one.until > at), { approval_id, by, reason, at, until }];
  return moveStep(
    { ...step, glass, glass_until: isComplete ? Math.min(...glass.map((one) => one.until)) : null },
    isComplete ? 'ApprovalCompleted' : 'GlassBroken',
    at,
  );
}

/** The approvals were used: a new attempt needs new ones. */
function reopenedBy(
  { required_approvals, in_force, owner, deadline_at }: Body<'StepReopened'>,
  { reaffirmed_in: _seen, ...step }: StepDoc,
  at: number,
): StepDoc {
  const again = {
    ...step,
    approvals: [],
    glass: [],
    glass_until: null,
    facts_ask: null,
    facts: null,
    required_approvals,
    in_force,
    attempts_before: step.attempt,
    owner,
    deadline_at,
    due_at: deadline_at,
    reason: 'TRIED_AGAIN',
  };
  const next = moveStep(again, required_approvals > 0 ? 'ReopenedForPeople' : 'ReopenedToGo', at);
  return { ...next, due_at: deadline_at };
}

/** It stands in a list, and says whom it waits for (P12). */
function waitsAfter(body: StepWait, step: StepDoc, at: number): StepDoc {
  const { reason, outstanding, owner, deadline_at, paced, go_at } = body;
  return {
    ...moveStep({ ...step, reason, outstanding, owner, paced, go_at: go_at ?? step.go_at }, 'Waited', at),
    deadline_at,
    due_at: go_at ?? deadline_at,
  };
}

function boundBy(body: Body<'StepBound'>, step: StepDoc, at: number): StepDoc {
  const { reason, call, ref, action_digest, required_approvals, in_force, owner, deadline_at } = body;
  const isForPeople = required_approvals > 0;
  const bound = {
    ...step,
    reason,
    call,
    ref,
    action_digest,
    required_approvals,
    in_force,
    owner,
    deadline_at,
    due_at: deadline_at,
  };
  const event = isForPeople ? 'BoundForPeople' : 'BoundToGo';
  return moveStep(
    { ...bound, decision: isForPeople ? 'request_approval' : 'compensate_now' },
    step.phase === 'manual' ? 'BoundWithPerson' : event,
    at,
  );
}

/** Who has the step, a person or a worker, keeps it with reason, owner and deadline; the facts are those of now. */
function advancedBy(body: Body<'MutationAdvanced'>, step: StepDoc, at: number): StepDoc {
  const { decision, reason, owner, deadline_at, outcome_kind, recoverability: _ledgers, ...learnt } = body;
  const event = advanceOf(step.phase, reason as DecisionReason); // as in openedBy
  const facts = {
    ...step,
    ...learnt,
    ref: untilClosed(body.ref, reason, at),
    outcome_kind: outcome_kind ?? step.outcome_kind,
  };
  return event === 'AdvancedWithPerson' || event === 'WindowEnded'
    ? moveStep(step.phase === 'looking' ? toldMeanwhile(facts, reason) : facts, event, at)
    : moveStep({ ...facts, decision, reason, owner, deadline_at, due_at: deadline_at }, event, at);
}
