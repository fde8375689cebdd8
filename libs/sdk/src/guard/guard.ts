// Guard: puts a tool under its reversal contract.
//
// Boundary: calls the tool once, tells the ledger before and after, and gives its caller mutation ids only: reversal
// arguments and provider handles stay out of what an agent reads (A36, A37).
//
// Invariants
//   G1. In `enforce` nothing is called before its intent is published and its budget reserved.
//   G2. An error after the request may have left is `uncertain`, never `failed`.
//   G3. A retry or replan of the same step with the same arguments has the same effect key and idempotency key.
import { subjectOf, valueOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { ToolOutcome } from '@recourse/messages';
import type { Clock } from '../clock.port.js';
import { effectKey, mutationId } from '../effect-key.js';
import type { Action, ActionOutcome, Producer } from '../producer/producer.js';
import { ToolRejected } from '../worker/tool.js';
import { checkArgs } from './args.decisions.js';
import type { ArgsProblem } from './args.decisions.js';
import type { Budget, ReservationRequest } from './budget.port.js';

export type GuardMode = 'off' | 'observe' | 'enforce';

/** The run a call belongs to. */
export interface RunContext {
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  /** Person on whose behalf the agent acts; null when unknown. */
  readonly initiator: string | null;
  readonly objective: string | null;
}

export interface GuardedCall {
  readonly run: RunContext;
  readonly stepId: string;
  readonly args: Json;
  /** Resource the effect is about, part of the effect key; null when the arguments alone say it. */
  readonly target: string | null;
  /** What the decision to act relies on. */
  readonly assumptionRefs: readonly string[];
}

/** A forward tool. `execute` throws ToolRejected when it knows there was no effect. */
export interface ForwardTool {
  execute(args: Json, context: { readonly idempotencyKey: string; readonly callId: string; readonly runId: string }): Promise<Json>;
  /** Reads the value that is about to be overwritten. Needed where the contract requires its capture. */
  capturePriorValue?(args: Json): Promise<Json>;
  /** The provider's handle in a result. Needed where the contract requires one. */
  externalTransactionRef?(result: Json): string | null;
  /** Checks arguments beyond the contract's schema (zod and its kin). */
  readonly schema?: StandardSchema;
}

/** The part of Standard Schema v1 that validation needs. */
export interface StandardSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}
type StandardResult = { readonly issues?: readonly { readonly message: string }[] | undefined };

export interface GuardOptions {
  readonly contract: Contract;
  /** SHA-256 of the contract's canonical JSON, as the registry gave it. */
  readonly contractDigest: Buffer;
  readonly mode: GuardMode;
  readonly producer: Producer;
  readonly clock: Clock;
  readonly budget?: Budget;
  /** Hears what `observe` lets pass, and what could not be published. */
  readonly onTrouble?: (trouble: GuardTrouble) => void;
}

export type GuardTroubleCode = 'ARGS_INVALID' | 'PRIOR_VALUE_MISSING' | 'BUDGET_ESCALATED' | 'BUDGET_REFUSED' | 'BUDGET_UNAVAILABLE' | 'INTENT_NOT_PUBLISHED' | 'OUTCOME_NOT_PUBLISHED';
export interface GuardTrouble {
  readonly code: GuardTroubleCode;
  readonly problems: readonly { readonly code: string; readonly message: string; readonly path?: string }[];
}

/** What an agent gets: ids, never handles or reversal arguments. */
export type GuardedResult =
  | { readonly kind: ToolOutcome; readonly mutation_refs: readonly string[]; readonly error_kind: string | null }
  /** Nothing was called. */
  | ({ readonly kind: 'refused'; readonly mutation_refs: readonly [] } & GuardTrouble);

export type GuardedTool = (call: GuardedCall) => Promise<GuardedResult>;

/**
 * Wraps a tool.
 *
 * Shape:  `off` calls the tool and tells nobody; `observe` tells and never refuses; `enforce` refuses what the contract,
 *         the budget or an unreachable broker forbids.
 * Errors: Failure(BROKER_UNAVAILABLE) when the outcome of a call that was made could not be published, in `enforce`;
 *         the same call may be repeated: it has the same keys.
 */
export function guard(tool: ForwardTool, options: GuardOptions): GuardedTool {
  return async (call) => {
    if (options.mode === 'off') return untold(await perform(tool, call, actionOf(call, options), options, null));
    const action = actionOf(call, options);
    const ready = await prepare(tool, call, action, options);
    if (ready.kind === 'refused') return ready.refusal;
    const outcome = await perform(tool, call, action, options, ready.priorValue);
    await tell(action, outcome, options);
    if (outcome.outcome === 'failed') await giveBack(action, options);
    return { kind: outcome.outcome, mutation_refs: [mutationId(action.tenant, action.runId, action.effectKey)], error_kind: outcome.errorKind };
  };
}

type Ready = { readonly kind: 'ready'; readonly priorValue: Json | null } | { readonly kind: 'refused'; readonly refusal: GuardedResult };

