// What the version of a contract that stands asks beyond the one an effect was executed under, for whoever says beforehand what an undo
// takes. It tightens and never loosens, as at every dispatch; policies may ask more then.
import type { RecoveryApprovalMode } from '@recourse/messages';
import { availableFor, hasSideEffects, isManual, isUndoable } from './class.js';
import type { Contract } from './shape.js';

/** Impacts that need a person whatever mode the contract declares (C35). */
export const GRAVE_IMPACTS: readonly string[] = ['financial', 'destructive', 'security_sensitive'];

/** What an effect was bound to. Instants in epoch milliseconds. */
interface BoundThen<Impact = string> {
  /** Null is people: they are the default (D27). */
  readonly recovery_approval_mode: RecoveryApprovalMode | null;
  readonly impact: Impact;
  readonly committed_at: number | null;
  readonly reversal_expires_at: number | null;
}

export interface BoundNow<Impact = string> {
  readonly recovery_approval_mode: RecoveryApprovalMode;
  readonly impact: Impact;
  readonly reversal_expires_at: number | null;
  /** Why machines may not undo it by now, as a code; null where they may. */
  readonly withheld: 'IRREVERSIBLE' | 'NO_REVERSAL' | null;
}

/** By strictness. */
const MODES: readonly RecoveryApprovalMode[] = ['auto', 'human', 'dual_control'];

/** What binds an effect by now; `standing` is null where no version stands. */
export function boundNow<Impact extends string>(
  then: BoundThen<Impact>,
  standing: Contract | null,
): BoundNow<Impact | Contract['impact']> {
  const { recovery_approval_mode: mode, impact, committed_at: from, reversal_expires_at: endsAt } = then;
  const length = standing === null ? null : availableFor(standing);
  const modes = [mode ?? 'human', ...(standing === null ? [] : [standing.recovery_approval_mode ?? 'human'])];
  return {
    recovery_approval_mode: MODES[Math.max(...modes.map(strictness))] ?? 'dual_control',
    impact: standing === null || GRAVE_IMPACTS.includes(impact) ? impact : standing.impact,
    reversal_expires_at: endsAt === null || length === null || from === null ? endsAt : Math.min(endsAt, from + length),
    withheld: standing === null ? null : withheldBy(standing),
  };
}

/** A mode that this version does not know is the strictest (P14). */
function strictness(mode: RecoveryApprovalMode): number {
  return MODES.includes(mode) ? MODES.indexOf(mode) : MODES.length;
}

function withheldBy(standing: Contract): BoundNow['withheld'] {
  if (!hasSideEffects(standing)) return null;
  if (!isUndoable(standing)) return 'IRREVERSIBLE';
  return isManual(standing) ? 'NO_REVERSAL' : null;
}
