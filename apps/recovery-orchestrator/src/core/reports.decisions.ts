// Which reasons of a step say that nobody could prove what happened, or what would undo it (C72).
import type { DecisionReason } from '../rules/decision/recovery.decisions.js';
import type { EscalationReason } from '../rules/step/step.messages.js';

const UNPROVABLE: readonly string[] = [
  'OUTCOME_UNKNOWN',
  'VERIFICATION_FAILED',
  'KEY_LIFETIME_OVER',
  'FORWARD_UNRESOLVED',
  'STEP_RESULT_MISSING',
  'FORWARD_UNCERTAIN',
  'VERIFICATION_MISSING',
  'HANDLE_CLAIMED',
  'HANDLE_ASKED',
  'HANDLE_INCOMPLETE',
] as const satisfies readonly (EscalationReason | DecisionReason)[];

/** The rest are known ends. */
export function isUnprovable(reason: string): boolean {
  return UNPROVABLE.includes(reason);
}
