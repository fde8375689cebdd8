// The contracts of the example (A85): a refund is compensated by reversing it, by a person's word, before the provider settles.
import type { Contract, EntryBody } from '@recourse/contract';

export const CURRENCY = 'INR';
/** Refunds on unshipped orders are approved beforehand up to this: ₹5,000 (A86). */
export const REFUND_CAP_MINOR = 500_000;
/** From the refund to the provider's settlement cutoff. */
const WINDOW_MS = 30 * 60_000;
/** A window that closes while people are still being asked. */
export const SHORT_WINDOW_MS = 8_000;
const KEY_LIFETIME_MS = 24 * 3_600_000;
const CALL_TIMEOUT_MS = 1_500;

export const ISSUE_REFUND = 'payments.issue_refund';
/** The same refund, for payments that settle within seconds. */
export const ISSUE_INSTANT_REFUND = 'payments.issue_instant_refund';
export const REVERSE_REFUND = 'payments.reverse_refund';
export const GET_REFUND = 'payments.get_refund';

/** The recovery policy that the contracts of refunds name: until it is registered, no refund is taken back by a machine. */
export const REFUND_POLICY: { readonly name: string; readonly entry: EntryBody<'policy_bundle'> } = {
  name: 'refund-recovery',
  entry: {
    owner: 'risk-team',
    doc: 'Who agrees before a refund is taken back.',
    admission: [],
    recovery: [
      {
        name: 'beyond-the-cap',
        when: `!has(mutation.amount_minor) || mutation.amount_minor > ${String(REFUND_CAP_MINOR)}`,
        approval: 'dual_control',
        reason: 'More than the agent may refund by itself.',
      },
    ],
  },
};

const refundSchema = {
  type: 'object',
  properties: {
    refund_id: { type: 'string' },
    order: { type: 'string' },
    amount_minor: { type: 'integer' },
    currency: { type: 'string' },
    status: { type: 'string' },
  },
  required: ['refund_id', 'status'],
};
const idSchema = {
  type: 'object',
  properties: { refund_id: { type: 'string', minLength: 1 } },
  required: ['refund_id'],
  additionalProperties: false,
};

const getRefund: Contract = {
  name: GET_REFUND,
  owner: 'payments-team',
  effect: 'Reads a refund at the payment provider.',
  impact: 'read',
  approval_mode: 'read_only',
  args_schema: idSchema,
  result_schema: refundSchema,
};

const reverseRefund: Contract = {
  name: REVERSE_REFUND,
  owner: 'payments-team',
  effect: 'Takes a refund back before it settles.',
  impact: 'financial',
  approval_mode: 'delegated',
  args_schema: idSchema,
  result_schema: refundSchema,
  reversal_class: 'irreversible',
  compensation_mode: {
    mode: 'not_supported',
    reason: 'The customer asks for the refund anew.',
    accepted_by: 'payments-team',
  },
  forward_approval: 'human',
  idempotency: { mechanism: 'Idempotency-Key header', key_lifetime_ms: KEY_LIFETIME_MS },
  call_timeout_ms: CALL_TIMEOUT_MS,
};

const issueRefund: Contract = {
  name: ISSUE_REFUND,
  owner: 'payments-team',
  effect: 'A customer gets the price of an order back.',
  impact: 'financial',
  approval_mode: 'delegated',
  args_schema: {
    type: 'object',
    properties: {
      order: { type: 'string', minLength: 1 },
      amount_minor: { type: 'integer', minimum: 1, maximum: REFUND_CAP_MINOR },
      currency: { const: CURRENCY },
    },
    required: ['order', 'amount_minor', 'currency'],
    additionalProperties: false,
  },
  result_schema: refundSchema,
  reversal_class: 'compensable',
  compensation_capability: REVERSE_REFUND,
  residue: 'The customer sees a refund that was taken back.',
  recovery_cost: { time_ms: 60_000, value: { amount_minor: 0, currency: CURRENCY } },
  recovery_approval_mode: 'human',
  recovery_policy_ref: REFUND_POLICY.name,
  compensation_mode: { mode: 'approval_required', reason: 'Money moves on a customer account.' },
  risk: 'The customer may already count on the money.',
  forward_approval: 'policy',
  reversal_window_ms: WINDOW_MS,
  requires_external_handle: true,
  reversal_args: { refund_id: { from: 'external_ref' } },
  reconcile_capability: GET_REFUND,
  stale_check: {
    observe_capability: GET_REFUND,
    compares: 'status',
    condition: 'observed.status == "settled"',
    check_act_gap: 'The provider has no conditional reversal; a change between check and reversal is refused by it.',
  },
  verification: {
    verify_capability: GET_REFUND,
    success_condition: 'observed.status == "reversed" && observed.refund_id == bound.args.refund_id',
    max_attempts: 3,
    delay_ms: 200,
  },
  blast_radius: { max_value_per_run: { amount_minor: REFUND_CAP_MINOR, currency: CURRENCY }, scope: 'single_subject' },
  idempotency: { mechanism: 'Idempotency-Key header', key_lifetime_ms: KEY_LIFETIME_MS },
  subject: '/order',
  value: { amount: '/amount_minor', currency: '/currency' },
  call_timeout_ms: CALL_TIMEOUT_MS,
  max_attempts: 5,
};

/** In the order they must be registered: what a contract names has to stand before it. */
export const CONTRACTS: readonly Contract[] = [
  getRefund,
  reverseRefund,
  issueRefund,
  { ...issueRefund, name: ISSUE_INSTANT_REFUND, reversal_window_ms: SHORT_WINDOW_MS },
];
