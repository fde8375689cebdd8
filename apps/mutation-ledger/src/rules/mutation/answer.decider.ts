// Takes what workers answer about forward actions, and what it means that they do not answer.
//
// Invariants
//   A1. Only an answer under a real lease counts, and each request is closed once (L9, L11).
//   A2. Proof counts whenever it comes; a later proof of the contrary is a conflict on record, never dropped (L12).
//   A4. Where another worker observes, how it ended counts when the other sees the same; what it sees otherwise is a person's.
//       A held effect goes when both see that its precondition holds; that it was taken back, the other looks at as well.
//       Where the contract says no way to find out how it ended, the other has nothing to look by: a person's.
//   A3. What nobody can find out within bounds goes to a person; a held effect whose precondition nobody can see does not go.
import { plainPayload } from '@recourse/contract';
import { backoffMs, sha256Hex } from '@recourse/kernel';
import type { FoundOut, LegReported, Observation, ToolExecuted, ToolOutcome } from '@recourse/messages';
import { contentHash } from '../identity.js';
import { askedOf, askObserver, askPerson, attemptsOf, isMoot } from './asking.decider.js';
import type { AskPolicy } from './asking.decider.js';
import { cancelHeld, endHold, giveBackStaged, isHeld, isSpokenAgainst, letGo } from './hold.decider.js';
import type { HoldContext } from './hold.decider.js';
import { foundByWorker } from './forward.fold.js';
import { EXECUTION_AFTER } from './mutation.transitions.js';
import type { Ask, Mutation } from './mutation.messages.js';
import { NO_ANSWER, readAnswer } from './reading.decisions.js';
import type { Reading } from './reading.decisions.js';
import type { MutationRecord } from '../record.messages.js';

/** What a decision about an answer takes from elsewhere. */
export interface AnswerContext extends HoldContext {
  /** Records an execution with its reversal bound, and how it was found out. */
  readonly record: (event: ToolExecuted, found: FoundOut) => readonly MutationRecord[];
  /** Whose key signed the answer, and whether another observes it; null where wires are open, or none came. */
  readonly heard: { readonly keyId: string; readonly isObserved: boolean } | null;
}

export type AnswerRefusal =
  'KEY_MISMATCH' | 'LEASE_UNKNOWN' | 'WORKER_MISMATCH' | 'REFUSED_LATE' | 'ALREADY_ANSWERED' | 'OVERTAKEN';

/** Refuses an answer. */
export function refuseAnswer(
  { tenant, run_id, leg_id, attempt }: Pick<LegReported, 'tenant' | 'run_id' | 'leg_id' | 'attempt'>,
  code: AnswerRefusal,
): MutationRecord {
  return { type: 'AnswerRefused', body: { tenant, run_id, leg_id, attempt, code } };
}

/** The request an answer is about; null when it was never made, or under another lease. */
export function askOf(message: LegReported, mutation: Mutation | undefined): Ask | null {
  if (mutation?.tenant !== message.tenant) return null;
  return (
    mutation.forward?.asks.find(
      (ask) => ask.leg_id === message.leg_id && ask.attempt === message.attempt && ask.lease_id === message.lease_id,
    ) ?? null
  );
}

/** Takes an answer to a request that was made. */
export function takeAnswer(
  message: LegReported,
  ask: Ask,
  mutation: Mutation,
  context: AnswerContext,
): readonly MutationRecord[] {
  const report = message.steps.find(({ step_id }) => step_id === mutation.mutation_id);
  // A refusal by one copy proves nothing about another: the request stays open until its time is over.
  if (report?.outcome === 'refused_late') return [refuseAnswer(message, 'REFUSED_LATE')];
  const answer = { reading: readAnswer(ask.kind, report, mutation), observations: report?.observations ?? [] };
  if (ask.answered !== null) return takeLate(message, ask, answer, mutation, context);
  return close(ask, answer, mutation, context);
}

/** Takes it that no answer came in time. */
export function missAnswer(mutation: Mutation, context: AnswerContext): readonly MutationRecord[] {
  const ask = mutation.forward?.asks.at(-1);
  return ask === undefined || ask.answered !== null
    ? []
    : close(ask, { reading: NO_ANSWER, observations: [] }, mutation, context);
}

/** What an answer means, and what its worker saw. */
interface Answer {
  readonly reading: Reading;
  readonly observations: readonly Observation[];
}

