// What the verdicts on a leg mean for the compensations it called: each is an execution of its own. Pure.
//
// Invariants
//   K1. A mutation has one compensation for each call that undoes it, whatever the number of attempts: they carry one key, so
//       they make one effect.
//   K2. Its execution moves as every execution does (EXECUTION_AFTER): once it succeeded nothing moves it.
//   K3. It is told by the orchestrator's verdict alone; nobody reports it, and nothing undoes it.
import {
  argsAt,
  atLeast,
  callAt,
  callCountOf,
  classUnder,
  consequenceOf,
  contractByName,
  jsonOfPayload,
  keyAt,
  plainPayload,
  valueOf,
} from '@recourse/contract';
import type { Contract, KnownContract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type {
  ExecutedCompensation,
  ExecutionState,
  LegSettled,
  LegVerdict,
  Money,
  Payload,
  RecoveryCall,
  StepVerdict,
} from '@recourse/messages';
import { EXECUTION_AFTER } from '../mutation/mutation.transitions.js';
import type { RecordedMutation } from '../mutation/mutation.messages.js';
import { record } from '../record.messages.js';
import type { Body, MutationRecord } from '../record.messages.js';
import type { Compensation } from './compensation.messages.js';

/** A call that a verdict tells of, the mutation it undoes, and what is known of its compensation. */
export interface Judged {
  readonly verdict: LegVerdict;
  readonly called: Called;
  readonly mutation: RecordedMutation;
  readonly standing: Compensation | undefined;
  /** The contract of the compensation itself; null where none is registered. */
  readonly contract: KnownContract | null;
}

/** One call of a reversal, as it was made, and how it ended. */
export interface Called {
  /** From 1. */
  readonly position: number;
  readonly call: RecoveryCall;
  readonly state: Executed;
}

type Executed = Extract<ExecutionState, 'succeeded' | 'uncertain' | 'failed'>;

/** Key of the effect of one call that undoes a mutation, within its run. */
export function compensationKey(mutationId: string, position = 1): string {
  return keyAt(`rev_${mutationId}`, position);
}

/** Id of the compensation of a mutation by one of its calls: derived as that of any effect. */
export function compensationIdOf(tenant: string, runId: string, mutationId: string, position = 1): string {
  return deriveId('mut', tenant, runId, compensationKey(mutationId, position));
}

/** The calls that a verdict says were made: those seen to be, and the one it is about. */
export function calledIn(verdict: LegVerdict): readonly Called[] {
  const { call, outcome, calls_done, observations } = verdict;
  if (call === null) return [];
  const count = callCountOf(call);
  const done = outcome === 'compensated' ? count : calls_done;
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((position): readonly Called[] => {
    const one = callAt(call, position);
    const state = position <= done ? 'succeeded' : position === done + 1 ? executionOf(verdict, position) : null;
    if (one === null || state === null) return [];
    const args = position === 1 ? undefined : argsAt(call, position, observations);
    return [{ position, call: args === undefined ? one : { ...one, args: plainPayload(args) }, state }];
  });
}

/** How a verdict says that the call ended; null where nothing was called. */
const EXECUTED_AS = {
  compensated: 'succeeded',
  // The tool answered, or nobody heard it: which of the two is in the observations.
  unverified: 'uncertain',
  uncertain: 'uncertain',
  failed: 'failed',
  stale: null,
  not_begun: null,
} as const satisfies Record<StepVerdict, Executed | null>;

/** Most compensations of one record: the accountant decides about all of them at once (L4). A leg of one call a step is told in one. */
const COMPENSATIONS_MAX = 64;

/** The records of what a leg executed; none where it tells nothing new. */
export function executedBy(
  { tenant, run_id, recovery_id, attempt }: Pick<Body<LegSettled>, 'tenant' | 'run_id' | 'recovery_id' | 'attempt'>,
  judged: readonly Judged[],
): readonly MutationRecord<'CompensationsExecuted'>[] {
  const members = judged.flatMap((one) => executed(one, tenant, run_id, attempt) ?? []);
  return Array.from({ length: Math.ceil(members.length / COMPENSATIONS_MAX) }, (_, at) =>
    record('CompensationsExecuted', {
      ...{ tenant, run_id, recovery_id },
      members: members.slice(at * COMPENSATIONS_MAX, (at + 1) * COMPENSATIONS_MAX),
    }),
  );
}

function executed(
  { verdict, called, mutation, standing, contract }: Judged,
  tenant: string,
  runId: string,
  attempt: number,
): ExecutedCompensation | null {
  const { call, position, state: to } = called;
  if (standing !== undefined && EXECUTION_AFTER[standing.execution_state][to] === null) return null;
  const { mutation_id, rollback_id, recorded_hash, execution, ref } = mutation;
  return {
    compensation_id: compensationIdOf(tenant, runId, mutation_id, position),
    effect_key: compensationKey(mutation_id, position),
    reverses_mutation_id: mutation_id,
    reverses_record_hash: recorded_hash,
    rollback_id,
    step_id: verdict.step_id,
    attempt,
    ...calledUnder(call, contract, answerOf(verdict, position, call) ?? answeredBefore(standing, to)),
    subject_ref: ref.subject_ref,
    execution_state: to,
    reason: verdict.reason,
    agent_id: execution.agent_id,
    initiator: execution.initiator,
  };
}

/** What was called and what its own contract says of it: without one nothing is read, since to open a payload costs more than the rest. */
function calledUnder(
  { capability, idempotency_key, args }: RecoveryCall,
  known: KnownContract | null,
  result: Payload | null,
) {
  const read = known === null ? UNREAD : { args: jsonOfPayload(args), result: result && jsonOfPayload(result) };
  return {
    capability,
    idempotency_key,
    contract_digest: known?.digest ?? null,
    contract_version: known === null ? null : (known.contract.version ?? 1),
    reversal_class: classUnder(known?.contract ?? null),
    args,
    // What cannot be read has no value that is known.
    value: known === null || read.args === undefined ? null : valueOf(known.contract, read.args),
    consequence: consequenceIn(known?.contract ?? null, read, { argsPayload: args, resultPayload: result }),
    result,
  };
}

const UNREAD = { args: undefined, result: undefined };

/** How the call a verdict is about ended; null where it was not made. A tool that answered has executed, though nobody saw what it did. */
function executionOf(verdict: LegVerdict, position: number): Executed | null {
  const { call, outcome, reason, reported } = verdict;
  // Behind a call that was made, one that its worker never made is none.
  if (reason === 'NOT_EXECUTED') return null;
  const one = call === null ? null : callAt(call, position);
  const isSaid = outcome === 'unverified' || (outcome === 'uncertain' && reported === 'verified');
  return isSaid && one !== null && answerOf(verdict, position, one) !== null ? 'succeeded' : EXECUTED_AS[outcome];
}

/** What the tool of a call answered last, as its worker heard it. */
function answerOf({ observations }: LegVerdict, position: number, { capability }: RecoveryCall): Payload | null {
  const heard = observations.findLast(
    (seen) => seen.phase === 'execute' && seen.call === position && seen.capability === capability,
  );
  return heard?.observed ?? null;
}

/** What its tool answered an attempt before, where this verdict tells of no answer; one that failed was answered nothing that holds. */
function answeredBefore(standing: Compensation | undefined, to: Executed): Payload | null {
  return to === 'failed' ? null : (standing?.result ?? null);
}

/** What a compensation moves itself; of what cannot be read, what its marks say. */
function consequenceIn(
  contract: Contract | null,
  { args, result }: { readonly args: Json | undefined; readonly result: Json | undefined | null },
  marks: { readonly argsPayload: Payload; readonly resultPayload: Payload | null },
): readonly Money[] {
  return args === undefined || result === undefined
    ? consequenceOf(null, { args: null, result: null, ...marks }).values
    : atLeast(consequenceOf(contract, { args, result, ...marks }));
}

/** The contract under which a compensation is executed: the one that binds the tenant. */
export function contractOfCall(
  view: Parameters<typeof contractByName>[0],
  capability: string,
  tenant: string,
): KnownContract | null {
  return contractByName(view, tenant, capability) ?? null;
}
