// Executions as an agent platform publishes them, five actions a run. Pure.
import { contractDigest, plainPayload } from '@recourse/contract';
import { canonicalJson, deriveId } from '@recourse/kernel';
import type { CommitRef, ToolExecuted } from '@recourse/messages';
import { mutationIdOf } from '@recourse/mutation-ledger';

const ACTIONS_PER_RUN = 5;
const COMMITTED_AT = 1_760_000_000_000;
const RESULT = plainPayload({ status: 'sent' });

/** A contract as the contracts log holds it. */
export interface Registered {
  readonly name: string;
  readonly body: string;
  readonly digest: Buffer;
}

/** An action without contract and without refs: the least there is to record. */
export function execution(index: number): ToolExecuted {
  return {
    ...identityOf(index),
    event_id: `evt_${String(index).padStart(10, '0')}`,
    tenant: 'acme',
    agent_id: 'mailer',
    initiator: 'asha',
    objective: 'serve the customer',
    capability: 'mail.send_message',
    contract_digest: null,
    idempotency_key: `key-${String(index)}`,
    subject_ref: null,
    args: plainPayload({ to: `customer-${String(index % 1_000)}@example.test`, template: 'shipped' }),
    assumption_refs: [],
    outcome: 'succeeded',
    result: RESULT,
    prior_value: null,
    external_transaction_ref: `msg-${String(index)}`,
    error_kind: null,
    committed_at: COMMITTED_AT + index,
    derived_from: [],
    on_failure: 'keep',
    produced_by: null,
    release: null,
    handled_as: null,
  };
}

/** A contract of the examples whose window has this length, milliseconds. */
export function withWindow(example: string, windowMs: number): Registered {
  const shipped = JSON.parse(example) as { readonly name: string }; // every contract has a name
  const body = canonicalJson({ ...shipped, reversal_window_ms: windowMs });
  return { name: shipped.name, body, digest: contractDigest(body) };
}

/**
 * An action as a user sends it: under a contract, relying on one assumption and made from the action before it, with payload.
 *
 * Units:  `committedAt` epoch milliseconds.
 */
export function fullExecution(index: number, { name, digest }: Registered, committedAt: number): ToolExecuted {
  const order = String(4_000_000 + index);
  return {
    ...execution(index),
    ...identityOf(index, name),
    agent_id: 'refund-agent',
    objective: 'settle the complaint',
    capability: name,
    contract_digest: digest,
    args: plainPayload({ order_id: order, amount_minor: 100 + (index % 9_000), currency: 'INR', reason: 'damaged' }),
    assumption_refs: [`order/${order}#not_shipped`],
    derived_from: [parentOf(index, name)],
    result: plainPayload({ refund_id: `re_${order}`, status: 'settled' }),
    external_transaction_ref: `re_${order}`,
    committed_at: committedAt,
  };
}

type Identity = Pick<ToolExecuted, 'run_id' | 'step_id' | 'call_id' | 'effect_key'>;

function identityOf(index: number, capability = 'mail.send_message'): Identity {
  const runId = deriveId('run', Math.floor(index / ACTIONS_PER_RUN));
  const step = String(index % ACTIONS_PER_RUN);
  return {
    run_id: runId,
    step_id: `step-${step}`,
    call_id: `${runId}-${step}`,
    effect_key: `step-${step}/${capability}/${String(index)}`,
  };
}

/** The action before; the first of a run was made from the last of the run before, and the very first from the second. */
function parentOf(index: number, capability: string): CommitRef {
  const parent = identityOf(Math.abs(index - 1), capability);
  return { run_id: parent.run_id, commit_id: mutationIdOf({ tenant: 'acme', ...parent }) };
}
