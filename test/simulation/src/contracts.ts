// The contracts of the simulated provider, in a few shapes: the same bodies come back in many seeds, so that they are compiled once.
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { contractBody, contractDigest, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';

/** Durations of a world, milliseconds. */
export interface Terms {
  readonly windowMs: number;
  readonly keyLifetimeMs: number;
  readonly callTimeoutMs: number;
  readonly maxAttempts: number;
}

/** What a forward action is to the provider; the capability follows. */
export type EffectKind = 'refund' | 'credit' | 'voucher' | 'limit' | 'transfer' | 'lead' | 'linked';
/** What agents do by itself; a transfer is left to the ledger, a lead and what is linked to it come in pairs. */
export const EFFECT_KINDS: readonly EffectKind[] = ['refund', 'credit', 'voucher', 'limit'];
const ALL_KINDS: readonly EffectKind[] = [...EFFECT_KINDS, 'transfer', 'lead', 'linked'];

export const CAPABILITY_OF: Readonly<Record<EffectKind, string>> = {
  refund: 'payments.issue_refund',
  credit: 'payments.issue_credit',
  voucher: 'payments.send_voucher',
  limit: 'payments.raise_limit',
  transfer: 'payments.send_transfer',
  lead: 'payments.open_account',
  linked: 'payments.link_account',
};
/** Effect key of every lead: the compensation of what is linked to it in its run takes the receipt of its own. */
export const LEAD = 'lead';
export const OBSERVE = 'payments.get_refund';
export const REVERSE = 'payments.reverse_refund';
export const CANCEL = 'payments.cancel_transfer';
/** Takes a linked transaction back, with the receipt of its lead's reversal. */
export const UNLINK = 'payments.unlink_account';
/** How long a transfer that is left to the ledger is held, milliseconds. */
export const HOLD_MS = 5_000;

export interface RegisteredContract {
  readonly name: string;
  readonly body: string;
  readonly digest: Buffer;
  readonly contract: Contract;
}

/** All contracts of a world, in the order they are registered: what others name comes first. */
export function contractsOf(terms: Terms): readonly RegisteredContract[] {
  return [
    observer(terms),
    reversal(terms, REVERSE),
    reversal(terms, CANCEL),
    reversal(terms, UNLINK),
    ...ALL_KINDS.map((kind) => forward(kind, terms)),
  ].map(registered);
}

function registered(json: Readonly<Record<string, Json>>): RegisteredContract {
  const parsed = parseContract(canonicalJson({ ...json, version: 1 }));
  if (!parsed.ok) throw new Error(`contract ${JSON.stringify(json['name'])}: ${JSON.stringify(parsed.problems)}`);
  const body = contractBody(parsed.contract);
  return { name: parsed.contract.name, body, digest: contractDigest(body), contract: parsed.contract };
}

const OBJECT = { type: 'object' } as const;
const MONEY_ARGS = {
  type: 'object',
  required: ['order_id', 'amount_minor', 'currency'],
  properties: { order_id: { type: 'string' }, amount_minor: { type: 'integer' }, currency: { type: 'string' } },
} as const;
const REVERSE_ARGS = {
  type: 'object',
  required: ['refund_id', 'amount_minor'],
  properties: { refund_id: { type: 'string' }, amount_minor: { type: 'integer' } },
} as const;
const UNLINK_ARGS = {
  type: 'object',
  required: ['refund_id', 'amount_minor', 'receipt'],
  properties: { ...REVERSE_ARGS.properties, receipt: { type: 'string' } },
} as const;

function observer({ callTimeoutMs }: Terms): Readonly<Record<string, Json>> {
  return {
    name: OBSERVE,
    owner: 'payments',
    effect: 'Reads one transaction.',
    impact: 'read',
    approval_mode: 'read_only',
    args_schema: { type: 'object', properties: { refund_id: { type: 'string' } } },
    result_schema: OBJECT,
    subject: '/refund_id',
    call_timeout_ms: callTimeoutMs,
  };
}

function reversal({ callTimeoutMs }: Terms, name: string): Readonly<Record<string, Json>> {
  return {
    name,
    owner: 'payments',
    effect: 'Takes a transaction back.',
    // What goes by itself is taken back by it as well.
    impact: name === CANCEL ? 'financial' : 'write',
    approval_mode: 'delegated',
    args_schema: name === UNLINK ? UNLINK_ARGS : REVERSE_ARGS,
    result_schema: OBJECT,
    reversal_class: 'irreversible',
    forward_approval: 'human',
    recovery_approval_mode: 'human',
    compensation_mode: { mode: 'not_supported', reason: 'A person pays again.', accepted_by: 'payments' },
    risk: 'Money promised is lost.',
    idempotency: { mechanism: 'By key.' },
    subject: '/refund_id',
    value: { amount: '/amount_minor', currency: 'EUR' },
    call_timeout_ms: callTimeoutMs,
  };
}

function forward(
  kind: EffectKind,
  { windowMs, keyLifetimeMs, callTimeoutMs, maxAttempts }: Terms,
): Readonly<Record<string, Json>> {
  const isAuto = kind === 'credit' || kind === 'lead' || kind === 'linked';
  return {
    name: CAPABILITY_OF[kind],
    owner: 'payments',
    effect: `Makes a ${kind}.`,
    impact: isAuto ? 'write' : 'financial',
    approval_mode: 'network',
    args_schema: MONEY_ARGS,
    result_schema: OBJECT,
    reversal_class: 'compensable',
    compensation_capability: kind === 'linked' ? UNLINK : REVERSE,
    recovery_approval_mode: isAuto ? 'auto' : kind === 'limit' ? 'dual_control' : 'human',
    compensation_mode: { mode: isAuto ? 'automatic' : 'approval_required', reason: 'Told to customers.' },
    residue: 'Two lines on a statement.',
    recovery_cost: { time_ms: 1_000, value: { amount_minor: 10, currency: 'EUR' } },
    risk: 'Taken back wrongly.',
    forward_approval: 'policy',
    reversal_window_ms: windowMs,
    window_closed_by: ['settlement'],
    requires_external_handle: true,
    reversal_args: {
      refund_id: { from: 'external_ref' },
      amount_minor: { from: 'args', path: '/amount_minor' },
      ...(kind === 'linked' ? { receipt: { from: 'step', capability: CAPABILITY_OF.lead, path: '/receipt' } } : {}),
    },
    reconcile_capability: OBSERVE,
    stale_check: {
      observe_capability: OBSERVE,
      compares: 'status',
      condition: "observed.status == 'issued' && observed.amount_minor == bound.args.amount_minor",
      check_act_gap: 'Milliseconds between check and act.',
    },
    verification: {
      verify_capability: OBSERVE,
      success_condition: "observed.status == 'reversed'",
      max_attempts: 2,
      delay_ms: 100,
    },
    idempotency: kind === 'voucher' ? { mechanism: 'None.' } : { mechanism: 'By key.', key_lifetime_ms: keyLifetimeMs },
    subject: '/order_id',
    value: { amount: '/amount_minor', currency: '/currency' },
    call_timeout_ms: callTimeoutMs,
    max_attempts: maxAttempts,
    blast_radius: {
      max_calls_per_run: 4,
      max_value_per_run: { amount_minor: 2_000, currency: 'EUR' },
      scope: 'single_subject',
    },
    consequence: { money: 'args.amount_minor', commitments: '1' },
    ...(kind === 'transfer'
      ? {
          commit_hold_ms: HOLD_MS,
          cancel_capability: CANCEL,
          precondition: { observe_capability: OBSERVE, condition: 'observed.happened == false' },
        }
      : {}),
  };
}
