// What is left out of a batch that gets too large (L4). Pure.
//
// Invariants
//   F1. Every turn that something is left out of makes the rest smaller, so a batch is found or nothing is left.
//   F2. What has to leave again goes first and never grows: what does not fit beside it goes alone into the next batch.
import { InvariantViolation } from '@recourse/kernel';
import type { BatchMaterial, FailedTimer, OverfullBatch } from './batch.js';
import type { TimerInput } from './service-core.js';

type Part = Pick<BatchMaterial, 'items' | 'timers' | 'resends'>;

export interface SmallerPart extends Pick<Part, 'items' | 'timers'> {
  /** A timer that fits no batch. */
  readonly failed: readonly FailedTimer[];
}

/**
 * The part that is tried instead of one that was overfull.
 *
 * Shape:  what one timer leads to may be more than a batch takes: it has failed, and the rest goes on.
 * Errors: InvariantViolation of scope `partition` for an input that leads to more: it is parked before it comes to that.
 */
export function smallerPart(part: Part, overfull: OverfullBatch): SmallerPart {
  const { items, timers, resends } = part;
  const { take, timers: fit } = overfull;
  const none: readonly FailedTimer[] = [];
  if (fit !== undefined) {
    if (fit > 0) return { items: [], timers: timers.slice(0, fit), failed: none };
    if (resends.length > 0) return { items: [], timers: [], failed: none };
    return { items, timers: timers.slice(1), failed: timers.slice(0, 1).map(tooLarge) };
  }
  if (take > 0) return { items: items.slice(0, take), timers, failed: none };
  if (items.length > 1) return { items: items.slice(0, 1), timers, failed: none };
  if (timers.length > 0 || resends.length > 0) return { items: [], timers, failed: none };
  throw new InvariantViolation('L4', 'a record that fits no batch was not parked', 'partition');
}

/** Nobody but a new version ends this, so it says so. */
function tooLarge(timer: TimerInput): FailedTimer {
  const { kind, group, key } = timer.address;
  const detail = `what the deadline of ${kind} ${group}/${key} leads to does not fit a batch. Nothing was written and nothing is lost; no command and no setting decides it: it waits for a version of the service that does so in parts. Report it, with this message`;
  return { timer, cause: new Error(`DECISION_TOO_LARGE: ${detail}`) };
}
