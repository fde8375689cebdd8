// The machine of a step, as a table. Docs are drawn from it.
//
// Boundary: says which phase follows which event; what makes an event happen is the decider's.
import { InvariantViolation } from '@recourse/kernel';
import type { StepVerdict } from '@recourse/messages';
import type { DecisionReason } from '../decision/recovery.decisions.js';
import type { EscalationReason, StepEvent, StepPhase } from './step.messages.js';

/** Phase a step begins in, by the reason of its decision. `held` with a manual decision is left by `Escalated` in the same decision. */
export const PHASE_OPENED_BY = {
  NOTHING_TO_UNDO: 'not_needed',
  ALREADY_UNDONE: 'not_needed',
  EXECUTED_AFTER_CANCEL: 'held',
  FORWARD_NOT_STARTED: 'held',
  FORWARD_IN_FLIGHT: 'held',
  FORWARD_UNCERTAIN: 'held',
  UNCONTRACTED: 'held',
  CONTRACT_SUPERSEDED: 'held',
  TOOL_HAS_NO_AUTOMATIC_COMPENSATION: 'held',
  MISSING_COMPENSATION_IMPLEMENTATION: 'held',
  HANDLE_INCOMPLETE: 'held',
  STEP_RESULT_PENDING: 'held',
  STEP_RESULT_MISSING: 'held',
  VERIFICATION_MISSING: 'held',
  HANDLE_CLAIMED: 'held',
  HANDLE_ASKED: 'held',
  REVERSAL_EXPIRED: 'held',
  REVERSAL_WINDOW_MISSING: 'held',
  UNSUPPORTED_RECOVERY_STATE: 'held',
  RECOVERY_POLICY_UNDECIDED: 'held',
  RISK_ABOVE_LIMIT: 'held',
  APPROVED: 'approved',
  POLICY_AUTO: 'approved',
  HIGH_IMPACT: 'awaiting_approval',
  COMPENSATION_REQUIRES_HUMAN_APPROVAL: 'awaiting_approval',
} as const satisfies Record<DecisionReason, StepPhase>;

/** Nothing happens any more. */
const NEVER = {
  ApprovalAdded: null,
  ApprovalCompleted: null,
  Denied: null,
  Waited: null,
  Halted: null,
  Dispatched: null,
  Compensated: null,
  Unsettled: null,
  NotBegun: null,
  Uncertain: null,
  Escalated: null,
  Resolved: null,
  BoundForPeople: null,
  BoundToGo: null,
  BoundWithPerson: null,
  AdvancedToWait: null,
  AdvancedForPeople: null,
  AdvancedToGo: null,
  AdvancedToNothing: null,
  AdvancedWithPerson: null,
  WindowEnded: null,
  ReopenedForPeople: null,
  ReopenedToGo: null,
  LookSent: null,
  LookEnded: null,
  GlassBroken: null,
  FactsAsked: null,
  FactsSeen: null,
  FactChanged: null,
  FactNoted: null,
} as const;

/** The ledger learnt how the forward action ended, and the table decided again. */
const DECIDED_ANEW = {
  AdvancedToWait: 'held',
  AdvancedForPeople: 'awaiting_approval',
  AdvancedToGo: 'approved',
  AdvancedToNothing: 'not_needed',
} as const;

/**
 * Phase after each event. `null` = history that cannot exist.
 *
 * A dispatched step has no `Escalated`: until its lease, a call time-out and the margin have passed, a worker may still act on
 * it, so it cannot be abandoned (L11). What the ledger learns of the forward action after the mark decides a step anew
 * where none of its effects was undone yet; a person who has it keeps it, with the facts as they are now. A window that an
 * event closed ends for what is under way too: what is out keeps its lease, and nothing is sent after it (B5). What a look
 * leaves to people is theirs with its answer already; the verdict behind it says what the worker that acted did, and the
 * escalation behind that why they have it, and is what others hear of it.
 */
