import { describe, expect, it } from '@jest/globals';
import { manualReport } from './manual-reasons.js';
import type { ManualReason, ManualReport } from './manual-reasons.js';

const row = (capability: string, reason: string, times: number, ended: number, tenant = 'acme'): ManualReason => ({
  tenant,
  capability,
  reason,
  times,
  ended,
});
const UNPROVABLE = ['OUTCOME_UNKNOWN', 'VERIFICATION_FAILED', 'FORWARD_UNCERTAIN'];
const reported = (items: readonly ManualReason[]): ManualReport =>
  manualReport({ items, more: false }, (reason) => UNPROVABLE.includes(reason));

describe('a tool', () => {
  it('whose outcomes often cannot be proven is pointed out, over all such reasons (C72)', () => {
    expect(
      reported([row('mail.send', 'OUTCOME_UNKNOWN', 2, 20), row('mail.send', 'VERIFICATION_FAILED', 1, 20)])
        .pointed_out,
    ).toEqual([{ tenant: 'acme', capability: 'mail.send', unprovable: 3, ended: 20, share: 0.15 }]);
  });

  it.each([
    ['it happened twice only', row('mail.send', 'OUTCOME_UNKNOWN', 2, 2)],
    ['it is a small part of what ended', row('mail.send', 'OUTCOME_UNKNOWN', 9, 91)],
    ['people denied it', row('mail.send', 'DENIED', 20, 20)],
    ['its window had closed', row('mail.send', 'REVERSAL_EXPIRED', 20, 20)],
  ])('is not pointed out when %s', (_why, reasoned) => {
    expect(reported([reasoned]).pointed_out).toEqual([]);
  });

  it('is one per tenant, the largest part first', () => {
    expect(
      reported([
        row('a.b', 'OUTCOME_UNKNOWN', 4, 40),
        row('a.b', 'OUTCOME_UNKNOWN', 3, 4, 'other'),
        row('c.d', 'FORWARD_UNCERTAIN', 10, 20),
      ]).pointed_out.map(({ tenant, capability, share }) => [tenant, capability, share]),
    ).toEqual([
      ['other', 'a.b', 0.75],
      ['acme', 'c.d', 0.5],
      ['acme', 'a.b', 0.1],
    ]);
  });

  it('has no part of nothing', () => {
    const { items } = reported([row('a.b', 'OUTCOME_UNKNOWN', 0, 0), row('a.b', 'DENIED', 1, 3)]);
    expect(items.map(({ share, is_unprovable: isUnprovable }) => [share, isUnprovable])).toEqual([
      [0, true],
      [0.3333, false],
    ]);
  });
});
