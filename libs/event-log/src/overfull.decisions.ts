// What is left out of a batch that gets too large (L4). Pure.
//
// Invariants
//   F1. Every turn that something is left out of makes the rest smaller, so a batch is found or nothing is left.
//   F2. What has to leave again goes first and never grows: what does not fit beside it goes alone into the next batch.
import { InvariantViolation } from '@recourse/kernel';
import type { BatchMaterial, OverfullBatch } from './batch.js';
import type { TimerInput } from './service-core.js';

type Part = Pick<BatchMaterial, 'items' | 'timers' | 'resends'>;

/**
 * The part that is tried instead of one that was overfull.
 *
 * Errors: InvariantViolation of scope `partition` when what one timer leads to is more than a batch takes; an input that
 *         leads to more is parked before it comes to that.
 */
export function smallerPart(part: Part, overfull: OverfullBatch): Pick<Part, 'items' | 'timers'> {
  const { items, timers, resends } = part;
  const { take, timers: fit } = overfull;
  if (fit !== undefined) {
    if (fit > 0) return { items: [], timers: timers.slice(0, fit) };
    if (resends.length > 0) return { items: [], timers: [] };
    throw tooLarge(timers[0]);
  }
  if (take > 0) return { items: items.slice(0, take), timers };
  if (items.length > 1) return { items: items.slice(0, 1), timers };
  if (timers.length > 0 || resends.length > 0) return { items: [], timers };
  throw new InvariantViolation('L4', 'a record that fits no batch was not parked', 'partition');
}

/** Nobody but a new version ends this, so it says so. */
function tooLarge(timer: TimerInput | undefined): InvariantViolation {
  const { kind, group, key } = timer?.address ?? { kind: '?', group: '?', key: '?' };
  return new InvariantViolation(
    'L4',
    `what the deadline of ${kind} ${group}/${key} leads to does not fit a batch. Nothing was written and nothing is lost, but no command and no setting lets this partition go on: its inputs wait until a version of the service runs that decides this in parts. Report it, with this message`,
    'partition',
  );
}