function close(ask: Ask, answer: Answer, mutation: Mutation, context: AnswerContext): readonly MutationRecord[] {
  const { reading, observations } = answer;
  const { mutation_id, tenant, run_id } = mutation;
  const { leg_id, kind, attempt } = ask;
  const retry_at = retryAt(ask, reading, mutation, context);
  const answered: MutationRecord = {
    type: 'WorkerAnswered',
    body: {
      mutation_id,
      tenant,
      run_id,
      leg_id,
      kind,
      attempt,
      verdict: reading.verdict,
      reason: reading.reason,
      observations,
      retry_at,
      signing_key: context.heard?.keyId ?? null,
    },
  };
  return [answered, ...(retry_at === null ? consequences(ask, answer, mutation, context) : [])];
}

/** A look, or a cancel under its key, may be repeated; letting go may not. */
function retryAt(ask: Ask, { verdict }: Reading, mutation: Mutation, { now, policy }: AnswerContext): number | null {
  if (isConfirming(ask)) return null;
  const asked = askedOf(mutation, ask.kind).length;
  const isSettled = verdict === 'met' || (verdict === 'not_met' && ask.kind !== 'cancel');
  if (isSettled || mutation.terms === null || asked >= attemptsOf(ask.kind, mutation.terms, policy)) return null;
  return now + backoffMs(asked, policy.backoff);
}

function consequences(ask: Ask, answer: Answer, mutation: Mutation, context: AnswerContext): readonly MutationRecord[] {
  const { now, policy } = context;
  const { reading } = answer;
  switch (ask.kind) {
    case 'observe':
      return isHeld(mutation)
        ? (seenBefore(ask, reading, mutation, context) ?? afterLook(ask, reading, mutation, context))
        : [];
    case 'cancel':
      return reading.verdict === 'met'
        ? afterCancel(ask, reading, mutation, context)
        : [askPerson(mutation, now, policy)];
    case 'reconcile':
      return reading.verdict === 'unknown'
        ? [askPerson(mutation, now, policy)]
        : settled(ask, answer, mutation, context);
    case 'release':
      return settled(ask, answer, mutation, context);
  }
}

/** Has another look before an effect goes on the word of one; null where none observes, it would not go, or this is the other (A4). */
function seenBefore(
  ask: Ask,
  reading: Reading,
  mutation: Mutation,
  context: AnswerContext,
): readonly MutationRecord[] | null {
  if (isConfirming(ask) || reading.verdict !== 'met' || isSpokenAgainst(context)) return null;
  const look = lookOfAnother(ask, reading, mutation, context);
  return look === null ? null : [look];
}

/** Who says that it was taken back may have let it go; of what took hold, or may have, a person finds out already. */
function afterCancel(...said: Parameters<typeof lookOfAnother>): readonly MutationRecord[] {
  if (said[2].execution_state !== 'failed') return [];
  return [lookOfAnother(...said)].filter((look) => look !== null);
}

/** How it ended, by one worker or by two (A4). */
function settled(ask: Ask, answer: Answer, mutation: Mutation, context: AnswerContext): readonly MutationRecord[] {
  if (isConfirming(ask)) {
    const first = mutation.forward?.asks.find(({ leg_id }) => leg_id === ask.confirms?.leg_id) ?? ask;
    if (!isConfirmed(ask, answer.reading)) return [askPerson(mutation, context.now, context.policy)];
    return first.kind === 'cancel' ? [] : recorded(first, answer, mutation, context);
  }
  const look = lookOfAnother(ask, answer.reading, mutation, context);
  return look === null ? recorded(ask, answer, mutation, context) : [look];
}

/** Has the other look, or a person where the contract says no way to; null where one worker's word is enough. */
function lookOfAnother(
  { leg_id, kind }: Ask,
  { verdict, happened }: Reading,
  mutation: Mutation,
  { heard, now, policy }: AnswerContext,
): MutationRecord | null {
  if (heard?.isObserved !== true || verdict === 'unknown') return null;
  const confirms = { leg_id, kind, verdict, handle_sha256: handleHash(happened), said_by: heard.keyId };
  return askObserver(mutation, confirms, now, policy) ?? askPerson(mutation, now, policy);
}

/** It says the same, under the same handle where the first told one; of what was taken back, that nothing is there. */
function isConfirmed({ confirms }: Ask, { verdict, happened }: Reading): boolean {
  if (confirms?.kind === 'cancel') return verdict === 'not_met';
  if (confirms?.verdict !== verdict) return false;
  return confirms.handle_sha256 === null || handleHash(happened)?.equals(confirms.handle_sha256) === true;
}

function handleHash(happened: Reading['happened']): Buffer | null {
  const handle = happened?.externalRef ?? null;
  return handle === null ? null : Buffer.from(sha256Hex(handle), 'hex');
}

