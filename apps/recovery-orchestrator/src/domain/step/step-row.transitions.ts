// Folds records into the row of a step. Holds no rules: what a record says is so (L2).
import { InvariantViolation } from '@recourse/kernel';
import type { DecisionReason } from '../decision/recovery.decisions.js';
import { ownerOfLeg } from '../policy.messages.js';
import { seenResource } from './facts.decisions.js';
import type { Fact, FactBodies, FactType, LastOutcome, LegDoc, StepDoc, StepEvent } from './step.messages.js';
import { advanceOf, EVENT_OF_VERDICT, isAtRest, PHASE_OPENED_BY, phaseAfter } from './step.transitions.js';

/** Records that open or move a step. */
export const STEP_RECORDS = [
  'StepDecided',
  'StepApproved',
  'StepDenied',
  'StepResolved',
  'LegDispatched',
  'StepOutcomeRecorded',
  'StepUncertain',
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

export function isStepRecord(type: string): type is StepRecordType {
  const types: readonly string[] = STEP_RECORDS;
  return types.includes(type);
}

/** Body of a record of a type. */
export function bodyOf<Type extends FactType>(_type: Type, body: Fact['body']): FactBodies[Type] {
  // The codec of the record's type made the body, so it has the fields its schema names.
  return body as unknown as FactBodies[Type];
}

/**
 * The row after a record.
 *
 * Units:  `at` is the record's decided_at, epoch milliseconds.
 * Errors: InvariantViolation for a record its phase has no cell for, or about a step nobody opened.
 */
export function stepAfter(step: StepDoc | undefined, type: StepRecordType, body: Fact['body'], at: number): StepDoc {
  if (type === 'StepDecided') return openedBy(bodyOf(type, body), at);
  if (step === undefined) throw new InvariantViolation('step-unknown', `${type} about a step that was not decided`);
  switch (type) {
    case 'StepApproved':
      return approvedBy(step, bodyOf(type, body), at);
    case 'StepDenied':
      return deniedBy(step, bodyOf(type, body), at);
    case 'StepResolved':
      return resolvedBy(step, bodyOf(type, body), at);
    case 'LegDispatched':
      return dispatchedBy(step, bodyOf(type, body), at);
    case 'StepOutcomeRecorded':
      return settledBy(step, bodyOf(type, body), at);
    case 'StepUncertain':
      return silentAfter(step, bodyOf(type, body), at);
    case 'StepEscalated':
      return escalatedBy(step, bodyOf(type, body), at);
    case 'StepHalted':
      return haltedBy(step, bodyOf(type, body), at);
    case 'GlassBroken':
      return glassBrokenBy(step, bodyOf(type, body), at);
    case 'StepReopened':
      return reopenedBy(step, bodyOf(type, body), at);
    case 'LookDispatched':
      return lookSentBy(step, bodyOf(type, body), at);
    case 'LookAnswered':
      return lookEndedBy(step, bodyOf(type, body), at);
    case 'FactsAsked':
      return factsAskedBy(step, bodyOf(type, body), at);
    case 'FactsObserved':
      return factsSeenBy(step, bodyOf(type, body), at);
    case 'FactChanged':
      return factChangedBy(step, bodyOf(type, body), at);
    case 'StepWaits':
      return waitsAfter(step, bodyOf(type, body), at);
    case 'StepBound':
      return boundBy(step, bodyOf(type, body), at);
    case 'MutationAdvanced':
      return advancedBy(step, bodyOf(type, body), at);
  }
}

function openedBy(body: FactBodies['StepDecided'], at: number): StepDoc {
  // A reason this version does not know cannot be in its own log: the decision table is the only writer.
  const phase = PHASE_OPENED_BY[body.reason as DecisionReason];
  const isOver = isAtRest(phase);
  return {
    ...body,
    phase,
    deadline_at: isOver ? null : body.deadline_at,
    due_at: isOver ? null : body.deadline_at,
    approvals: [],
    glass: [],
    glass_until: null,
    attempt: 0,
    attempts_before: 0,
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
    triggered_at: null,
    decided_at: at,
    updated_at: at,
  };
}

function approvedBy(step: StepDoc, body: FactBodies['StepApproved'], at: number): StepDoc {
  const approvals = [...step.approvals, { approval_id: body.approval_id, by: body.by, reason: body.reason, at }];
  return moved(
    { ...step, approvals },
    approvals.length >= step.required_approvals ? 'ApprovalCompleted' : 'ApprovalAdded',
    at,
  );
}

function deniedBy(step: StepDoc, body: FactBodies['StepDenied'], at: number): StepDoc {
  return moved({ ...step, denied_by: body.by, reason: 'DENIED' }, 'Denied', at);
}

function resolvedBy(
  step: StepDoc,
  { resolution, by, reason, evidence, verified }: FactBodies['StepResolved'],
  at: number,
): StepDoc {
  return moved({ ...step, resolved: { resolution, by, reason, evidence, verified, at } }, 'Resolved', at);
}

function dispatchedBy(step: StepDoc, body: FactBodies['LegDispatched'], at: number): StepDoc {
  const leg: LegDoc = {
    leg_id: body.leg_id,
    attempt: body.attempt,
    lease_id: body.lease_id,
    not_after: body.not_after,
    answer_by: body.answer_by,
    answered: null,
  };
  const sent = {
    ...step,
    outstanding: body.outstanding,
    paced: body.paced,
    go_at: null,
    attempt: body.attempt,
    first_dispatched_at: body.first_dispatched_at,
    legs: [...step.legs, leg],
  };
  return moved(
    { ...sent, owner: ownerOfLeg(body.adapter), deadline_at: body.answer_by, due_at: body.answer_by },
    'Dispatched',
    at,
  );
}

function settledBy(step: StepDoc, body: FactBodies['StepOutcomeRecorded'], at: number): StepDoc {
  const legs = step.legs.map((leg) => (leg.leg_id === body.leg_id ? { ...leg, answered: body.reported } : leg));
  const { attempt, reported, outcome, reason, observations } = body;
  const last: LastOutcome = { attempt, reported, outcome, reason, observations, at };
  const next = {
    ...step,
    legs,
    last,
    outcome_kind: body.outcome_kind ?? step.outcome_kind,
    deadline_at: body.retry_at ?? step.deadline_at,
    due_at: body.retry_at,
  };
  return moved(outcome === 'compensated' ? { ...next, reason } : next, EVENT_OF_VERDICT[outcome], at);
}

function silentAfter(step: StepDoc, body: FactBodies['StepUncertain'], at: number): StepDoc {
  const last: LastOutcome = {
    attempt: body.attempt,
    reported: null,
    outcome: 'uncertain',
    reason: body.reason,
    observations: [],
    at,
  };
  return moved({ ...step, last, deadline_at: body.retry_at, due_at: body.retry_at }, 'Uncertain', at);
}

/** A manual item keeps deadline and owner: it waits for a person, in the open (P12). */
function escalatedBy(step: StepDoc, body: FactBodies['StepEscalated'], at: number): StepDoc {
  const kind = step.outcome_kind === 'reversal_refused' ? step.outcome_kind : body.outcome_kind;
  const given = moved({ ...step, reason: body.reason, owner: body.owner, outcome_kind: kind }, 'Escalated', at);
  return { ...given, deadline_at: body.deadline_at };
}

/** A halted item keeps its reason in the open, with deadline and owner (P12). */
function haltedBy(step: StepDoc, body: FactBodies['StepHalted'], at: number): StepDoc {
  return {
    ...moved({ ...step, reason: body.reason, owner: body.owner }, 'Halted', at),
    deadline_at: body.deadline_at,
    due_at: body.deadline_at,
  };
}

/** The second person completes it; it holds as long as the shorter of the two. */
function glassBrokenBy(
  step: StepDoc,
  { approval_id, by, reason, valid_until: until, is_complete: isComplete }: FactBodies['GlassBroken'],
  at: number,
): StepDoc {
  const glass = [...step.glass.filter((one) => one.until > at), { approval_id, by, reason, at, until }];
  return moved(
    { ...step, glass, glass_until: isComplete ? Math.min(...glass.map((one) => one.until)) : null },
    isComplete ? 'ApprovalCompleted' : 'GlassBroken',
    at,
  );
}

/** Approvals were used: new attempts are agreed to anew. */
function reopenedBy(
  step: StepDoc,
  { required_approvals, owner, deadline_at }: FactBodies['StepReopened'],
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
    attempts_before: step.attempt,
    owner,
    deadline_at,
    due_at: deadline_at,
    reason: 'TRIED_AGAIN',
  };
  const next = moved(again, required_approvals > 0 ? 'ReopenedForPeople' : 'ReopenedToGo', at);
  return { ...next, due_at: deadline_at };
}

