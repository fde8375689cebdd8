// Why people were asked about what an agent did, before any recovery, and which of these reasons mean that nobody could prove
// what happened or what would undo it (C72).
import type { ReasonCode } from './mutation.messages.js';

/** Nobody told in time how it ended, and no worker could find out. */
export const OUTCOME_UNKNOWN = 'OUTCOME_UNKNOWN';

const UNPROVABLE: readonly string[] = [
  OUTCOME_UNKNOWN,
  'EXECUTION_UNCERTAIN',
  'HANDLE_MISSING',
  'REVERSAL_ARGS_INCOMPLETE',
] as const satisfies readonly (typeof OUTCOME_UNKNOWN | ReasonCode | 'REVERSAL_ARGS_INCOMPLETE')[];

/** The rest are known ends. What follows a colon is the detail of a reason. */
export function isUnprovable(reason: string): boolean {
  return UNPROVABLE.includes(reason.replace(/:.*/su, ''));
}