/** Is it an observer that was asked? */
export function isConfirming({ confirms }: Pick<Ask, 'confirms'>): boolean {
  return confirms !== undefined;
}

/** Records how the forward call ended. What was staged for one that had no effect is of no use any more. */
function recorded(
  ask: Ask,
  { reading, observations }: Answer,
  mutation: Mutation,
  { record, now, policy }: AnswerContext,
): readonly MutationRecord[] {
  const told = toldBy(ask, reading, mutation, policy);
  const found = foundByWorker({ ...ask, ...reading, observations }, now);
  const isInVain = told.outcome === 'failed' && (mutation.forward?.hold ?? null) !== null;
  return [...record(told, found), ...(isInVain ? giveBackStaged(mutation, now, policy) : [])];
}

/** The refs are judged again with the answer: the look took its time. */
function afterLook(
  ask: Ask,
  { verdict }: Reading,
  mutation: Mutation,
  context: AnswerContext,
): readonly MutationRecord[] {
  const { now, policy, contract, judgements } = context;
  if (isSpokenAgainst(context)) return endHold(mutation, context);
  if (verdict === 'met') return letGo(mutation, judgements, now, policy);
  return cancelHeld(
    mutation,
    {
      reason: verdict === 'not_met' ? 'PRECONDITION_FAILED' : 'PRECONDITION_UNKNOWN',
      eventId: ask.leg_id,
      contract,
      refs: mutation.forward?.refs ?? [],
    },
    now,
    policy,
  );
}

function takeLate(
  message: LegReported,
  ask: Ask,
  answer: Answer,
  mutation: Mutation,
  context: AnswerContext,
): readonly MutationRecord[] {
  const { reading } = answer;
  if (ask.answered === reading.verdict) return [];
  if (isMoot(ask, reading.verdict) || isWatched(ask, mutation))
    return [refuseAnswer(message, ask.answered === 'overtaken' ? 'OVERTAKEN' : 'ALREADY_ANSWERED')];
  if (ask.kind === 'cancel')
    return reading.verdict === 'met'
      ? close({ ...ask, answered: null }, { reading, observations: [] }, mutation, context)
      : [refuseAnswer(message, 'ALREADY_ANSWERED')];
  const told = toldBy(ask, reading, mutation, context.policy);
  if (told.outcome === mutation.execution_state) return [refuseAnswer(message, 'ALREADY_ANSWERED')];
  return EXECUTION_AFTER[mutation.execution_state][told.outcome] === null
    ? [conflict(told, mutation)]
    : settled(ask, answer, mutation, context);
}

/** An observer was asked, or is: its answer is waited for, and comes once. */
function isWatched(ask: Ask, { forward }: Mutation): boolean {
  return isConfirming(ask) || (forward?.asks.some((one) => isConfirming(one) && one.answered === null) ?? false);
}

function conflict(told: ToolExecuted, { mutation_id, run_id, tenant, executed_sha256 }: Mutation): MutationRecord {
  const conflicting = contentHash('ToolExecuted', told);
  return {
    type: 'ExecutionConflicted',
    body: {
      mutation_id,
      run_id,
      tenant,
      event_id: told.event_id,
      recorded_sha256: executed_sha256 ?? conflicting,
      conflicting_sha256: conflicting,
    },
  };
}

const OUTCOME_OF = { met: 'succeeded', not_met: 'failed', unknown: 'uncertain' } as const satisfies Record<
  Reading['verdict'],
  ToolOutcome
>;

/** The execution as a worker's answer tells it. The window counts from the earliest instant at which it can have happened. */
function toldBy(
  ask: Ask,
  { verdict, happened }: Reading,
  { execution, terms, ref, forward }: Mutation,
  { earliest }: AskPolicy,
): ToolExecuted {
  const asked = ask.kind === 'release' ? ask.first_asked_at : (forward?.since ?? ask.first_asked_at);
  const { value: _value, rehearsal: _rehearsal, staged_ref: _staged, ...told } = execution;
  return {
    ...told,
    // A request that nobody answered in time may still be answered: that is another event.
    event_id: `${ask.leg_id}.${verdict}`,
    contract_digest: terms?.contract_digest ?? null,
    assumption_refs: ref?.assumption_refs ?? forward?.refs ?? [],
    outcome: OUTCOME_OF[verdict],
    result: happened === null || happened.result === null ? execution.result : plainPayload(happened.result),
    external_transaction_ref: happened?.externalRef ?? execution.external_transaction_ref,
    error_kind: null,
    handled_as: null,
    committed_at: ref?.committed_at ?? earliest(asked) ?? asked,
  };
}