function lookSentBy(step: StepDoc, body: FactBodies['LookDispatched'], at: number): StepDoc {
  const { leg_id, purpose, lease_id, not_after, answer_by, evidence, by, reason, command_id, owner, deadline_at } =
    body;
  const looking = moved(
    {
      ...step,
      look: { leg_id, purpose, lease_id, not_after, answer_by, evidence, by, reason, command_id },
      owner,
      deadline_at,
    },
    'LookSent',
    at,
  );
  return { ...looking, due_at: deadline_at };
}

/** It is the person's again, with what was seen. */
function lookEndedBy(
  step: StepDoc,
  { verdict, reason, observations, owner, deadline_at }: FactBodies['LookAnswered'],
  at: number,
): StepDoc {
  const outcome = verdict === 'met' ? 'compensated' : verdict === 'not_met' ? 'unverified' : 'uncertain';
  const last: LastOutcome = { attempt: step.attempt, reported: null, outcome, reason, observations, at };
  return moved({ ...step, look: null, last, owner, deadline_at }, 'LookEnded', at);
}

/** A look for the review moves nothing; one before the dispatch is waited for. */
function factsAskedBy(
  step: StepDoc,
  { leg_id, purpose, round, lease_id, not_after, answer_by, adapter }: FactBodies['FactsAsked'],
  at: number,
): StepDoc {
  const asked = moved(
    {
      ...step,
      facts_asked: step.facts_asked + 1,
      facts_ask: { leg_id, purpose, round, lease_id, not_after, answer_by },
    },
    'FactsAsked',
    at,
  );
  return purpose === 'review'
    ? asked
    : { ...asked, owner: ownerOfLeg(adapter), deadline_at: answer_by, due_at: answer_by };
}

