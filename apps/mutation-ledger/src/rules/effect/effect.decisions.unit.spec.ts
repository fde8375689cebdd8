import { describe, expect, it } from '@jest/globals';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import type { ExecutionState, RecoverabilityState } from '@recourse/messages';
import { EFFECT_STATUS_OF, EFFECT_STATUSES, statusOf } from './effect.decisions.js';
import type { EffectStatus } from './effect.decisions.js';

const PAIRS = EXECUTION_STATE_VALUES.flatMap((execution) =>
  RECOVERABILITY_STATE_VALUES.map((recoverability) => [execution, recoverability] as const),
);

describe('the status word of an effect', () => {
  it('is told for every pair of states', () => {
    expect(Object.keys(EFFECT_STATUS_OF).sort()).toEqual([...EXECUTION_STATE_VALUES].sort());
    for (const [execution, recoverability] of PAIRS)
      for (const isRolledBack of [false, true])
        expect(EFFECT_STATUSES).toContain(statusOf(execution, recoverability, isRolledBack));
  });

  it('is each of the nine somewhere', () => {
    const told = new Set(
      PAIRS.flatMap(([execution, recoverability]) =>
        [false, true].map((isRolledBack) => statusOf(execution, recoverability, isRolledBack)),
      ),
    );
    expect([...told].sort()).toEqual([...EFFECT_STATUSES].sort());
  });

  it.each<[ExecutionState, RecoverabilityState, boolean, EffectStatus]>([
    ['planned', 'planned', false, 'planned'],
    ['executing', 'planned', false, 'executing'],
    ['succeeded', 'reversal_available', false, 'succeeded'],
    ['succeeded', 'reversal_expired', false, 'succeeded'],
    ['succeeded', 'reversal_available', true, 'compensation_pending'],
    ['succeeded', 'compensating', true, 'compensating'],
    ['succeeded', 'compensated', true, 'compensated'],
    ['succeeded', 'compensation_failed', true, 'manual_review'],
    ['succeeded', 'manual_resolution_required', true, 'manual_review'],
    ['failed', 'planned', false, 'failed'],
    ['uncertain', 'pending_commit', false, 'uncertain'],
    ['uncertain', 'pending_commit', true, 'uncertain'],
    ['planned', 'cancelled', false, 'failed'],
    ['uncertain', 'cancelled', false, 'uncertain'],
    ['succeeded', 'cancelled', false, 'manual_review'],
  ])('of %s and %s, rolled back %s, is %s', (execution, recoverability, isRolledBack, word) => {
    expect(statusOf(execution, recoverability, isRolledBack)).toBe(word);
  });

  it('says compensated only of what was observed to be', () => {
    for (const [execution, recoverability] of PAIRS)
      for (const isRolledBack of [false, true]) {
        expect(statusOf(execution, recoverability, isRolledBack) === 'compensated').toBe(
          recoverability === 'compensated',
        );
      }
  });
});
