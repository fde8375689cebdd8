// Runs one call of a step of a leg: asks decideStep, obeys, and writes down what it saw.
//
// Boundary: calls tools and clock, and asks for claims; sends nothing. A tool's error never leaves it.
import { boundFacts, evaluateExpression, forwardFinding, plainPayload, readPayload } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { LegRequested, LegStep, Observation, ObservationPhase, StepReport } from '@recourse/messages';
import type { ForwardTool } from '../guard/guard.messages.js';
import { handleIn } from '../guard/handle.js';
import { verdictFor } from '../guard/verdict.decisions.js';
import { within } from '../within.js';
import type { CallsUnderWay } from './one-at-a-time.js';
import { aboutOf, advance, decideStep } from './leg.decisions.js';
import type { CallFailure, ClaimAnswer, StepAction, StepEnd, StepEvent, StepProgress } from './leg.messages.js';
import { failureOf } from './tool-failure.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';

/** What running a step needs: tools and clock. */
export interface StepParts {
  readonly tools: Readonly<Record<string, Tool>>;
  /** Forward tools by capability, as a guard wraps them: held effects are let go through these. */
  readonly forwardTools?: Readonly<Record<string, ForwardTool>> | undefined;
  readonly clock: Clock;
  /** Longest a call may take here, in milliseconds; a step may ask for less. */
  readonly callTimeoutMs: number;
  /** Acting calls of this worker that have not come back; a worker keeps one for all its legs. */
  readonly underWay?: CallsUnderWay | undefined;
  /** Told of each call, for traces. It must not fail. */
  readonly onCall?: ((called: CalledTool) => void) | undefined;
}

/** Takes the attempt for whoever asks; it MUST NOT reject. */
export type TakeClaim = (step: LegStep) => Promise<ClaimAnswer>;

/** One call of a tool that has ended, or was given up. */
export interface CalledTool {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly phase: ObservationPhase;
  readonly capability: string;
  /** Worker time, epoch milliseconds. */
  readonly startAt: number;
  /** Worker time, epoch milliseconds. */
  readonly endAt: number;
  /** Null when the tool answered. */
  readonly failure: CallFailure | null;
}

/** One step under way. */
interface Running {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly args: Json;
  readonly observations: Observation[];
  detail: string | null;
  /** What the stale-state check saw, where the tool is to compare with it while it writes. */
  expected: Json | undefined;
  /** Provider's handle of a forward call. */
  handle: string | null;
}

/**
 * Runs a step of one call to its end, from the progress it begins with.
 *
 * Errors: none of the tools'; those of the clock pass.
 */
