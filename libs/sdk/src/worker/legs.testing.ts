// Legs for specs.
import { plainPayload } from '@recourse/contract';
import type { LegRequested, LegStep } from '@recourse/messages';

/** Ends of leases in specs lie here unless they say otherwise. */
export const NOT_AFTER = 10_000;

export function legStep(more: Partial<LegStep> = {}): LegStep {
  return {
    step_id: 'step_1',
    call: {
      call_id: 'rev_mut_1',
      run_id: 'run-1',
      adapter_id: 'payments',
      capability: 'payments.reverse_refund',
      args: plainPayload({ refund_id: 'rf_1' }),
      approval_mode: 'delegated',
      policy_ref: null,
      idempotency_key: 'rev_key',
      reverses_mutation_ref: 'mut_1',
      then: [],
    },
    call_timeout_ms: 1_000,
    agent_id: 'agent',
    subject_ref: 'order/4711',
    external_transaction_ref: 'rf_1',
    key_lifetime_ms: 60_000,
    reconcile_capability: 'payments.get_refund',
    stale_capability: 'payments.get_refund',
    stale_condition: 'observed.status == "settled"',
    stale_compares: 'status',
    verify_capability: 'payments.get_refund',
    success_condition: 'observed.status == "reversed"',
    verify_max_attempts: 2,
    verify_delay_ms: 100,
    calls_done: 0,
    ...more,
  };
}

export function legOf(more: Partial<LegRequested> = {}): LegRequested {
  return {
    leg_id: 'leg_1',
    kind: 'compensate',
    tenant: 'acme',
    run_id: 'run-1',
    attempt: 1,
    lease_id: 'lease_1',
    not_after: NOT_AFTER,
    reconcile_first: false,
    for_observer: false,
    reason: 'agent_effect_compensation',
    steps: [legStep()],
    ...more,
  };
}
