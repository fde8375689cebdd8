// The agent: makes its calls in order, each under its guard, and asks again where people have not decided yet.
import { systemClock } from '@recourse/sdk';
import type { GuardedResult } from '@recourse/sdk';
import { AGENT_ID } from '@recourse/example-little-services';
import type { Call, Stage } from '@recourse/example-little-services';
import type { Gate } from './account.js';

export interface Made {
  readonly call: Call;
  readonly result: GuardedResult;
  /** How the guard let it through. */
  readonly gate: Gate;
}

/** Pause before the agent asks again, milliseconds. */
const ASK_AGAIN_MS = 300;
const ASKS_MAX = 200;

/** Makes all calls. `onWaiting` hears, once per call, that people are asked. */
export async function onboard(
  stage: Stage,
  runId: string,
  calls: readonly Call[],
  onWaiting: (call: Call) => Promise<void>,
): Promise<readonly Made[]> {
  const run = { runId, agentId: AGENT_ID, initiator: 'asha', objective: 'bring a customer on board' };
  const made: Made[] = [];
  for (const call of calls) {
    let result = await stage.act(run, call);
    const isAsked = isWaiting(result);
    if (isAsked) await onWaiting(call);
    for (let asks = 0; isWaiting(result) && asks < ASKS_MAX; asks += 1) {
      await systemClock.sleep(ASK_AGAIN_MS);
      result = await stage.act(run, call);
    }
    made.push({ call, result, gate: result.kind === 'held' ? 'hold' : isAsked ? 'approval' : 'policy' });
  }
  return made;
}

function isWaiting(result: GuardedResult): boolean {
  return result.kind === 'refused' && result.code === 'APPROVAL_PENDING';
}