export async function runStep(
  { leg, step, begun }: { readonly leg: LegRequested; readonly step: LegStep; readonly begun: StepProgress },
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
    detail: null,
    expected: undefined,
    handle: null,
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
    detail,
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

async function observe(
  { phase, capability, condition }: Extract<StepAction, { do: 'observe' }>,
  running: Running,
  parts: StepParts,
): Promise<StepEvent> {
  const called = await call(capability, phase, running, parts);
  if (called.kind === 'failed') return { type: 'ObservationFailed', phase, failure: called.failure };
  if (phase === 'stale_check' && CONDITIONAL_WRITES.includes(running.step.stale_compares ?? ''))
    running.expected = called.observed;
  return {
    type: 'Observed',
    phase,
    holds:
      condition === null && phase === 'reconcile'
        ? findingOf(called.observed)
        : judge(condition, called.observed, running),
  };
}

/** Comparisons that the tool makes itself while it writes: nothing fits between check and act. */
const CONDITIONAL_WRITES: readonly string[] = ['version', 'etag', 'compare_and_swap'];

/** Whether an observation meets a condition; null when that cannot be told, which no rule takes for a yes. */
function judge(condition: string | null, observed: Json, running: Running): boolean | null {
  if (condition === null) return null;
  // A leg does not carry the arguments of the forward action: a condition on them is for the orchestrator to judge.
  const bound = boundFacts({ reversalArgs: running.args, externalRef: running.step.external_transaction_ref });
  // What the ledger asks about is the forward call itself: there the arguments are its own.
  const judged = evaluateExpression(
    condition,
    running.leg.kind === 'compensate' ? { observed, bound } : { observed, bound, args: running.args },
  );
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
  const called = await call(running.step.call.capability, 'execute', running, parts);
  return called.kind === 'failed' ? { type: 'ExecutionFailed', failure: called.failure } : { type: 'Executed' };
}

type Called =
  | { readonly kind: 'answered'; readonly observed: Json; readonly at: number }
  | { readonly kind: 'failed'; readonly failure: CallFailure };

async function call(capability: string, phase: ObservationPhase, running: Running, parts: StepParts): Promise<Called> {
  const startAt = parts.clock.now();
  const called = await callTool(capability, phase, running, parts);
  parts.onCall?.({
    leg: running.leg,
    step: running.step,
    phase,
    capability,
    startAt,
    endAt: called.kind === 'answered' ? called.at : parts.clock.now(),
    failure: called.kind === 'failed' ? called.failure : null,
  });
  return called;
}

async function callTool(
  capability: string,
  phase: ObservationPhase,
  running: Running,
  parts: StepParts,
): Promise<Called> {
  const tool = toolFor(capability, running, parts);
  if (tool === undefined) {
    running.detail = `no tool ${capability}`;
    return { kind: 'failed', failure: 'TOOL_MISSING' };
  }
  const { leg, step } = running;
  if (phase === 'execute' && parts.underWay?.has(leg, step) === true) {
    running.detail = 'an earlier call under this key has not come back';
    return { kind: 'failed', failure: 'CALL_IN_FLIGHT' };
  }
  const timeoutMs = Math.min(parts.callTimeoutMs, step.call_timeout_ms);
  const calling = attempt(tool, phase, running);
  const noted = phase === 'execute' ? (parts.underWay?.during(leg, step, calling) ?? calling) : calling;
  const called = await within(parts.clock, timeoutMs, noted, {
    kind: 'failed',
    failure: 'TOOL_TIMEOUT',
    detail: `no answer within ${String(timeoutMs)} ms`,
  });
  if (called.kind === 'answered') {
    running.detail = null;
    const { observed } = called;
    const at = parts.clock.now();
    running.observations.push({ phase, capability, observed: plainPayload(observed), observed_at: at, call: 1 });
    return { kind: 'answered', observed, at };
  }
  running.detail = called.detail;
  return { kind: 'failed', failure: called.failure };
}

/** A held effect goes through the forward tool where there is one, every other call through the tools of the worker. */
function toolFor(capability: string, running: Running, { tools, forwardTools = {} }: StepParts): Tool | undefined {
  const forward =
    running.leg.kind === 'release' && Object.hasOwn(forwardTools, capability) ? forwardTools[capability] : undefined;
  if (forward !== undefined) return letGo(forward, running);
  return Object.hasOwn(tools, capability) ? tools[capability] : undefined;
}

/** Calls a forward tool as its guard would: what it says of its effect is believed, its handle is kept. */
function letGo(tool: ForwardTool, running: Running): Tool {
  return async (args, { idempotencyKey, callId, runId, externalTransactionRef: stagedRef }) => {
    const result = await tool.execute(args, { idempotencyKey, callId, runId, stagedRef });
    const verdict = verdictFor({ on: 'result', result });
    if (verdict !== null)
      throw verdict.effect === 'none'
        ? new ToolRejected(verdict.kind, `the tool answered ${verdict.kind}`)
        : new Error(`the tool answered ${verdict.kind}`);
    running.handle = handleIn(tool, result).handle;
    return result;
  };
}

type Attempted =
  | { readonly kind: 'answered'; readonly observed: Json }
  | (Extract<Called, { readonly kind: 'failed' }> & { readonly detail: string });

async function attempt(
  tool: Tool,
  phase: ObservationPhase,
  { leg, step, args, expected }: Running,
): Promise<Attempted> {
  const {
    call: { call_id: callId, idempotency_key: idempotencyKey },
    subject_ref: subjectRef,
    external_transaction_ref: externalTransactionRef,
  } = step;
  try {
    const context = {
      runId: leg.run_id,
      tenant: leg.tenant,
      callId,
      idempotencyKey,
      reason: leg.reason,
      attempt: leg.attempt,
      phase,
      about: aboutOf(leg),
      subjectRef,
      externalTransactionRef,
      ...(phase === 'execute' && expected !== undefined ? { expected } : {}),
    };
    const observed = await tool(args, context);
    plainPayload(observed); // what is no JSON fits no record, and counts as an error of the tool
    return { kind: 'answered', observed };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The tool's own code is the first thing that whoever mends it looks for.
    const detail = error instanceof ToolRejected ? `${error.kind}: ${message}` : message;
    return { kind: 'failed', failure: failureOf(error, leg.kind), detail };
  }
}
