// What whoever decides is told beside the facts: what the run was for, how the effect is compensated, and what of it nobody said. Pure.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';

/** Lines of a brief; those about a compensation are told by `compensationFields`. */
export function briefFields(brief: unknown): readonly (readonly [string, unknown])[] {
  const { objective, compensation, missing } = docOf(brief);
  const lacks = Array.isArray(missing) && missing.length > 0;
  return [
    ['objective', objective],
    ...compensationFields(docOf(compensation)),
    ['nobody said', lacks ? missing : null],
  ];
}

/** How the contract says that an effect is compensated, and what a person works from. */
export function compensationFields({
  mode,
  reason,
  runbook,
  accepted_by,
}: Doc): readonly (readonly [string, unknown])[] {
  return [
    ['compensated', mode],
    ['why so', reason],
    ['runbook', runbook],
    ['accepted by', accepted_by],
  ];
}
