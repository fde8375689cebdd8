// Executions as an agent platform publishes them: five actions a run, no contract named, no refs.
import { deriveId } from '@recourse/kernel';
import { plainPayload } from '@recourse/contract';
import type { ToolExecuted } from '@recourse/messages';

const ACTIONS_PER_RUN = 5;
const COMMITTED_AT = 1_760_000_000_000;
const RESULT = plainPayload({ status: 'sent' });

export function execution(index: number): ToolExecuted {
  const run = Math.floor(index / ACTIONS_PER_RUN);
  const step = index % ACTIONS_PER_RUN;
  const runId = deriveId('run', run);
  return {
    event_id: `evt_${String(index).padStart(10, '0')}`, tenant: 'acme', run_id: runId, agent_id: 'mailer', initiator: 'asha', objective: null,
    step_id: `step-${String(step)}`, call_id: `${runId}-${String(step)}`, capability: 'mail.send_message', contract_digest: null,
    effect_key: `step-${String(step)}/mail.send_message/${String(index)}`, idempotency_key: `key-${String(index)}`, subject_ref: null,
    args: plainPayload({ to: `customer-${String(index % 1_000)}@example.test`, template: 'shipped' }), assumption_refs: [],
    outcome: 'succeeded', result: RESULT, prior_value: null, external_transaction_ref: `msg-${String(index)}`, error_kind: null, committed_at: COMMITTED_AT + index,
  };
}
