// Moves a step from phase to phase: at rest it has no timer, and once it is closed no deadline.
import type { StepDoc, StepEvent } from './step.messages.js';
import { isAtRest, phaseAfter } from './step.transitions.js';

/** The row after an event. Errors: InvariantViolation for history that cannot exist. */
export function moveStep(step: StepDoc, event: StepEvent, at: number): StepDoc {
  const phase = phaseAfter(step.phase, event);
  const isClosed = phase === 'compensated' || phase === 'not_needed' || phase === 'resolved';
  const isAsked = phase === 'awaiting_approval' && (step.phase !== phase || event === 'FactChanged');
  return {
    ...step,
    phase,
    deadline_at: isClosed ? null : step.deadline_at,
    due_at: isAtRest(phase) ? null : step.due_at,
    asked_at: isAsked ? at : step.asked_at,
    was_given: step.was_given || phase === 'manual' || phase === 'denied',
    updated_at: at,
  };
}