/** What was seen before the dispatch is compared, not kept: people agreed to what they saw. */
function factsSeenBy(step: StepDoc, { purpose, observations }: FactBodies['FactsObserved'], at: number): StepDoc {
  const seen = seenResource(step, observations);
  const ask = seen === undefined ? step.facts_ask : null;
  return moved(
    {
      ...step,
      facts_ask: ask,
      facts: step.facts ?? seen ?? null,
      last_seen: purpose === 'dispatch' ? (seen ?? null) : step.last_seen,
    },
    'FactsSeen',
    at,
  );
}

function factChangedBy(
  step: StepDoc,
  { changed, evidence, action_digest, owner, deadline_at }: FactBodies['FactChanged'],
  at: number,
): StepDoc {
  const told = { ...step, changed, reaffirmed: evidence ?? step.reaffirmed };
  if (step.phase === 'manual' || step.phase === 'looking') return moved(told, 'FactNoted', at);
  const now = evidence === null ? { facts_before: step.facts, facts: step.last_seen ?? step.facts } : {};
  const asked = moved(
    {
      ...told,
      ...now,
      facts_ask: null,
      last_seen: null,
      approvals: [],
      glass: [],
      glass_until: null,
      action_digest: action_digest ?? step.action_digest,
      reason: 'FACT_CHANGED',
      owner,
    },
    'FactChanged',
    at,
  );
  return { ...asked, deadline_at, due_at: deadline_at };
}

/** It stands in a list, and says whom it waits for (P12). */
function waitsAfter(step: StepDoc, body: FactBodies['StepWaits'], at: number): StepDoc {
  const { reason, outstanding, owner, deadline_at, paced, go_at } = body;
  return {
    ...moved({ ...step, reason, outstanding, owner, paced, go_at: go_at ?? step.go_at }, 'Waited', at),
    deadline_at,
    due_at: go_at ?? deadline_at,
  };
}

function boundBy(step: StepDoc, body: FactBodies['StepBound'], at: number): StepDoc {
  const { reason, call, ref, action_digest, required_approvals, owner, deadline_at } = body;
  const isForPeople = required_approvals > 0;
  const bound = {
    ...step,
    reason,
    call,
    ref,
    action_digest,
    required_approvals,
    owner,
    deadline_at,
    due_at: deadline_at,
  };
  return moved(
    { ...bound, decision: isForPeople ? 'request_approval' : 'compensate_now' },
    isForPeople ? 'BoundForPeople' : 'BoundToGo',
    at,
  );
}

/** A person who has the step keeps reason, owner and deadline; the facts are those of now. */
function advancedBy(step: StepDoc, body: FactBodies['MutationAdvanced'], at: number): StepDoc {
  const {
    execution,
    terms,
    ref,
    reverses_record_hash,
    call,
    action_digest,
    required_approvals,
    answerable_to,
    decision,
    reason,
    owner,
    deadline_at,
    executed_seq,
    outcome_kind,
  } = body;
  const event = advanceOf(step.phase, reason as DecisionReason); // as in openedBy
  const facts = {
    ...step,
    execution,
    terms,
    ref,
    reverses_record_hash,
    call,
    action_digest,
    required_approvals,
    answerable_to,
    executed_seq,
    outcome_kind: outcome_kind ?? step.outcome_kind,
  };
  return event === 'AdvancedWithPerson'
    ? moved(facts, event, at)
    : moved({ ...facts, decision, reason, owner, deadline_at, due_at: deadline_at }, event, at);
}

function moved(step: StepDoc, event: StepEvent, at: number): StepDoc {
  const phase = phaseAfter(step.phase, event);
  const isClosed = phase === 'compensated' || phase === 'not_needed' || phase === 'resolved';
  const deadlineAt = isClosed ? null : step.deadline_at;
  return { ...step, phase, deadline_at: deadlineAt, due_at: isAtRest(phase) ? null : step.due_at, updated_at: at };
}
