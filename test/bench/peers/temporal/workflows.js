// The two workloads as Temporal's sandbox runs them: each step an activity. The bench bundles this file; numbers as in work.ts.
import { proxyActivities } from '@temporalio/workflow';

const STEPS = 12;
const EFFECTS = 11;
const { act, takeBack } = proxyActivities({
  startToCloseTimeout: '60s',
  // The tool says no and means it.
  retry: { nonRetryableErrorTypes: ['Refused'] },
});

async function takeAllBack(run, variant) {
  for (let step = EFFECTS; step >= 1; step -= 1) await takeBack(run, variant, step);
}

export async function recover(run, variant) {
  await takeAllBack(run, variant);
}

export async function saga(run, variant) {
  try {
    for (let step = 1; step <= STEPS; step += 1) await act(run, variant, step);
  } catch {
    await takeAllBack(run, variant);
  }
}
