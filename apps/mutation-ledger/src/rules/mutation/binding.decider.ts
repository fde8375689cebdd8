// Acceptance of an execution: the ledger, not the producer, binds the reversal, from the contract's map and the execution's own facts (A32).
import type { Json } from '@recourse/kernel';
import {
  atLeast,
  classUnder,
  consequenceOf,
  ERROR_KINDS,
  forwardDigest,
  isErased,
  isRead,
  knownOfErased,
  plainPayload,
  readPayload,
  subjectOf,
  termsOf,
  valueOf,
} from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type {
  ContractTerms,
  Execution,
  ExecutionState,
  FoundOut,
  Money,
  MutationRef,
  Payload,
  RecoverabilityState,
  ToolExecuted,
  ToolPlanned,
} from '@recourse/messages';
import { bind, bindErased, isBindable, reasonOfMissing } from './bound.decisions.js';
import type { Bound, Facts, NamedContract } from './bound.decisions.js';
import { RECOVERABILITY_AFTER } from './mutation.transitions.js';
import type { RecoverabilityMove } from './mutation.transitions.js';
import type { ReasonCode } from './mutation.messages.js';

/** What acceptance makes of an execution. */
export interface Acceptance {
  readonly execution: Execution;
  readonly terms: ContractTerms | null;
  readonly ref: MutationRef;
  /** What it moves, by unit. */
  readonly consequence: readonly Money[];
  readonly recoverability: RecoverabilityState;
  readonly reason: ReasonCode | null;
  /** What was done, as an approval before it covers it (P4); null where it failed. */
  readonly action_digest: Buffer | null;
}

/** An execution as it is told: by its producer, or where that did not tell its end, from the row and by who found it out. */
export interface Telling {
  readonly event: ToolExecuted;
  /** Null: its producer told. */
  readonly found_out: FoundOut | null;
}

/** When an execution is recorded, and what the true time is then at the least. */
interface Now {
  readonly now: number;
  readonly trueNow: number;
}

/**
 * Binds an execution under its contract (null: it names none).
 *
 * Shape:  `before` is where it stood; a prior value that only its intent told counts too (C26). Told from the row after an erasure, it
 *         keeps whose and how much it was, and binds nothing.
 * Units:  the window starts at min(committed_at, trueNow), so neither a producer's clock nor a log whose time stands lengthens it.
 * Errors: PayloadUnreadable when what its producer told as arguments, result or prior value cannot be read.
 */
export function acceptExecution(
  id: string,
  { event, found_out }: Telling,
  named: NamedContract | null,
  known: Before,
  { now, trueNow }: Now,
): Acceptance {
  const { recoverability: before, execution: planned, terms: plannedTerms } = known;
  const prior = event.prior_value ?? planned?.prior_value ?? null;
  const facts = found_out !== null && isLost(event) ? null : factsOf(event, prior);
  const terms = termsUnder(named, plannedTerms);
  const bound = boundUnder(named, facts);
  const ref = refOf(id, event, named?.contract ?? null, terms, bound, trueNow);
  const told = {
    ...event,
    prior_value: prior,
    rehearsal: planned?.rehearsal ?? null,
    staged_ref: planned?.staged_ref ?? null,
  };
  const read = facts === null ? keptOf(planned) : readUnder(event, named?.contract ?? null, facts.args);
  const { moves, reason: found } = movesOf(event.outcome, ref, terms, bound, now);
  const recoverability = moves.reduce<RecoverabilityState>(
    (state, move) => RECOVERABILITY_AFTER[state][move] ?? state,
    before,
  );
  const isAfterCancel = before === 'cancelled' && recoverability !== before;
  return {
    execution: executionOf(event, read, told),
    terms,
    ref: { ...ref, subject_ref: read.subject_ref, prior_value_hash: prior?.sha256 ?? null },
    consequence: moved(event, named, facts, read.value),
    recoverability,
    reason: escalation(event) ?? (isAfterCancel ? 'EXECUTED_AFTER_CANCEL' : found),
    action_digest: event.outcome === 'failed' ? null : digestOf({ event, found_out }, facts, known),
  };
}

