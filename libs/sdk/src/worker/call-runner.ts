// Runs the calls of one step in their order, each as if it were the only one, up to the first that is not verified.
//
// Boundary: runs calls through the step runner; claims are the leg's.
//
// Invariants
//   R1. A call is begun only once the one before it was verified. What an earlier attempt was seen to have made is looked at, and
//       never made again: where it no longer stands, somebody else changed it.
//   R2. Each call has a key, and where its tool takes none a claim, of its own: those of the step, with its position behind.
//   R3. Between two calls nothing is told as not done: a copy of the leg may have gone on.
import { argsAt, callCountOf, stepAt } from '@recourse/contract';
import type { LegRequested, LegStep, Observation, StepReport } from '@recourse/messages';
import { beginStep } from './leg.decisions.js';
import type { ClaimAnswer } from './leg.messages.js';
import type { MayGoOn } from './may-go-on.js';
import { endedAs, runStep } from './step-runner.js';
import type { StepParts, TakeClaim } from './step-runner.js';

/** What running the calls of a step needs beside its tools. */
export interface CallParts extends StepParts {
  /** Asked before each further call, as before each step. */
  readonly mayGoOn?: MayGoOn | undefined;
}

/** The claims of the leg. */
export interface Claims {
  /** What the claim store said of the leg; null while it was not asked. */
  readonly ofLeg: ClaimAnswer | null;
  readonly take: TakeClaim;
}

/** A step under way, and what was seen of its calls. */
interface Underway {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly observations: Observation[];
}

/**
 * Runs the calls of one step.
 *
 * Shape:  the report is that of the call it ended at, with what was observed of all of them.
 * Errors: none of the tools'; those of the clock and of `mayGoOn` pass.
 */
export async function runCalls(
  leg: LegRequested,
  step: LegStep,
  claims: Claims,
  parts: CallParts,
): Promise<StepReport> {
  const underway: Underway = { leg, step, observations: [] };
  const { observations } = underway;
  for (let done = 0; ; done += 1) {
    const report = await runCall(underway, done + 1, claims, parts);
    observations.push(...report.observations.map((seen) => ({ ...seen, call: done + 1 })));
    const made = done + (report.outcome === 'verified' ? 1 : 0);
    if (made === done || made === callCountOf(step.call))
      return { ...report, step_id: step.step_id, observations, calls_done: made };
  }
}

/** Runs the call at a position, from 1; only looks at one that an earlier attempt made. */
async function runCall(
  { leg, step, observations }: Underway,
  position: number,
  claims: Claims,
  parts: CallParts,
): Promise<StepReport> {
  const args = argsAt(step.call, position, observations);
  const one = stepAt(step, position, position === 1 ? undefined : args);
  if (one === null || (position > 1 && args === undefined))
    return endedAs(step, { outcome: 'not_executed', errorKind: 'ARGS_UNREADABLE' });
  const isMade = position <= step.calls_done;
  if (position > 1 && !isMade && (await parts.mayGoOn?.(leg, one)) === false)
    return endedAs(step, { outcome: 'unknown', errorKind: 'HELD_BACK' });
  const running: LegRequested = isMade ? { ...leg, kind: 'observe' } : leg;
  const report = await runStep({ leg: running, step: one, begun: beginStep(one, claims.ofLeg) }, claims.take, parts);
  if (isMade && report.outcome === 'unverified') return { ...report, outcome: 'stale', error_kind: 'STALE' };
  return position > 1 && report.outcome === 'refused_late' ? { ...report, outcome: 'unknown' } : report;
}
