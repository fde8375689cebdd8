// Contracts for specs: the shipped examples, changed where a spec says so.
import { readFileSync } from 'node:fs';

/** A contract as plain JSON, to be changed at will. */
export type ContractJson = Record<string, unknown>;

/** Reads a shipped example contract. */
export function exampleContract(name: string): ContractJson {
  return JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as ContractJson;
}

/** The refund contract with some fields changed; `undefined` removes one. */
export function refundContract(changes: ContractJson = {}): ContractJson {
  const merged = { ...exampleContract('payments.issue_refund'), ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

/** A reversible overwrite with its prior value. */
export function labelContract(): ContractJson {
  return {
    name: 'crm.set_label',
    owner: 'crm',
    effect: 'Sets a label.',
    impact: 'write',
    approval_mode: 'network',
    reversal_class: 'reversible',
    overwrites: true,
    args_schema: { type: 'object', properties: { id: { type: 'string' }, label: { type: 'string' } } },
    result_schema: { type: 'object' },
    inverse_capability: 'crm.restore_label',
    requires_prior_value_capture: true,
    reversal_window_ms: 60_000,
    reversal_args: { id: { from: 'args', path: '/id' }, label: { from: 'prior_value' } },
    stale_check: {
      observe_capability: 'crm.get_label',
      compares: 'version',
      condition: 'observed.id == bound.args.id',
    },
    verification: {
      verify_capability: 'crm.get_label',
      success_condition: 'observed.label == bound.args.label',
      max_attempts: 1,
    },
    idempotency: { mechanism: 'by value' },
    compensation_mode: { mode: 'approval_required', reason: 'Somebody may have set another label meanwhile.' },
  };
}

/** An irreversible message behind a person. */
export function mailContract(): ContractJson {
  return {
    name: 'mail.send_message',
    owner: 'comms',
    effect: 'Sends a message.',
    impact: 'customer_visible',
    approval_mode: 'network',
    reversal_class: 'irreversible',
    args_schema: { type: 'object' },
    result_schema: { type: 'object' },
    idempotency: { mechanism: 'none' },
    forward_approval: 'human',
    compensation_mode: { mode: 'not_supported', reason: 'What was read stays read.', accepted_by: 'comms' },
  };
}