/** The digest of what was done: told from the row, it is what its producer told of it, as it was before an erasure. */
function digestOf({ event, found_out }: Telling, facts: Facts | null, { action_digest: told }: Before): Buffer | null {
  if (found_out !== null && told !== undefined) return told;
  return facts === null ? null : actionDigestOf(event, facts.args);
}

/** What the row held of it was erased since. */
function isLost({ args, result }: ToolExecuted): boolean {
  return isErased(args) || (result !== null && isErased(result));
}

function boundUnder(named: NamedContract | null, facts: Facts | null): Bound {
  if (named === null) return { kind: 'none' };
  return facts === null ? bindErased(named) : bind(named, facts);
}

function actionDigestOf(event: ToolPlanned | ToolExecuted, args: Json): Buffer {
  const { tenant, run_id: runId, effect_key: effectKey, capability, contract_digest, subject_ref: subjectRef } = event;
  const contractDigest = contract_digest?.toString('hex') ?? null;
  return Buffer.from(forwardDigest({ tenant, runId, effectKey, capability, contractDigest, subjectRef, args }), 'hex');
}

/** What the call moved, by unit: read here, since arguments are sealed later. `value`: what is read of it, or was before it was erased. */
function moved(
  event: ToolExecuted,
  named: NamedContract | null,
  facts: Facts | null,
  value: Money | null,
): readonly Money[] {
  const contract = named?.contract ?? null;
  const marks = { argsPayload: event.args, resultPayload: event.result };
  if (facts === null) return knownOfErased(contract, value, marks);
  return atLeast(consequenceOf(contract, { args: facts.args, result: facts.result, ...marks }));
}

/** What acceptance makes of an intent. */
type Intended = Pick<Acceptance, 'execution' | 'terms'> & { readonly action_digest: Buffer };

/** The facts of an intent; result and handle are not known yet. Errors: PayloadUnreadable. */
export function acceptIntent(event: ToolPlanned, named: NamedContract | null): Intended {
  const args = readPayload(event.args);
  // What cannot be read now could not be restored later.
  if (event.prior_value !== null) readPayload(event.prior_value);
  const execution = executionOf(event, readUnder(event, named?.contract ?? null, args), {
    ...event,
    result: null,
    external_transaction_ref: null,
  });
  return { execution, terms: termsUnder(named, null), action_digest: actionDigestOf(event, args) };
}

/** The terms of what an action names; whether it bound was judged when it was first named, however late its outcome is told. */
function termsUnder(named: NamedContract | null, before: ContractTerms | null): ContractTerms | null {
  if (named === null) return null;
  const isKnown = before?.contract_digest.equals(named.digest) === true;
  return termsOf(named.contract, named.digest, isKnown ? before.superseded : named.isSuperseded);
}

/** Where a mutation stood before: an intent may have told what its execution does not. */
export interface Before {
  readonly recoverability: RecoverabilityState;
  readonly execution: Execution | null;
  readonly terms: ContractTerms | null;
  readonly action_digest?: Buffer;
}

/** A mutation nobody knew of. */
export const UNKNOWN_BEFORE: Before = { recoverability: 'planned', execution: null, terms: null };

function factsOf(event: ToolExecuted, prior: Payload | null): Facts {
  return {
    args: readPayload(event.args),
    result: event.result === null ? null : readPayload(event.result),
    priorValue: prior === null || isPriorErased(prior, event) ? null : readPayload(prior),
    externalRef: event.external_transaction_ref,
  };
}

/** What only the intent told was sealed since; it stays so when it was erased, and the reversal then lacks it. */
function isPriorErased(prior: Payload, { prior_value: told }: ToolExecuted): boolean {
  return prior !== told && prior.encoding === 'sealed';
}

type Told = Pick<Execution, 'result' | 'external_transaction_ref' | 'prior_value' | 'rehearsal' | 'staged_ref'>;

/** What is read from arguments, and stays when they are erased. */
type Read = Pick<Execution, 'subject_ref' | 'value'>;

function readUnder(event: ToolPlanned | ToolExecuted, contract: Contract | null, args: Json): Read {
  if (contract === null) return { subject_ref: event.subject_ref, value: null };
  return { subject_ref: event.subject_ref ?? subjectOf(contract, args), value: valueOf(contract, args) };
}

