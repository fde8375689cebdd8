// Runs one leg: its steps in order, up to the first that is not verified.
//
// Boundary: runs steps and asks the claim store; sends nothing.
//
// Invariants
//   I1. A step is begun only when the one before it is verified, and nobody says that the leg must stop.
//   I2. One claim covers all steps whose tools take keys. Who did not get it looks first for each of them.
import type { LegReported, LegRequested, LegStep, StepReport } from '@recourse/messages';
import type { ClaimStore } from '../stores/claim-store.port.js';
import { runCalls } from './call-runner.js';
import type { Claims } from './call-runner.js';
import { claimIdOf, isOfLeg, nextStep } from './leg.decisions.js';
import type { ClaimAnswer } from './leg.messages.js';
import type { MayGoOn } from './may-go-on.js';
import type { StepParts, TakeClaim } from './step-runner.js';

/** What running a leg needs: tools, clock and claims. */
export interface LegParts extends StepParts {
  readonly workerId: string;
  readonly claimStore: ClaimStore;
  /** Asked before each step; a no ends the leg there. */
  readonly mayGoOn?: MayGoOn | undefined;
  /** Told of the steps that have ended, after each. It must not fail. */
  readonly onStep?: ((steps: readonly StepReport[]) => void) | undefined;
}

/**
 * Runs the steps of a leg in order, up to the first that is not verified or may not be begun.
 *
 * Shape:  the report has one entry per step that was begun.
 * Errors: none of the tools'; those of the clock and of `mayGoOn` pass.
 */
export async function runLeg(leg: LegRequested, parts: LegParts): Promise<LegReported> {
  const steps: StepReport[] = [];
  const claims = new LegClaims(leg, parts);
  for (let step = nextStep(leg, steps); step !== null; step = nextStep(leg, steps)) {
    if (parts.mayGoOn !== undefined && !(await parts.mayGoOn(leg, step))) break;
    steps.push(await runCalls(leg, step, claims, parts));
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