/** Everything that comes before the call: arguments, prior value, budget, intent; in this order. */
async function prepare(tool: ForwardTool, call: GuardedCall, action: Action, options: GuardOptions): Promise<Ready> {
  const problems = await argsProblems(tool, call, options);
  const invalid = problems.length > 0 ? objection(options, { code: 'ARGS_INVALID', problems }) : null;
  if (invalid !== null) return invalid;
  const priorValue = await capture(tool, call.args);
  const uncaptured = options.contract.requires_prior_value_capture === true && priorValue === null ? objection(options, trouble('PRIOR_VALUE_MISSING', 'the value to be overwritten could not be read')) : null;
  if (uncaptured !== null) return uncaptured;
  const short = await reserve(action, options);
  if (short !== null) return short;
  const unpublished = await announce(action, options);
  if (unpublished !== null) { await giveBack(action, options); return unpublished; }
  return { kind: 'ready', priorValue };
}

/** In `enforce` a trouble refuses the call; in `observe` it is only heard. */
function objection(options: GuardOptions, trouble: GuardTrouble): Extract<Ready, { kind: 'refused' }> | null {
  options.onTrouble?.(trouble);
  return options.mode === 'enforce' ? { kind: 'refused', refusal: { kind: 'refused', mutation_refs: [], ...trouble } } : null;
}

async function argsProblems({ schema }: ForwardTool, { args }: GuardedCall, { contract }: GuardOptions): Promise<GuardTrouble['problems']> {
  // zod let only JSON in.
  const found: readonly ArgsProblem[] = checkArgs(args, contract.args_schema as Json);
  const result = await schema?.['~standard'].validate(args);
  return [...found, ...(result?.issues ?? []).map(({ message }) => ({ code: 'ARGS_VALUE', message }))];
}

async function capture(tool: ForwardTool, args: Json): Promise<Json | null> {
  try { return (await tool.capturePriorValue?.(args)) ?? null; } catch { return null; }
}

async function reserve(action: Action, options: GuardOptions): Promise<Extract<Ready, { kind: 'refused' }> | null> {
  const request = reservationOf(action, options.contract);
  if (options.budget === undefined || request === null) return null;
  const answer = await options.budget.reserve(request);
  switch (answer.kind) {
    case 'reserved': return null;
    case 'escalated': return objection(options, trouble('BUDGET_ESCALATED', answer.code));
    case 'refused': return objection(options, trouble('BUDGET_REFUSED', answer.code));
    case 'unavailable': return objection(options, trouble('BUDGET_UNAVAILABLE', textOf(answer.cause)));
  }
}

async function announce(action: Action, options: GuardOptions): Promise<Extract<Ready, { kind: 'refused' }> | null> {
  try {
    await options.producer.toolPlanned(action, options.clock.now());
    return null;
  } catch (cause) {
    return objection(options, trouble('INTENT_NOT_PUBLISHED', textOf(cause)));
  }
}

async function perform(tool: ForwardTool, { args }: GuardedCall, action: Action, { clock }: GuardOptions, priorValue: Json | null): Promise<ActionOutcome> {
  // The window may only be shortened by us: it counts from before the call.
  const committedAt = clock.now();
  const unfinished = { result: null, priorValue, externalTransactionRef: null, committedAt };
  try {
    const result = await tool.execute(args, { idempotencyKey: action.idempotencyKey, callId: action.callId, runId: action.runId });
    return { outcome: 'succeeded', result, priorValue, externalTransactionRef: tool.externalTransactionRef?.(result) ?? null, errorKind: null, committedAt };
  } catch (error) {
    if (error instanceof ToolRejected) return { ...unfinished, outcome: 'failed', errorKind: error.kind };
    return { ...unfinished, outcome: 'uncertain', errorKind: 'TOOL_ERROR' };
  }
}

async function tell(action: Action, outcome: ActionOutcome, options: GuardOptions): Promise<void> {
  try {
    await options.producer.toolExecuted(action, outcome);
  } catch (cause) {
    options.onTrouble?.(trouble('OUTCOME_NOT_PUBLISHED', textOf(cause)));
    if (options.mode === 'enforce') throw cause;
  }
}

async function giveBack(action: Action, { budget, contract }: GuardOptions): Promise<void> {
  const request = reservationOf(action, contract);
  // A reservation that stays is cautious, and visible; the caller's answer does not wait on it.
  if (budget !== undefined && request !== null) await budget.release(request);
}

/** The action a call makes; the same for every retry. */
export function actionOf({ run, stepId, args, target, assumptionRefs }: GuardedCall, { contract, contractDigest }: Pick<GuardOptions, 'contract' | 'contractDigest'>): Action {
  const key = effectKey({ step: stepId, capability: contract.name, target, args });
  return {
    ...run,
    stepId,
    callId: deriveId('call', run.tenant, run.runId, key),
    capability: contract.name,
    contractDigest,
    effectKey: key,
    idempotencyKey: deriveId('fwd', run.tenant, run.runId, key),
    subjectRef: subjectOf(contract, args) ?? target,
    args,
    assumptionRefs,
  };
}

function reservationOf({ tenant, runId, effectKey: key, capability, args }: Action, contract: Contract): ReservationRequest | null {
  const value = valueOf(contract, args);
  return value === null ? null : { tenant, runId, effectKey: key, capability, value };
}

const untold = ({ outcome, errorKind }: ActionOutcome): GuardedResult => ({ kind: outcome, mutation_refs: [], error_kind: errorKind });
const trouble = (code: GuardTroubleCode, message: string): GuardTrouble => ({ code, problems: [{ code, message }] });
const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