function keptOf(planned: Execution | null): Read {
  return { subject_ref: planned?.subject_ref ?? null, value: planned?.value ?? null };
}

function executionOf(event: ToolPlanned | ToolExecuted, { subject_ref, value }: Read, outcome: Told): Execution {
  const { tenant, run_id, agent_id, initiator, objective, step_id, call_id, capability, effect_key, idempotency_key } =
    event;
  return {
    tenant,
    run_id,
    agent_id,
    initiator,
    objective,
    step_id,
    call_id,
    capability,
    effect_key,
    idempotency_key,
    subject_ref,
    args: event.args,
    result: outcome.result,
    external_transaction_ref: outcome.external_transaction_ref,
    value,
    prior_value: outcome.prior_value,
    rehearsal: outcome.rehearsal,
    staged_ref: outcome.staged_ref,
    derived_from: event.derived_from,
    on_failure: event.on_failure,
    produced_by: event.produced_by,
    release: event.release,
  };
}

function refOf(
  id: string,
  event: ToolExecuted,
  contract: Contract | null,
  terms: ContractTerms | null,
  bound: Bound,
  trueNow: number,
): MutationRef {
  const committedAt = Math.min(event.committed_at, trueNow);
  const windowMs = isBindable(bound) ? (terms?.reversal_window_ms ?? null) : null;
  return {
    mutation_id: id,
    original_call_id: event.call_id,
    capability: event.capability,
    subject_ref: event.subject_ref,
    reversal_class: classUnder(contract),
    reversal_capability: terms?.reversal_capability ?? null,
    reversal_args: bound.kind === 'bound' ? plainPayload(bound.args) : null,
    assumption_refs: event.assumption_refs,
    idempotency_key: event.idempotency_key,
    committed_at: committedAt,
    reversal_expires_at: windowMs === null ? null : committedAt + windowMs,
    prior_value_hash: event.prior_value?.sha256 ?? null,
    external_transaction_ref: event.external_transaction_ref,
    verification_ref: terms?.verify_capability ?? null,
    reversal_then: bound.kind === 'bound' ? bound.then : [],
  };
}

interface Moves {
  readonly moves: readonly RecoverabilityMove[];
  readonly reason: ReasonCode | null;
}

function movesOf(
  outcome: ExecutionState,
  ref: MutationRef,
  terms: ContractTerms | null,
  bound: Bound,
  now: number,
): Moves {
  if (outcome === 'failed') return { moves: ['not_committed'], reason: 'EXECUTION_FAILED' };
  if (isRead(terms, ref)) return { moves: ['committed'], reason: 'READ_ONLY' };
  if (outcome === 'uncertain') return { moves: ['outcome_pending'], reason: 'EXECUTION_UNCERTAIN' };
  if (terms === null) return { moves: ['committed', 'manual_required'], reason: 'UNCONTRACTED' };
  if (bound.kind === 'none') return { moves: ['committed'], reason: 'NO_REVERSAL' };
  if (bound.kind === 'erased') return { moves: ['committed', 'manual_required'], reason: 'PAYLOADS_ERASED' };
  if (terms.superseded) return { moves: ['committed', 'manual_required'], reason: 'CONTRACT_SUPERSEDED' };
  if (bound.kind === 'unfit')
    return { moves: ['committed', 'manual_required'], reason: `REVERSAL_ARGS_UNFIT:${bound.args.join(',')}` };
  if (bound.kind === 'incomplete' && !isBindable(bound))
    return { moves: ['committed', 'manual_required'], reason: reasonOfMissing(bound.missing) };
  if (ref.reversal_expires_at === null) return { moves: ['committed', 'manual_required'], reason: 'WINDOW_MISSING' };
  return ref.reversal_expires_at <= now
    ? { moves: ['committed', 'window_closed'], reason: 'WINDOW_CLOSED' }
    : { moves: ['committed', 'handle_bound'], reason: null };
}

/** Why the agent gives its call to a person; null where it does not, or where the effect took hold all the same. */
function escalation({ outcome, handled_as, error_kind }: ToolExecuted): ReasonCode | null {
  if (outcome === 'succeeded' || handled_as !== 'escalated') return null;
  return `ESCALATED:${ERROR_KINDS.find((kind) => kind === error_kind) ?? 'UNKNOWN'}`;
}
