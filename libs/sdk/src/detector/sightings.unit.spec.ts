import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { legOf } from '../worker/legs.testing.js';
import { reportOf } from '../worker/leg-runner.js';
import { sightingsOfReport } from './sightings.js';

describe('the report of a leg', () => {
  const observations = [
    {
      phase: 'verify',
      capability: 'payments.get_refund',
      observed: plainPayload({ status: 'reversed' }),
      observed_at: 5,
      call: 1,
    },
  ] as const;
  const step = {
    step_id: 'step_1',
    outcome: 'verified',
    observations,
    error_kind: null,
    detail: null,
    external_transaction_ref: null,
    calls_done: 0,
  } as const;
  const told = (complete: boolean) => sightingsOfReport(reportOf(legOf(), [step], { workerId: 'w', at: 6, complete }));

  it('shows what was observed, once the leg is over', () => {
    expect(told(true)).toMatchObject([{ source: 'payments.get_refund', seenAt: 5 }]);
  });

  it('shows nothing while the leg is under way: the last one tells it all', () => {
    expect(told(false)).toEqual([]);
  });
});
