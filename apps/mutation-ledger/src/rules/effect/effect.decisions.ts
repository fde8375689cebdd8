// A mutation as recovery tools know it: one status word and sixteen columns (C20, C21), derived and never stored as truth.
import type { ExecutionState, Payload, RecoverabilityState, RecoveryApprovalMode } from '@recourse/messages';
import type { Compensation } from '../compensation/compensation.messages.js';
import type { Mutation } from '../mutation/mutation.messages.js';

export const EFFECT_STATUSES = [
  'planned',
  'executing',
  'succeeded',
  'failed',
  'uncertain',
  'compensation_pending',
  'compensating',
  'compensated',
  'manual_review',
] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/** How an effect is compensated; a runbook is a person's either way. */
export type CompensationMode = 'automatic' | 'approval_required' | 'not_supported';

/** Where recovery has not begun, the word is that of the execution; later, that of the recovery. */
const RECOVERY_WORD = {
  compensating: 'compensating',
  compensated: 'compensated',
  compensation_failed: 'manual_review',
  manual_resolution_required: 'manual_review',
} as const;

/**
 * Status word of every pair of states.
 *
 * What was cancelled before it happened did not happen. An effect that happened in spite of a cancel is a person's; one
 * that may have is uncertain.
 */
export const EFFECT_STATUS_OF = {
  planned: { ...outset('planned'), ...RECOVERY_WORD, cancelled: 'failed' },
  executing: { ...outset('executing'), ...RECOVERY_WORD, cancelled: 'uncertain' },
  succeeded: { ...outset('succeeded'), ...RECOVERY_WORD, cancelled: 'manual_review' },
  failed: { ...outset('failed'), ...RECOVERY_WORD, cancelled: 'failed' },
  uncertain: { ...outset('uncertain'), ...RECOVERY_WORD, cancelled: 'uncertain' },
} as const satisfies Record<ExecutionState, Record<RecoverabilityState, EffectStatus>>;

/** Columns of the view, in its order. */
export type AgentEffect = {
  readonly id: string;
  readonly run_id: string;
  readonly step_id: string | null;
  readonly tool_name: string;
  readonly effect_key: string;
  readonly idempotency_key: string;
  readonly arguments: Payload;
  readonly result: Payload | null;
  readonly external_ref: string | null;
  readonly status: EffectStatus;
  /** Null without a contract. */
  readonly compensation_mode: CompensationMode | null;
  readonly compensation_args: Payload | null;
  readonly compensation_attempts: number;
  readonly last_error: string | null;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** Epoch milliseconds. */
  readonly updated_at: number;
};

/** Status word of two states; what stands and was rolled back waits for its compensation. */
export function statusOf(
  execution: ExecutionState,
  recoverability: RecoverabilityState,
  isRolledBack: boolean,
): EffectStatus {
  const word = EFFECT_STATUS_OF[execution][recoverability];
  return isRolledBack && word === 'succeeded' ? 'compensation_pending' : word;
}

/** Status word of a mutation. */
export function effectStatusOf({
  execution_state,
  recoverability,
  rollback_id,
}: Pick<Mutation, 'execution_state' | 'recoverability' | 'rollback_id'>): EffectStatus {
  return statusOf(execution_state, recoverability, rollback_id !== null);
}

/** The sixteen columns of what was executed, an effect or what undid one. */
export function agentEffectOf(executed: Mutation | Compensation): AgentEffect {
  return 'compensation_id' in executed ? ofCompensation(executed) : ofMutation(executed);
}

/** Nothing undoes a compensation: what it took back is made again by an action of its own. */
function ofCompensation(compensation: Compensation): AgentEffect {
  const { execution_state, reason, contract_digest, ...told } = compensation;
  return {
    id: told.compensation_id,
    run_id: told.run_id,
    step_id: told.step_id,
    tool_name: told.capability,
    effect_key: told.effect_key,
    idempotency_key: told.idempotency_key,
    arguments: told.args,
    result: told.result,
    external_ref: null,
    status: execution_state,
    compensation_mode: contract_digest === null ? null : 'not_supported',
    compensation_args: null,
    compensation_attempts: 0,
    last_error: execution_state === 'succeeded' ? null : reason,
    created_at: told.created_at,
    updated_at: told.updated_at,
  };
}

/** The sixteen columns of a mutation; payloads stay as they are stored. */
function ofMutation(mutation: Mutation): AgentEffect {
  const {
    mutation_id,
    run_id,
    effect_key,
    capability,
    execution,
    terms,
    ref,
    compensation_attempts,
    last_error,
    created_at,
    updated_at,
  } = mutation;
  return {
    id: mutation_id,
    run_id,
    step_id: execution.step_id,
    tool_name: capability,
    effect_key,
    idempotency_key: execution.idempotency_key,
    arguments: execution.args,
    result: execution.result,
    external_ref: execution.external_transaction_ref,
    status: effectStatusOf(mutation),
    compensation_mode:
      terms === null ? null : compensationModeOf(terms.reversal_capability, terms.recovery_approval_mode),
    compensation_args: ref?.reversal_args ?? null,
    compensation_attempts,
    last_error,
    created_at,
    updated_at,
  };
}

function compensationModeOf(reversal: string | null, approval: RecoveryApprovalMode): CompensationMode {
  if (reversal === null) return 'not_supported';
  return approval === 'auto' ? 'automatic' : 'approval_required';
}

function outset<Word extends EffectStatus>(
  word: Word,
): Readonly<Record<'planned' | 'pending_commit' | 'committed' | 'reversal_available' | 'reversal_expired', Word>> {
  return { planned: word, pending_commit: word, committed: word, reversal_available: word, reversal_expired: word };
}
