// Reads a worker's answer: the worker says what it saw, the ledger judges what that means. Pure.
//
// Invariant: where the worker's verdict and what was observed disagree, nobody knows.
import { evaluateExpression, forwardFinding, readPayload } from '@recourse/contract';
import type { ForwardFinding } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { AskVerdict, Observation, ObservationPhase, Payload, StepReport } from '@recourse/messages';
import type { AskKind, Mutation } from './mutation.messages.js';

export type ReadingReason =
  | 'FOUND'
  | 'FOUND_NOTHING'
  | 'FINDING_UNREADABLE'
  | 'VERDICTS_DISAGREE'
  | 'CONDITION_HELD'
  | 'CONDITION_FALSE'
  | 'CONDITION_UNREADABLE'
  | 'TOOL_ANSWERED'
  | 'TOOL_FAILED'
  | 'NOT_EXECUTED'
  | 'OUTCOME_NOT_KNOWN'
  | 'NOT_REPORTED'
  | 'NO_ANSWER';

export interface Reading {
  readonly verdict: AskVerdict;
  readonly reason: ReadingReason;
  /** What a call that took effect answered; null in every other case. */
  readonly happened: { readonly result: Json; readonly externalRef: string | null } | null;
}

const unknown = (reason: ReadingReason): Reading => ({ verdict: 'unknown', reason, happened: null });

/** Nothing came in time. */
export const NO_ANSWER: Reading = unknown('NO_ANSWER');

/** Reads the report on a request of a kind. A late refusal is no answer and must not come here. */
export function readAnswer(
  kind: AskKind,
  report: StepReport | undefined,
  mutation: Pick<Mutation, 'terms' | 'execution'>,
): Reading {
  if (report === undefined) return unknown('NOT_REPORTED');
  switch (kind) {
    case 'reconcile':
      return readFinding(report);
    case 'observe':
      return readPrecondition(report, mutation);
    case 'release':
      return readRelease(report);
    case 'cancel':
      return report.outcome === 'verified'
        ? { verdict: 'met', reason: 'TOOL_ANSWERED', happened: null }
        : unsuccessful(report);
  }
}

function readFinding(report: StepReport): Reading {
  const finding = lastSeen(report.observations, 'reconcile');
  if (finding === null) return unknown('OUTCOME_NOT_KNOWN');
  const read = forwardFinding(finding);
  switch (read.kind) {
    case 'unknown':
      return unknown('FINDING_UNREADABLE');
    case 'happened':
      return report.outcome === 'verified' ? found(read) : unknown('VERDICTS_DISAGREE');
    case 'not_happened':
      return report.outcome === 'unverified'
        ? { verdict: 'not_met', reason: 'FOUND_NOTHING', happened: null }
        : unknown('VERDICTS_DISAGREE');
  }
}

function found({ result, externalRef }: Extract<ForwardFinding, { kind: 'happened' }>): Reading {
  return { verdict: 'met', reason: 'FOUND', happened: { result, externalRef } };
}

function readRelease(report: StepReport): Reading {
  if (report.outcome !== 'verified') return unsuccessful(report);
  const result = lastSeen(report.observations, 'execute');
  if (result === null) return unknown('VERDICTS_DISAGREE');
  return {
    verdict: 'met',
    reason: 'TOOL_ANSWERED',
    happened: { result, externalRef: report.external_transaction_ref },
  };
}

/** A tool that knows it had no effect says `failed`; everything else tells nothing. */
function unsuccessful({ outcome }: StepReport): Reading {
  if (outcome === 'failed') return { verdict: 'not_met', reason: 'TOOL_FAILED', happened: null };
  return unknown(outcome === 'not_executed' ? 'NOT_EXECUTED' : 'OUTCOME_NOT_KNOWN');
}

function readPrecondition(report: StepReport, { terms, execution }: Pick<Mutation, 'terms' | 'execution'>): Reading {
  const condition = terms?.hold?.precondition_condition ?? null;
  const observed = lastSeen(report.observations, 'verify');
  const args = readable(execution.args);
  if (condition === null || observed === null || args === null) return unknown('OUTCOME_NOT_KNOWN');
  const judged = evaluateExpression(condition, { observed, args });
  if (!judged.ok) return unknown('CONDITION_UNREADABLE');
  if (judged.holds !== (report.outcome === 'verified')) return unknown('VERDICTS_DISAGREE');
  return judged.holds
    ? { verdict: 'met', reason: 'CONDITION_HELD', happened: null }
    : { verdict: 'not_met', reason: 'CONDITION_FALSE', happened: null };
}

/** Last thing observed in a phase; null when there is none that can be read: a worker's bytes never stop a decision. */
function lastSeen(observations: readonly Observation[], phase: ObservationPhase): Json | null {
  const last = observations.findLast((observation) => observation.phase === phase);
  return last === undefined ? null : readable(last.observed);
}

function readable(payload: Payload): Json | null {
  try {
    return readPayload(payload);
  } catch {
    return null;
  }
}
