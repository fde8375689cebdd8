// What a worker keeps of its answers: enough to answer a copy of a request alike, within bounds.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { LegReported } from '@recourse/messages';
import { KeptAnswers } from './kept-answers.js';
import { reportOf } from './leg-runner.js';
import { legOf } from './legs.testing.js';

/** A report of one look that saw so many bytes. */
function report(leg_id: string, bytes: number): LegReported {
  const observed = plainPayload({ seen: 'x'.repeat(bytes) });
  const seen = { phase: 'verify', capability: 'payments.get_refund', observed, observed_at: 1, call: 1 } as const;
  const step = {
    step_id: 'step_1',
    outcome: 'verified',
    observations: [seen],
    error_kind: null,
    detail: null,
    external_transaction_ref: null,
    calls_done: 0,
  } as const;
  return reportOf(legOf({ leg_id }), [step], { workerId: 'worker', at: 1, complete: true });
}

function keeping(legs: number, bytes: number): KeptAnswers {
  const kept = new KeptAnswers();
  for (let leg = 1; leg <= legs; leg += 1) kept.keep(`leg_${String(leg)}`, report(`leg_${String(leg)}`, bytes));
  return kept;
}

describe('the answers of a worker', () => {
  it('are kept for a thousand legs, the oldest goes first', () => {
    const kept = keeping(1_001, 10);
    expect(['leg_1', 'leg_2', 'leg_1001'].map((leg) => kept.of(leg)?.leg_id)).toEqual([undefined, 'leg_2', 'leg_1001']);
  });

  it('are kept for fewer where they are large: sixteen megabytes in all', () => {
    const kept = keeping(20, 1_000_000);
    const held = Array.from({ length: 20 }, (_, leg) => kept.of(`leg_${String(leg + 1)}`)).filter(Boolean);
    expect(held.map((one) => one?.leg_id)).toEqual(Array.from({ length: 16 }, (_, at) => `leg_${String(at + 5)}`));
  });

  it('are the last one at least', () => {
    const kept = keeping(1, 20_000_000);
    expect(kept.of('leg_1')?.leg_id).toBe('leg_1');
  });
});
