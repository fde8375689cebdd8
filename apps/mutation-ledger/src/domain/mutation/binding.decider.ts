// Acceptance of an execution: the ledger, not the producer, binds the reversal, from the contract's map and the execution's own facts (A32).
import type { Json } from '@recourse/kernel';
import { bindReversal, plainPayload, readPayload, subjectOf, termsOf, valueOf } from '@recourse/contract';
import type { Binding as Bound, Contract } from '@recourse/contract';
import type { ContractTerms, Execution, ExecutionState, MutationRef, RecoverabilityState, ToolExecuted, ToolPlanned } from '@recourse/messages';
import { RECOVERABILITY_AFTER } from './mutation.transitions.js';
import type { RecoverabilityMove } from './mutation.transitions.js';
import type { ReasonCode } from './mutation.messages.js';

/** The contract an execution names. */
export interface NamedContract { readonly contract: Contract; readonly digest: Buffer }

/** What acceptance makes of an execution. */
export interface Acceptance {
  readonly execution: Execution;
  readonly terms: ContractTerms | null;
  readonly ref: MutationRef;
  readonly recoverability: RecoverabilityState;
  readonly reason: ReasonCode | null;
}

interface Facts { readonly args: Json; readonly result: Json | null; readonly priorValue: Json | null; readonly externalRef: string | null }

/**
 * Binds an execution under its contract (null: it names none).
 *
 * Shape:  `before` is where its recoverability stood; `planned` for a new one.
 * Units:  the window starts at min(committed_at, now), so a producer's clock can only shorten it.
 * Errors: PayloadUnreadable when arguments, result or prior value cannot be read.
 */
export function acceptExecution(id: string, event: ToolExecuted, named: NamedContract | null, before: RecoverabilityState, now: number): Acceptance {
  const facts = factsOf(event);
  const terms = named === null ? null : termsOf(named.contract, named.digest);
  const bound: Bound = named === null ? { kind: 'none' } : bindReversal(named.contract, facts);
  const ref = refOf(id, event, named?.contract ?? null, terms, bound, now);
  const subject_ref = subjectRefOf(event, named?.contract ?? null, facts.args);
  const { moves, reason } = movesOf(event.outcome, ref, terms, bound, now);
  const recoverability = moves.reduce<RecoverabilityState>((state, move) => RECOVERABILITY_AFTER[state][move] ?? state, before);
  return { execution: executionOf(event, named?.contract ?? null, facts.args, event), terms, ref: { ...ref, subject_ref }, recoverability, reason };
}

/** The facts of an intent; result and handle are not known yet. Errors: PayloadUnreadable. */
export function acceptIntent(event: ToolPlanned, named: NamedContract | null): { readonly execution: Execution; readonly terms: ContractTerms | null } {
  const args = readPayload(event.args);
  const execution = executionOf(event, named?.contract ?? null, args, { result: null, external_transaction_ref: null });
  return { execution, terms: named === null ? null : termsOf(named.contract, named.digest) };
}

function factsOf(event: ToolExecuted): Facts {
  return {
    args: readPayload(event.args),
    result: event.result === null ? null : readPayload(event.result),
    priorValue: event.prior_value === null ? null : readPayload(event.prior_value),
    externalRef: event.external_transaction_ref,
  };
}

function executionOf(event: ToolPlanned | ToolExecuted, contract: Contract | null, args: Json, outcome: Pick<ToolExecuted, 'result' | 'external_transaction_ref'>): Execution {
  const { tenant, run_id, agent_id, initiator, objective, step_id, call_id, capability, effect_key, idempotency_key } = event;
  return {
    tenant, run_id, agent_id, initiator, objective, step_id, call_id, capability, effect_key, idempotency_key,
    subject_ref: subjectRefOf(event, contract, args),
    args: event.args,
    result: outcome.result,
    external_transaction_ref: outcome.external_transaction_ref,
    value: contract === null ? null : valueOf(contract, args),
  };
}

function subjectRefOf(event: ToolPlanned | ToolExecuted, contract: Contract | null, args: Json): string | null {
  return event.subject_ref ?? (contract === null ? null : subjectOf(contract, args));
}

function refOf(id: string, event: ToolExecuted, contract: Contract | null, terms: ContractTerms | null, bound: Bound, now: number): MutationRef {
  const committedAt = Math.min(event.committed_at, now);
  const windowMs = bound.kind === 'bound' ? terms?.reversal_window_ms ?? null : null;
  return {
    mutation_id: id,
    original_call_id: event.call_id,
    capability: event.capability,
    subject_ref: event.subject_ref,
    reversal_class: contract?.reversal_class ?? 'irreversible',
    reversal_capability: terms?.reversal_capability ?? null,
    reversal_args: bound.kind === 'bound' ? plainPayload(bound.args) : null,
    assumption_refs: event.assumption_refs,
    idempotency_key: event.idempotency_key,
    committed_at: committedAt,
    reversal_expires_at: windowMs === null ? null : committedAt + windowMs,
    prior_value_hash: event.prior_value?.sha256 ?? null,
    external_transaction_ref: event.external_transaction_ref,
    verification_ref: terms?.verify_capability ?? null,
  };
}

interface Moves { readonly moves: readonly RecoverabilityMove[]; readonly reason: ReasonCode | null }

function movesOf(outcome: ExecutionState, ref: MutationRef, terms: ContractTerms | null, bound: Bound, now: number): Moves {
  if (outcome === 'failed') return { moves: ['not_committed'], reason: 'EXECUTION_FAILED' };
  if (outcome === 'uncertain') return { moves: ['outcome_pending'], reason: 'EXECUTION_UNCERTAIN' };
  if (terms === null) return { moves: ['committed', 'manual_required'], reason: 'UNCONTRACTED' };
  if (bound.kind === 'none') return { moves: ['committed'], reason: 'NO_REVERSAL' };
  if (bound.kind === 'incomplete') return { moves: ['committed', 'manual_required'], reason: reasonOfMissing(bound.missing) };
  if (ref.reversal_expires_at === null) return { moves: ['committed', 'manual_required'], reason: 'WINDOW_MISSING' };
  return ref.reversal_expires_at <= now ? { moves: ['committed', 'window_closed'], reason: 'WINDOW_CLOSED' } : { moves: ['committed', 'handle_bound'], reason: null };
}

function reasonOfMissing(missing: readonly string[]): ReasonCode {
  if (missing.includes('external_transaction_ref')) return 'HANDLE_MISSING';
  if (missing.includes('prior_value')) return 'PRIOR_VALUE_MISSING';
  return `REVERSAL_ARGS_INCOMPLETE:${missing.join(',')}`;
}
