import { describe, expect, it } from '@jest/globals';
import { ESCALATION_REASONS } from '../rules/step/step.messages.js';
import { isUnprovable, pointedOut, shareOf } from './reports.decisions.js';
import type { Reasoned } from './reports.decisions.js';

const row = (capability: string, reason: string, steps: number, ended: number, tenant = 'acme'): Reasoned => ({
  tenant,
  capability,
  reason,
  steps,
  ended,
});

describe('a tool', () => {
  it('whose outcomes often cannot be proven is pointed out, over all such reasons (C72)', () => {
    expect(
      pointedOut([row('mail.send', 'OUTCOME_UNKNOWN', 2, 20), row('mail.send', 'VERIFICATION_FAILED', 1, 20)]),
    ).toEqual([{ tenant: 'acme', capability: 'mail.send', unprovable: 3, ended: 20, share: 0.15 }]);
  });

  it.each([
    ['it happened twice only', row('mail.send', 'OUTCOME_UNKNOWN', 2, 2)],
    ['it is a small part of what ended', row('mail.send', 'OUTCOME_UNKNOWN', 9, 91)],
    ['people denied it', row('mail.send', 'DENIED', 20, 20)],
    ['its window had closed', row('mail.send', 'REVERSAL_EXPIRED', 20, 20)],
  ])('is not pointed out when %s', (_why, reasoned) => {
    expect(pointedOut([reasoned])).toEqual([]);
  });

  it('is one per tenant, the largest part first', () => {
    expect(
      pointedOut([
        row('a.b', 'OUTCOME_UNKNOWN', 4, 40),
        row('a.b', 'OUTCOME_UNKNOWN', 3, 4, 'other'),
        row('c.d', 'FORWARD_UNCERTAIN', 10, 20),
      ]).map(({ tenant, capability, share }) => [tenant, capability, share]),
    ).toEqual([
      ['other', 'a.b', 0.75],
      ['acme', 'c.d', 0.5],
      ['acme', 'a.b', 0.1],
    ]);
  });
});

describe('a reason', () => {
  it('is unprovable where nobody can say what happened', () => {
    expect(ESCALATION_REASONS.filter(isUnprovable)).toEqual([
      'KEY_LIFETIME_OVER',
      'FORWARD_UNRESOLVED',
      'VERIFICATION_FAILED',
      'OUTCOME_UNKNOWN',
      'STEP_RESULT_MISSING',
    ]);
  });

  it('has no part of nothing', () => {
    expect([shareOf(0, 0), shareOf(1, 3)]).toEqual([0, 0.3333]);
  });
});
