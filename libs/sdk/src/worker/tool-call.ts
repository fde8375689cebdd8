// Calls one tool for a step of a leg, and keeps what it answered.
//
// Boundary: calls tools and clock. A tool's error never leaves it, nor does what no report holds.
//
// Invariants
//   T1. What was seen is told, or counts as not seen (M1): a look whose answer no report holds whole has failed; a call that acted has
//       acted, and its answer alone, or the part of it that is no JSON, is left out.
//   T2. Each call has arguments of its own, and an answer is kept as it was given (K1, K2): a step is judged by what was bound for it.
import { plainPayload } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { LegRequested, LegStep, Observation, ObservationPhase } from '@recourse/messages';
import { readAnswer } from '../guard/answer.js';
import { copyOf } from '../guard/copied.js';
import type { ForwardTool } from '../guard/guard.messages.js';
import { handleIn } from '../guard/handle.js';
import { within } from '../within.js';
import { unwrittenIn, written, writtenAnswer } from '../written.js';
import type { Written } from '../written.js';
import type { CallsUnderWay } from './one-at-a-time.js';
import { aboutOf } from './leg.decisions.js';
import type { CallFailure } from './leg.messages.js';
import { depthProblem } from './report-room.js';
import type { ReportRoom } from './report-room.js';
import { failureOf } from './tool-failure.js';
import { isRejected, memberOf, wordsOf } from '../tool/thrown.js';
import { isStream, lastOf } from '../tool/streamed.js';
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
export interface Running {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly args: Json;
  readonly observations: Observation[];
  readonly room: ReportRoom;
  detail: string | null;
  /** What the stale-state check saw, where the tool is to compare with it while it writes. */
  expected: Json | undefined;
  /** Provider's handle of a forward call. */
  handle: string | null;
  /** Why there is none where the tool gave something. */
  unread: string | null;
}

/** What became of a call. */
type Called =
  | { readonly kind: 'answered'; readonly observed: Json; readonly at: number }
  | { readonly kind: 'failed'; readonly failure: CallFailure };

/** Calls the tool of a capability, and notes in `running` what it answered. Errors: those of the clock. */
export async function callTool(
  capability: string,
  phase: ObservationPhase,
  running: Running,
  parts: StepParts,
): Promise<Called> {
  const startAt = parts.clock.now();
  const called = await outcomeOf(capability, phase, running, parts);
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

async function outcomeOf(
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
    return keep(called.observed, { phase, capability, at: parts.clock.now() }, running);
  }
  running.detail = called.detail;
  return { kind: 'failed', failure: called.failure };
}

/** Notes what a tool answered, where the report has room for it. */
function keep(
  answer: Json,
  { phase, capability, at }: { readonly phase: ObservationPhase; readonly capability: string; readonly at: number },
  running: Running,
): Called {
  const observed = plainPayload(answer);
  const free = running.room.add({ phase, capability, observed, observed_at: at, call: 1 }, running.observations);
  running.detail =
    free === null
      ? running.unread
      : `the answer of ${capability} is left out: it has ${String(observed.body.length)} bytes, and the report room for ${String(free)}`;
  return free === null || phase === 'execute'
    ? { kind: 'answered', observed: answer, at }
    : { kind: 'failed', failure: 'TOOL_ERROR' };
}

/** A tool, as its answer is read. */
type Asked = (...given: Parameters<Tool>) => Promise<Written>;

/** A held effect goes through the forward tool where there is one, every other call through the tools of the worker. */
function toolFor(capability: string, running: Running, { tools, forwardTools = {} }: StepParts): Asked | undefined {
  const forward =
    running.leg.kind === 'release' && Object.hasOwn(forwardTools, capability) ? forwardTools[capability] : undefined;
  if (forward !== undefined) return letGo(forward, running);
  const tool = Object.hasOwn(tools, capability) ? tools[capability] : undefined;
  return tool === undefined ? undefined : saying(tool);
}

/** Calls a tool of the worker, and reads what it answered as it was given. */
function saying(tool: Tool): Asked {
  return async (args, context) => {
    const answered: unknown = await tool(args, context);
    const given = isStream(answered) ? await lastOf(answered) : answered;
    // A look that says nothing has seen nothing; an act that says nothing has acted.
    return given === undefined && context.phase === 'execute' ? written(null) : writtenAnswer(given);
  };
}

/** Calls a forward tool as its guard would: what it says of its effect is believed, its handle is kept. */
function letGo(tool: ForwardTool, running: Running): Asked {
  return async (args, { idempotencyKey, callId, runId, externalTransactionRef: stagedRef }) => {
    const said: unknown = await tool.execute(args, { idempotencyKey, callId, runId, stagedRef });
    const given = isStream(said) ? await lastOf(said) : said;
    const { written: answer, error } = readAnswer(given);
    if (error !== null) {
      const { kind, effect } = error.verdict;
      const said = `the tool answered ${kind}`;
      throw effect === 'none' ? new ToolRejected(kind, said) : new Error(said);
    }
    const { handle, problem } = handleIn(tool, given);
    running.handle = handle;
    running.unread = problem;
    return answer;
  };
}

type Attempted =
  | { readonly kind: 'answered'; readonly observed: Json }
  | (Extract<Called, { readonly kind: 'failed' }> & { readonly detail: string });

async function attempt(
  ask: Asked,
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
      ...(phase === 'execute' && expected !== undefined ? { expected: copyOf(expected) } : {}),
    };
    const answer = await ask(copyOf(args), context);
    // What is no JSON fits no record, and counts as an error of the tool; a look that is not whole has seen something else.
    const problem = (phase === 'execute' ? answer.problem : unwrittenIn(answer)) ?? depthProblem(answer.json);
    if (problem !== null) throw new Error(`its answer counts as none: ${problem}`);
    return { kind: 'answered', observed: answer.json };
  } catch (error) {
    const message = wordsOf(error);
    // The tool's own code is the first thing that whoever mends it looks for.
    const kind = isRejected(error) ? memberOf(error, 'kind') : undefined;
    const detail = typeof kind === 'string' ? `${kind}: ${message}` : message;
    return { kind: 'failed', failure: failureOf(error, leg.kind), detail };
  }
}
