// The rules against their second statement: 10,000 random contracts, each a sound one with up to four fields changed.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exampleContract, labelContract, mailContract, refundContract } from './fixtures.testing.js';
import type { ContractJson } from './fixtures.testing.js';
import { brokenByOracle } from './rules.oracle.testing.js';
import { reviewContract } from './rules.js';
import { APPROVAL_MODES, FORWARD_APPROVALS, IMPACTS, RECOVERY_APPROVAL_MODES, REVERSAL_CLASSES } from './shape.js';

/** The same contracts every time; others with RECOURSE_SEED. */
const SEED = Number(process.env['RECOURSE_SEED'] ?? 20_261_122);
const RUNS = 10_000;
const BASES = [
  exampleContract('payments.get_refund'),
  labelContract(),
  refundContract(),
  mailContract(),
  exampleContract('mail.send_message'),
  exampleContract('documents.archive_document'),
];
const gap = 'Milliseconds.';
const observed = { observe_capability: 'crm.get_label', condition: 'observed.version == bound.external_ref' };
const modes = ['automatic', 'approval_required', 'manual_runbook', 'not_supported'].flatMap((mode) => [
  { mode, reason: 'r' },
  { mode, reason: 'r', accepted_by: 'o', runbook: 'x' },
]);

/** Values a field may take; undefined takes it out. */
const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  reversal_class: [undefined, ...REVERSAL_CLASSES],
  impact: IMPACTS,
  approval_mode: APPROVAL_MODES,
  overwrites: [undefined, false, true],
  recovery_approval_mode: [undefined, ...RECOVERY_APPROVAL_MODES],
  forward_approval: [undefined, ...FORWARD_APPROVALS],
  compensation_mode: [undefined, ...modes],
  inverse_capability: [undefined, 'crm.restore_item'],
  compensation_capability: [undefined, 'crm.revoke_item'],
  cancel_capability: [undefined, 'crm.cancel_item'],
  commit_hold_ms: [undefined, 0, 1, 4_999, 5_000, 60_000],
  requires_prior_value_capture: [undefined, false, true],
  requires_external_handle: [undefined, false, true],
  residue: [undefined, 'something'],
  recovery_cost: [undefined, { time_ms: 1, value: { amount_minor: 1, currency: 'INR' } }],
  idempotency: [undefined, { mechanism: 'm' }],
  debt_weight: [undefined, 0.05, 0.5],
  reversal_window_ms: [undefined, 3_000, 86_400_000],
  expires_after_commit_ms: [undefined, 2_500, 90_000_000],
  call_timeout_ms: [undefined, 100, 5_000],
  reversal_args: [
    undefined,
    {},
    { id: { from: 'constant', value: 1 } },
    { id: { from: 'prior_value' } },
    { id: { from: 'external_ref' } },
    { id: { from: 'step', capability: 'travel.book_trip' } },
  ],
  unchecked_because: [undefined, undefined, 'nobody else can change it'],
  stale_check: [
    undefined,
    { ...observed, compares: 'version' },
    { ...observed, compares: 'status' },
    { ...observed, compares: 'owner', check_act_gap: gap },
  ],
  verification: [
    undefined,
    ...['crm.get_label', 'crm.restore_item', 'payments.issue_refund'].flatMap((verify_capability) =>
      ['true', 'has(observed.undone)', observed.condition].map((success_condition) => ({
        verify_capability,
        success_condition,
        max_attempts: 1,
      })),
    ),
  ],
  consequence: [undefined, { money: '1' }, { regulatory: '1' }],
  techniques: [
    undefined,
    { hold: true },
    { reservation: true },
    { prior_value_capture: true },
    { tombstone_ttl_ms: 10 },
    { tombstone_ttl_ms: 100_000_000 },
  ],
  blast_radius: [
    undefined,
    { scope: 'tenant' },
    { scope: 'tenant', max_value_per_run: { amount_minor: 1, currency: 'INR' } },
    { scope: 'tenant', max_subjects_per_run: 1 },
  ],
  value: [undefined],
  subject: [undefined],
  draft: [undefined, 'd'],
  args_schema: [{ type: 'array' }, { type: 'object', properties: { a: {} } }],
};
const change = fc.oneof(
  ...Object.entries(CHOICES).map(([field, values]) => fc.constantFrom(...values).map((value) => ({ [field]: value }))),
);
const contracts = fc
  .tuple(fc.constantFrom(...BASES), fc.array(change, { maxLength: 4 }))
  .map(([base, changes]): ContractJson =>
    Object.fromEntries(
      Object.entries(Object.assign({}, base, ...changes) as ContractJson).filter(([, value]) => value !== undefined),
    ),
  );

/** Where a rule depends on what an expression, a pointer or a schema says, the second statement has nothing to say. */
const READING = new Set(['REVERSAL_ARG_UNREADABLE', 'VALUE_UNREADABLE', 'CEL_UNREADABLE', 'CURRENCY_CONTRADICTORY']);

describe('random contracts', () => {
  it('are never accepted when a rule is broken, and never refused when none is', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(contracts, (contract) => {
        const review = reviewContract(JSON.stringify(contract), { has: () => true });
        const codes = review.ok ? [] : review.problems.map(({ code, path }) => `${code} ${path ?? ''}`);
        const said = brokenByOracle(contract);
        if (said.length > 0) expect({ accepted: review.ok, said }).toEqual({ accepted: false, said });
        if (said.length === 0) expect(codes.filter((each) => !READING.has(each.split(' ')[0] ?? ''))).toEqual([]);
        seen[review.ok ? 'accepted' : 'refused'] += 1;
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(seen.accepted + seen.refused).toBe(RUNS);
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(RUNS / 20);
  }, 120_000);
});
