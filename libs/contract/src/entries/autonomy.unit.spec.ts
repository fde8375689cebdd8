// A tenant's autonomy policy beside the platform's of the same name: together they ask for as much as the platform's alone, in every field.
import { describe, expect, it } from '@jest/globals';
import { RUNG_VALUES } from '@recourse/messages';
import fc from 'fast-check';
import {
  autonomyPolicy,
  ceilingIn,
  DEFAULT_THRESHOLDS,
  grantAt,
  GRANTED_APPROVALS,
  joinedAutonomy,
  stricterApproval,
} from './autonomy.js';

type Policy = Parameters<typeof joinedAutonomy>[1];

const PERMILLE = fc.integer({ min: 0, max: 1_000 });
const TIME = fc.integer({ min: 1_000, max: 10_000 });
const UNITS = ['INR', 'exposure'];

const GRANT = fc.record(
  {
    forward_approval: fc.constantFrom(...GRANTED_APPROVALS),
    ceilings: fc.array(fc.record({ currency: fc.constantFrom(...UNITS), ceiling_minor: fc.integer({ min: 0 }) })),
  },
  { requiredKeys: [] },
);

const POLICY: fc.Arbitrary<Policy> = fc.record(
  {
    capabilities: fc.subarray(['flags.set', 'wire.send', 'mail.send'], { minLength: 1 }),
    thresholds: fc.record({
      recommend: PERMILLE,
      draft: PERMILLE,
      execute_with_approval: PERMILLE,
      auto_execute: PERMILLE,
    }),
    caps: fc.array(
      fc.record({ name: fc.constantFrom('a', 'b'), rung: fc.constantFrom(...RUNG_VALUES), reason: fc.constant('r') }),
    ),
    sources: fc.subarray(['critic', 'judge', 'platform']),
    corrections: fc.record({ count: fc.integer({ min: 1, max: 100 }), window_ms: TIME }),
    undone_permille: PERMILLE,
    hold_ms: TIME,
    rungs: fc.record(Object.fromEntries(RUNG_VALUES.map((rung) => [rung, GRANT])), { requiredKeys: [] }),
  },
  { requiredKeys: ['capabilities'] },
);

describe("a tenant's autonomy policy of the name of the platform's", () => {
  it('makes it laxer in no field', () => {
    fc.assert(
      fc.property(POLICY, POLICY, (own, platform) => {
        const [so, theirs] = [autonomyPolicy(joinedAutonomy(own, platform), ''), autonomyPolicy(platform, '')];
        expect(so.capabilities).toEqual(expect.arrayContaining([...theirs.capabilities]));
        for (const rung of Object.keys(DEFAULT_THRESHOLDS) as (keyof typeof DEFAULT_THRESHOLDS)[])
          expect(so.thresholds[rung]).toBeGreaterThanOrEqual(theirs.thresholds[rung]);
        expect(so.caps.map(({ rung }) => rung)).toEqual(expect.arrayContaining(theirs.caps.map(({ rung }) => rung)));
        if (theirs.sources !== null)
          expect(theirs.sources).toEqual(expect.arrayContaining([...(so.sources ?? ['any'])]));
        expect(so.corrections.count).toBeLessThanOrEqual(theirs.corrections.count);
        expect(so.corrections.window_ms).toBeGreaterThanOrEqual(theirs.corrections.window_ms);
        expect(so.undone_permille).toBeGreaterThanOrEqual(theirs.undone_permille);
        expect(so.hold_ms).toBeGreaterThanOrEqual(theirs.hold_ms);
        for (const rung of RUNG_VALUES) {
          const [granted, before] = [grantAt(so, rung), grantAt(theirs, rung)];
          const asks = granted.forward_approval ?? 'policy';
          expect(stricterApproval(asks, before.forward_approval ?? 'policy')).toBe(asks);
          for (const unit of UNITS)
            expect(ceilingIn(granted, unit) ?? Infinity).toBeLessThanOrEqual(ceilingIn(before, unit) ?? Infinity);
        }
      }),
    );
  });
});
