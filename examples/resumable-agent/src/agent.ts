// The agent: asks where its run goes on, and decides one part after the other. Each decision is a checkpoint.
import { createCheckpoints, resume } from '@recourse/sdk';
import type { Clock, Entries, Producer, ResumeSource, RunContext } from '@recourse/sdk';
import { NEEDS, nextPart, planOf, waysOf } from './planner.js';
import type { Plan } from './planner.js';

/** What the agent stands on. */
export interface AgentParts {
  readonly source: ResumeSource;
  readonly producer: Producer;
  readonly entries: Entries;
  readonly clock: Clock;
  readonly run: RunContext;
  readonly order: string;
}

/** What became of one start of the agent. */
export interface Driven {
  readonly plan: Plan;
  /** Parts it found decided when it started. */
  readonly resumedWith: readonly string[];
  /** Ways its gate refused, with the code. */
  readonly refused: readonly string[];
  readonly checkpoints: readonly string[];
}

/** Nothing that can be admitted is left to decide a part by. */
export class NoWay extends Error {
  override readonly name = 'NoWay';
}

/** Drives a run to its end, from wherever it stands. Errors: NoWay; ResumeUnavailable; those of the producer. */
export async function drive({ source, producer, entries, clock, run, order }: AgentParts): Promise<Driven> {
  const from = await resume(source, run);
  const checkpoints = createCheckpoints({ producer, entries, clock, run, from, isGateRequired: true });
  let plan = planOf(order, from.state);
  const { order: _order, ...resumedWith } = plan;
  const [refused, recorded]: [string[], string[]] = [[], []];

  for (let part = nextPart(plan); part !== null; part = nextPart(plan)) {
    let isDecided = false;
    for (const { choice, reliesOn } of waysOf(part, plan)) {
      const state = { ...plan, [part]: choice };
      const answer = await checkpoints.record({
        stepId: part,
        producedBy: `planner/${part}`,
        subjectRef: `order/${order}`,
        assumptionRefs: reliesOn,
        state,
        gate: { bundle: 'delivery', inputs: { relies_on: reliesOn, needs: NEEDS[part] } },
      });
      if (answer.admitted) {
        [plan, isDecided] = [state, true];
        recorded.push(answer.commitId);
        break;
      }
      refused.push(`${part} ${choice}: ${answer.code}`);
    }
    if (!isDecided) throw new NoWay(`no ${part} is left for order ${order}: ${refused.join(', ')}`);
  }
  return { plan, resumedWith: Object.keys(resumedWith), refused, checkpoints: recorded };
}
