// What reports and series say of how a step ended: since when something was wrong, and whether a person had a hand in it.
import type { StepDoc } from './step.messages.js';

/** When what its action relied on failed: as the source says, at the latest when its trigger was admitted; epoch milliseconds. */
export function failedAt({ evidence, triggered_at }: Pick<StepDoc, 'evidence' | 'triggered_at'>): number {
  return Math.min(evidence.stated_at, triggered_at);
}

/** It was compensated, and nobody had to agree or had it meanwhile. */
export function isUnattended({
  phase,
  required_approvals: required,
  was_given,
}: Pick<StepDoc, 'phase' | 'required_approvals' | 'was_given'>): boolean {
  return phase === 'compensated' && required === 0 && !was_given;
}
