// P12: nothing waits unseen: every open item has an owner and a deadline, and none stands past it when all is quiet.
import { PARTITIONS } from '../world.js';
import { broken, text } from './history.js';
import type { Fields, History } from './history.js';

const AT_REST: ReadonlySet<string> = new Set(['compensated', 'not_needed', 'denied']);

export async function checkLists(history: History): Promise<void> {
  const { databases } = history.world;
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const recoveries = databases['recovery-orchestrator'].partition('recourse.recoveries', partition);
    for (const { doc } of await recoveries.all('step')) checkStep(history, doc);
    for (const { doc } of await recoveries.all('recovery')) if (doc['phase'] === 'open') broken(history, 'P12', 'open', `recovery ${text(doc, 'recovery_id')} is open and nothing will happen to it`);
    for (const { doc } of await databases['budget-accountant'].partition('recourse.budgets', partition).all('escalation')) {
      if (doc['phase'] === 'open' && !isOwned(doc)) broken(history, 'P12', 'owned', `escalation ${text(doc, 'escalation_id')} has no owner or deadline`);
    }
  }
}

function checkStep(history: History, step: Fields): void {
  const phase = text(step, 'phase');
  if (AT_REST.has(phase)) return;
  if (!isOwned(step)) broken(history, 'P12', 'owned', `step ${text(step, 'step_id')} is ${phase} without owner or deadline`);
  // What was given to a person stands in a list until the person has done it; everything else has a timer.
  if (phase !== 'manual') broken(history, 'P12', 'open', `step ${text(step, 'step_id')} is ${phase} and nothing will happen to it`);
}

function isOwned(doc: Fields): boolean { return typeof doc['owner'] === 'string' && doc['owner'] !== '' && typeof doc['deadline_at'] === 'number'; }
