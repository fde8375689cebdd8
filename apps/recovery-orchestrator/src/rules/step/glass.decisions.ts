// Break-glass: the emergency path is an approval of its own kind, not a way around approvals (docs/design/recovery.md, governed).
//
// Boundary: pure.
//
// Invariants
//   G1. Two different people, with a reason each, for a short time; nobody breaks it for their own action.
//   G2. Window, pointer, order, kill switches, stale check and verification stand as ever: only who agrees is another.
//   G3. What waits past the time of either is agreed to no more.
import { deriveId } from '@recourse/kernel';
import type { BreakGlass } from '@recourse/messages';
import { glassRefusal, saidBy } from './approval.decisions.js';
import type { Agreement, ApprovalContext } from './approval.decisions.js';
import { identityOf } from './step.messages.js';
import type { StepDoc } from './step.messages.js';
import { record } from '../record.messages.js';
import type { RecoveryRecord } from '../record.messages.js';
import type { Refusal } from '../refusal.messages.js';

/** Longest an emergency lasts, milliseconds. */
export const GLASS_VALID_MAX_MS = 3_600_000;
/** Shortest that leaves time to act, milliseconds. */
export const GLASS_VALID_MIN_MS = 60_000;
/** People who have to break it. */
const PEOPLE = 2;
/** A word is no reason. */
const REASON_MIN = 10;

/** Breaks the glass, or says why not. */
export function breakGlass(step: StepDoc, command: BreakGlass, context: ApprovalContext): RecoveryRecord | Refusal {
  const {
    envelope: { principal, command_id },
    action_digest,
    valid_ms: validMs,
    reason,
  } = command;
  const { now } = context;
  const refusal = breakingRefusal(step, command, context);
  if (refusal !== null) return refusal;
  if (!Number.isSafeInteger(validMs) || validMs < GLASS_VALID_MIN_MS || validMs > GLASS_VALID_MAX_MS)
    return invalid('An emergency lasts a minute at least and an hour at most.');
  if (reason.trim().length < REASON_MIN) return invalid('Say in words what makes it an emergency.');
  return record('GlassBroken', {
    ...identityOf(step),
    approval_id: deriveId('glass', command_id),
    action_digest,
    by: principal,
    reason,
    command_id,
    valid_until: now + validMs,
    is_complete: standing(step, now).length + 1 >= PEOPLE,
  });
}

/** Says why somebody does not break the glass, however great the emergency; null when they do. */
export function breakingRefusal(step: StepDoc, command: Agreement, context: ApprovalContext): Refusal | null {
  const refusal = glassRefusal(step, command, context);
  if (refusal !== null) return refusal;
  if (!saidBy(standing(step, context.now), command.envelope)) return null;
  return {
    code: 'SAME_APPROVER',
    message: 'This person has broken the glass already; another one is needed.',
  };
}

/** Words of people that count still. */
function standing({ glass }: StepDoc, now: number): StepDoc['glass'] {
  return glass.filter(({ until }) => until > now);
}

/** Distinct people who agree to a step as of now: by approval, or in an emergency for as long as it lasts. */
export function agreeing(
  { approvals, required_approvals: required, glass_until: until }: StepDoc,
  now: number,
): number {
  if (until === null) return approvals.length;
  return now < until ? Math.max(required, PEOPLE) : 0;
}

function invalid(message: string): Refusal {
  return { code: 'COMMAND_INVALID', message };
}