export const PHASE_AFTER = {
  held: { ...NEVER, ...DECIDED_ANEW, BoundForPeople: 'awaiting_approval', BoundToGo: 'approved', Escalated: 'manual' },
  awaiting_approval: {
    ...NEVER,
    FactsAsked: 'awaiting_approval',
    FactsSeen: 'awaiting_approval',
    FactChanged: 'awaiting_approval',
    ApprovalAdded: 'awaiting_approval',
    GlassBroken: 'awaiting_approval',
    ApprovalCompleted: 'approved',
    Denied: 'denied',
    Compensated: 'compensated',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  approved: {
    ...NEVER,
    FactsAsked: 'observing',
    FactChanged: 'awaiting_approval',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Escalated: 'manual',
  },
  waiting: {
    ...NEVER,
    FactsAsked: 'observing',
    FactChanged: 'awaiting_approval',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Compensated: 'compensated',
    WindowEnded: 'waiting',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  halted: {
    ...NEVER,
    FactsAsked: 'observing',
    FactChanged: 'awaiting_approval',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Compensated: 'compensated',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  observing: {
    ...NEVER,
    FactsAsked: 'observing',
    FactsSeen: 'observing',
    FactChanged: 'awaiting_approval',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Compensated: 'compensated',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  dispatched: {
    ...NEVER,
    Compensated: 'compensated',
    Unsettled: 'retrying',
    NotBegun: 'waiting',
    FactNoted: 'dispatched',
    WindowEnded: 'dispatched',
    Uncertain: 'uncertain',
    LookSent: 'looking',
  },
  uncertain: {
    ...NEVER,
    FactsAsked: 'observing',
    FactChanged: 'awaiting_approval',
    FactNoted: 'uncertain',
    WindowEnded: 'uncertain',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Compensated: 'compensated',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  retrying: {
    ...NEVER,
    WindowEnded: 'retrying',
    Waited: 'waiting',
    Halted: 'halted',
    Dispatched: 'dispatched',
    Compensated: 'compensated',
    LookSent: 'looking',
    Escalated: 'manual',
  },
  compensated: NEVER,
  not_needed: { ...NEVER, ...DECIDED_ANEW },
  looking: {
    ...NEVER,
    FactNoted: 'looking',
    AdvancedWithPerson: 'looking',
    LookSent: 'looking',
    LookEnded: 'manual',
  },
  manual: {
    ...NEVER,
    Escalated: 'manual',
    FactNoted: 'manual',
    AdvancedWithPerson: 'manual',
    BoundWithPerson: 'manual',
    Resolved: 'resolved',
    Compensated: 'compensated',
    Unsettled: 'manual',
    Uncertain: 'manual',
    ReopenedForPeople: 'awaiting_approval',
    ReopenedToGo: 'approved',
    LookSent: 'looking',
  },
  denied: { ...NEVER, Resolved: 'resolved' },
  resolved: NEVER,
} as const satisfies Record<StepPhase, Record<StepEvent, StepPhase | null>>;

/** Phases in which automation has nothing left to do. */
export const PHASES_AT_REST = [
  'compensated',
  'not_needed',
  'manual',
  'denied',
  'resolved',
] as const satisfies readonly StepPhase[];

/** Phases in which a worker is asked to call or to look. */
export const PHASES_ASKED = ['dispatched', 'observing', 'looking'] as const satisfies readonly StepPhase[];

/** Phases that count as success of a recovery. */
const PHASES_SETTLED: readonly StepPhase[] = ['compensated', 'not_needed'];

/** Event the ledger's news are, by the phase a step decided like that begins in. */
const ADVANCE_TO = {
  held: 'AdvancedToWait',
  awaiting_approval: 'AdvancedForPeople',
  approved: 'AdvancedToGo',
  not_needed: 'AdvancedToNothing',
} as const satisfies Record<(typeof PHASE_OPENED_BY)[DecisionReason], StepEvent>;

/** Phases in which an attempt was made, and no person has it: of what the ledger learns they hear only that the window ended. */
const PHASES_UNDER_WAY: readonly StepPhase[] = ['waiting', 'dispatched', 'uncertain', 'retrying'];

export function isUnderWay(phase: StepPhase): boolean {
  return PHASES_UNDER_WAY.includes(phase);
}

/** Phases in which an earlier attempt may still turn out to have worked. */
const PHASES_PROVED_LATE: readonly StepPhase[] = [
  'uncertain',
  'retrying',
  'halted',
  'waiting',
  'observing',
  'awaiting_approval',
];

export function mayBeProved(phase: StepPhase): boolean {
  return PHASES_PROVED_LATE.includes(phase);
}

/** Event the ledger's news are for a step. */
export function advanceOf(phase: StepPhase, reason: DecisionReason): StepEvent {
  if (isUnderWay(phase)) return 'WindowEnded';
  return phase === 'manual' || phase === 'looking' ? 'AdvancedWithPerson' : ADVANCE_TO[PHASE_OPENED_BY[reason]];
}

/** Event a verdict on a leg is, for a step it reached. */
export const EVENT_OF_VERDICT = {
  compensated: 'Compensated',
  stale: 'Unsettled',
  failed: 'Unsettled',
  unverified: 'Unsettled',
  uncertain: 'Uncertain',
} as const satisfies Record<Exclude<StepVerdict, 'not_begun'>, StepEvent>;

/** Why a person is asked when attempts end with a verdict. */
export const ESCALATION_OF_VERDICT = {
  compensated: null,
  stale: 'RESOURCE_CHANGED',
  failed: 'COMPENSATION_FAILED',
  unverified: 'VERIFICATION_FAILED',
  uncertain: 'OUTCOME_UNKNOWN',
} as const satisfies Record<Exclude<StepVerdict, 'not_begun'>, EscalationReason | null>;

export function isAtRest(phase: StepPhase): boolean {
  const ends: readonly StepPhase[] = PHASES_AT_REST;
  return ends.includes(phase);
}

export function isSettled(phase: StepPhase): boolean {
  return PHASES_SETTLED.includes(phase);
}

/**
 * Moves a step.
 *
 * Errors: InvariantViolation for an event its phase has no cell for.
 */
export function phaseAfter(phase: StepPhase, event: StepEvent): StepPhase {
  const next: StepPhase | null = PHASE_AFTER[phase][event];
  if (next === null) throw new InvariantViolation('step-phase', `${event} in ${phase}`);
  return next;
}
