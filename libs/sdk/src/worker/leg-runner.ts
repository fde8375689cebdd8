// Runs one leg: its steps in order, up to the first that is not verified, and the calls of each step.
import { argsAt, callCountOf, stepAt } from '@recourse/contract';
import type { LegReported, LegRequested, LegStep, Observation, StepReport } from '@recourse/messages';
import type { ClaimStore } from '../stores/claim-store.port.js';
import { beginStep, claimIdOf, isOfLeg, nextStep } from './leg.decisions.js';
import type { ClaimAnswer } from './leg.messages.js';
import { ReportRoom } from './report-room.js';
import { endedAs, runStep } from './step-runner.js';
import type { TakeClaim } from './step-runner.js';
import type { StepParts } from './tool-call.js';

/** Whether a step may be begun; `unknown`: nobody could say so in time. */
type MayBegin = (leg: LegRequested, step: LegStep) => Promise<boolean | 'unknown'> | boolean;

/** What running a leg needs: tools, clock and claims. */
export interface LegParts extends StepParts {
  readonly workerId: string;
  readonly claimStore: ClaimStore;
  /** Asked before each step; a no ends the leg there. */
  readonly mayGoOn?: MayBegin | undefined;
  /** Told of the steps that have ended, after each. It must not fail. */
  readonly onStep?: ((steps: readonly StepReport[]) => void) | undefined;
}

/**
 * Runs the steps of a leg in order, up to the first that is not verified or may not be begun, or for which the report has no room.
 *
 * Shape:  the report has one entry per step that was begun.
 * Errors: none of the tools'; those of the clock and of `mayGoOn` pass.
 */
export async function runLeg(leg: LegRequested, parts: LegParts): Promise<LegReported> {
  const steps: StepReport[] = [];
  const claims = new LegClaims(leg, parts);
  const room = new ReportRoom();
  for (let step = nextStep(leg, steps); step !== null && room.isForStep(); step = nextStep(leg, steps)) {
    const going = (await parts.mayGoOn?.(leg, step)) ?? true;
    // The first step of a leg counts as begun, whatever its report leaves out: there it says why it was not.
    if (going === 'unknown' && steps.length === 0)
      steps.push(endedAs(step, { outcome: 'unknown', errorKind: 'SWITCHES_UNKNOWN' }));
    if (going !== true) break;
    const report = await runCalls({ leg, step, room, observations: [] }, claims, parts);
    steps.push(report);
    room.close(report);
    parts.onStep?.(steps);
  }
  return reportOf(leg, steps, { workerId: parts.workerId, at: parts.clock.now(), complete: true });
}

/** The report of a leg. Shape: the steps are those that ended; `at` is worker time, epoch milliseconds. */
export function reportOf(
  { leg_id, tenant, run_id, attempt, lease_id }: LegRequested,
  steps: readonly StepReport[],
  { workerId, at, complete }: { readonly workerId: string; readonly at: number; readonly complete: boolean },
): LegReported {
  return { leg_id, tenant, run_id, attempt, lease_id, worker_id: workerId, reported_at: at, complete, steps };
}

/** The claims one run of a leg makes. */
class LegClaims implements Claims {
  /** What the claim store said of the leg; null while it was not asked. */
  ofLeg: ClaimAnswer | null = null;

  constructor(
    private readonly leg: LegRequested,
    private readonly parts: LegParts,
  ) {}

  readonly take: TakeClaim = async (step) => {
    const answer = await this.ask(step);
    if (isOfLeg(this.leg, step)) this.ofLeg = answer;
    return answer;
  };

  private async ask(step: LegStep): Promise<ClaimAnswer> {
    const { claimStore, workerId } = this.parts;
    try {
      return await claimStore.claim({ id: claimIdOf(this.leg, step), attempt: this.leg.attempt, workerId });
    } catch {
      return 'failed';
    }
  }
}

// Runs the calls of one step in their order, each as if it were the only one, up to the first that is not verified.
//
// Boundary: runs calls through the step runner; claims are the leg's.
//
// Invariants
//   R1. A call is begun only once the one before it was verified. What an earlier attempt was seen to have made is looked at, and
//       never made again: where it no longer stands, somebody else changed it.
//   R2. Each call has a key, and where its tool takes none a claim, of its own: those of the step, with its position behind.
//   R3. Between two calls nothing is told as not done: a copy of the leg may have gone on.

/** What running the calls of a step needs beside its tools. */
interface CallParts extends StepParts {
  /** Asked before each further call, as before each step. */
  readonly mayGoOn?: MayBegin | undefined;
}

/** The claims of the leg. */
interface Claims {
  /** What the claim store said of the leg; null while it was not asked. */
  readonly ofLeg: ClaimAnswer | null;
  readonly take: TakeClaim;
}

/** A step under way, and what was seen of its calls. */
interface Underway {
  readonly leg: LegRequested;
  readonly step: LegStep;
  readonly room: ReportRoom;
  readonly observations: Observation[];
}

/**
 * Runs the calls of one step.
 *
 * Shape:  the report is that of the call it ended at, with what was observed of all of them.
 * Errors: none of the tools'; those of the clock and of `mayGoOn` pass.
 */
async function runCalls(underway: Underway, claims: Claims, parts: CallParts): Promise<StepReport> {
  const { step, observations } = underway;
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
  { leg, step, room, observations }: Underway,
  position: number,
  claims: Claims,
  parts: CallParts,
): Promise<StepReport> {
  const args = argsAt(step.call, position, observations);
  const one = stepAt(step, position, position === 1 ? undefined : args);
  if (one === null || (position > 1 && args === undefined))
    return endedAs(step, { outcome: 'not_executed', errorKind: 'ARGS_UNREADABLE' });
  const isMade = position <= step.calls_done;
  if (position > 1 && !isMade && ((await parts.mayGoOn?.(leg, one)) ?? true) !== true)
    return endedAs(step, { outcome: 'unknown', errorKind: 'HELD_BACK' });
  const running: LegRequested = isMade ? { ...leg, kind: 'observe' } : leg;
  const begun = beginStep(one, claims.ofLeg);
  const report = await runStep({ leg: running, step: one, begun, room }, claims.take, parts);
  if (isMade && report.outcome === 'unverified') return { ...report, outcome: 'stale', error_kind: 'STALE' };
  return position > 1 && report.outcome === 'refused_late' ? { ...report, outcome: 'unknown' } : report;
}
