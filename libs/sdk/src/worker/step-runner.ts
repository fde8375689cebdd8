// Runs one call of a step of a leg: asks decideStep, obeys, and writes down what it saw.
//
// Boundary: calls tools and clock, and asks for claims; sends nothing. A tool's error never leaves it.
import { boundFacts, evaluateExpression, evaluateSuccess, forwardFinding, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { LegRequested, LegStep, StepReport } from '@recourse/messages';
import { advance, comparesInTheWrite, decideStep } from './leg.decisions.js';
import type { ClaimAnswer, StepAction, StepEnd, StepEvent, StepProgress } from './leg.messages.js';
import { wordsFor } from './report-room.js';
import type { ReportRoom } from './report-room.js';
import { callTool } from './tool-call.js';
import type { Running, StepParts } from './tool-call.js';

/** Takes the attempt for whoever asks; it MUST NOT reject. */
export type TakeClaim = (step: LegStep) => Promise<ClaimAnswer>;

/** A step to run. */
interface BegunStep {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly begun: StepProgress;
  readonly room: ReportRoom;
}

/**
 * Runs a step of one call to its end, from the progress it begins with.
 *
 * Errors: none of the tools'; those of the clock pass.
 */
export async function runStep(
  { leg, step, begun, room }: BegunStep,
  takeClaim: TakeClaim,
  parts: StepParts,
): Promise<StepReport> {
  const args = argsOf(step);
  if (args === null) return endedAs(step, { outcome: 'not_executed', errorKind: 'ARGS_UNREADABLE' });
  const running: Running = {
    leg,
    step,
    args: args.value,
    observations: [],
    room,
    detail: null,
    expected: undefined,
    handle: null,
    unread: null,
  };
  let progress = begun;
  for (;;) {
    const action = decideStep({ leg, step, progress, now: parts.clock.now() });
    if (action.do === 'end') return endedAs(step, action.end, running);
    const event: StepEvent =
      action.do === 'claim'
        ? { type: 'ClaimAnswered', answer: await takeClaim(step) }
        : await obey(action, running, parts);
    progress = advance(leg, progress, event);
  }
}

/** The report of a step that ended, with what was seen of it. */
export function endedAs(
  { step_id }: LegStep,
  { outcome, errorKind }: StepEnd,
  { observations, detail, handle }: Pick<Running, 'observations' | 'detail' | 'handle'> = NOTHING_SEEN,
): StepReport {
  return {
    step_id,
    outcome,
    observations,
    error_kind: errorKind,
    detail: wordsFor(detail),
    external_transaction_ref: handle,
    calls_done: 0,
  };
}

const NOTHING_SEEN = { observations: [], detail: null, handle: null };

/** Bound arguments; null when they are sealed or broken, and then nothing is called. */
function argsOf(step: LegStep): { readonly value: Json } | null {
  try {
    return { value: readPayload(step.call.args) };
  } catch {
    return null;
  }
}

async function obey(
  action: Exclude<StepAction, { do: 'end' | 'claim' }>,
  running: Running,
  parts: StepParts,
): Promise<StepEvent> {
  switch (action.do) {
    case 'observe':
      return observe(action, running, parts);
    case 'execute':
      return execute(running, parts);
    case 'pause':
      await parts.clock.sleep(action.ms);
      return { type: 'Paused' };
  }
}

/** What is looked for, and with which capability. */
type Look = Omit<Extract<StepAction, { do: 'observe' }>, 'do'>;

async function observe({ phase, capability, condition }: Look, running: Running, parts: StepParts): Promise<StepEvent> {
  const called = await callTool(capability, phase, running, parts);
  if (called.kind === 'failed') return { type: 'ObservationFailed', phase, failure: called.failure };
  if (phase === 'stale_check' && comparesInTheWrite(running.step)) running.expected = called.observed;
  return {
    type: 'Observed',
    phase,
    holds:
      condition === null && phase === 'reconcile'
        ? findingOf(called.observed)
        : judge({ phase, capability, condition }, called.observed, running),
  };
}

/** Whether an observation meets a condition; null when that cannot be told, which no rule takes for a yes. */
function judge({ phase, capability, condition }: Look, observed: Json, running: Running): boolean | null {
  if (condition === null) return null;
  const { leg, step, args } = running;
  // A leg does not carry the arguments of the forward action: a condition on them is for the orchestrator to judge.
  const facts = { observed, bound: boundFacts({ reversalArgs: args, externalRef: step.external_transaction_ref }) };
  const before = step.stale_capability === capability ? step.stale_condition : null;
  // What the ledger asks about is the forward call itself: there the arguments are its own.
  const judged =
    leg.kind !== 'compensate'
      ? evaluateExpression(condition, { ...facts, args })
      : phase === 'stale_check'
        ? evaluateExpression(condition, facts)
        : evaluateSuccess(condition, facts, before);
  if (judged.ok) return judged.holds;
  running.detail = judged.detail;
  return null;
}

/** Whether a forward call took effect; null when the answer does not say. */
function findingOf(observed: Json): boolean | null {
  const { kind } = forwardFinding(observed);
  return kind === 'unknown' ? null : kind === 'happened';
}

async function execute(running: Running, parts: StepParts): Promise<StepEvent> {
  const called = await callTool(running.step.call.capability, 'execute', running, parts);
  return called.kind === 'failed' ? { type: 'ExecutionFailed', failure: called.failure } : { type: 'Executed' };
}
