import { describe, expect, it } from '@jest/globals';
import { consumerMeasure } from './consumer.measures.js';
import { fitOf } from './misfit.decisions.js';

const MEASURED = { mode: 'async', commit_to_user_ms: 2_000, p99_ms: 2_000, late_emissions: 0 } as const;

describe('the mode of a consumer', () => {
  it.each([
    [{}, { misfit: false, why: null, advice: null }],
    [{ p99_ms: null }, { misfit: false }],
    [{ p99_ms: 2_001 }, { misfit: true, why: 'SLOWER_THAN_ITS_USERS', advice: 'sync' }],
    [
      { p99_ms: 2_001, mode: 'poll' },
      { misfit: true, advice: 'sync' },
    ],
    [{ p99_ms: 9_000, mode: 'sync' }, { misfit: false }],
    [{ late_emissions: 1 }, { misfit: true, why: 'EMITTED_AFTER_THE_MARK', advice: 'sync' }],
    [
      { late_emissions: 1, mode: 'sync' },
      { misfit: true, why: 'EMITTED_AFTER_THE_MARK', advice: null },
    ],
  ] as const)('with %j fits: %j', (more, fit) => {
    expect(fitOf({ ...MEASURED, ...more })).toMatchObject(fit);
  });
});

describe('a series of consumers', () => {
  const row = (is_late: boolean) => () => [
    { kind: 'rolled_back', after: {} },
    { kind: 'delivery', after: { mode: 'poll', answer: { is_late, after_ms: 1_500 } } },
  ];
  it('counts answers by mode, late ones apart, and silence', () => {
    const record = { type: 'ConsumerAcknowledged', body: {} };
    expect([
      consumerMeasure(record, row(false)),
      consumerMeasure(record, row(true)),
      consumerMeasure(record, () => []),
    ]).toEqual([
      { kind: 'delivery', mode: 'poll', outcome: 'acknowledged', seconds: 1.5 },
      { kind: 'delivery', mode: 'poll', outcome: 'late', seconds: 1.5 },
      null,
    ]);
    expect(consumerMeasure({ type: 'DeliveryOverdue', body: { mode: 'sync' } }, row(false))).toEqual({
      kind: 'delivery',
      mode: 'sync',
      outcome: 'overdue',
      seconds: null,
    });
    expect(consumerMeasure({ type: 'AckRefused', body: { code: 'ACK_NOT_DUE' } }, row(false))).toEqual({
      kind: 'refused',
      code: 'ACK_NOT_DUE',
    });
    expect(consumerMeasure({ type: 'MutationsFell', body: {} }, row(false))).toBeNull();
  });
});
