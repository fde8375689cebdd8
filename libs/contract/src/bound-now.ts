// What the newest version of a contract, retired or not, and the contracts of what would be called ask beyond the version an effect was
// executed under, at every dispatch and for whoever says beforehand what an undo takes. It tightens and never loosens; policies may ask more.
import type { RecoveryApprovalMode } from '@recourse/messages';
import { availableFor, hasSideEffects, isGrave, isManual, isUndoable, takesPeople } from './class.js';
import type { Contract } from './shape.js';

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

/** From the least to the most people. */
export const MODES_BY_STRICTNESS: readonly RecoveryApprovalMode[] = ['auto', 'human', 'dual_control'];

/** What binds an effect by now; `standing` is the newest version, null where there is none, `called` what its undo calls, as far as it is known. */
export function boundNow<Impact extends string>(
  then: BoundThen<Impact>,
  standing: Contract | null,
  called: readonly Contract[] = [],
): BoundNow<Impact | Contract['impact']> {
  const { recovery_approval_mode: mode, impact, committed_at: from, reversal_expires_at: endsAt } = then;
  const length = standing === null ? null : availableFor(standing);
  const asked: readonly RecoveryApprovalMode[] = [
    ...(standing === null ? [] : [standing.recovery_approval_mode ?? 'human']),
    ...(called.some(takesPeople) ? (['human'] as const) : []),
  ];
  return {
    recovery_approval_mode: asked.reduce(
      (strictest, each) => stricter(strictest, each, MODES_BY_STRICTNESS),
      mode ?? 'human',
    ),
    impact: standing === null || isGrave(impact) ? impact : standing.impact,
    reversal_expires_at: endsAt === null || length === null || from === null ? endsAt : Math.min(endsAt, from + length),
    withheld: standing === null ? null : withheldBy(standing),
  };
}

/** The stricter of two words; one that this version does not know is the strictest (P14). */
export function stricter<Word extends string>(one: Word, other: Word, order: readonly Word[]): Word {
  const rank = (word: Word): number => (order.includes(word) ? order.indexOf(word) : order.length);
  return rank(other) > rank(one) ? other : one;
}

function withheldBy(standing: Contract): BoundNow['withheld'] {
  if (!hasSideEffects(standing)) return null;
  if (!isUndoable(standing)) return 'IRREVERSIBLE';
  return isManual(standing) ? 'NO_REVERSAL' : null;
}
