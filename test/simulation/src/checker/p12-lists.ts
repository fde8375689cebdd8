// P12: nothing waits unseen: every open item has an owner and a deadline, and none stands past it when all is quiet. What was
// given to a person stands in a list until the person has done it; everything else has a timer, and all timers have run.
import { PARTITIONS } from '../world.js';
import { broken, nested, text } from './history.js';
import type { Fields, History } from './history.js';

const AT_REST: ReadonlySet<string> = new Set(['compensated', 'not_needed', 'denied', 'resolved']);

export async function checkLists(history: History): Promise<void> {
  const { databases } = history.world;
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const recoveries = databases['recovery-orchestrator'].partition('recourse.recoveries', partition);
    for (const { doc } of await recoveries.all('step')) checkStep(history, doc);
    for (const { doc } of await recoveries.all('recovery'))
      if (doc['phase'] === 'open')
        broken(history, 'P12', 'open', `recovery ${text(doc, 'recovery_id')} is open and nothing will happen to it`);
    const mutations = databases['mutation-ledger'].partition('recourse.mutations', partition);
    for (const { doc } of await mutations.all('rollback')) checkRollback(history, doc);
    for (const { doc } of await mutations.all('breaker'))
      if (doc['phase'] === 'open' && !isOwned(doc))
        broken(history, 'P12', 'owned', `breaker ${text(doc, 'breaker_id')} is open without owner or deadline`);
    for (const { doc } of await recoveries.all('task'))
      if (doc['phase'] === 'open' && !isOwned(doc))
        broken(history, 'P12', 'owned', `task ${text(doc, 'task_id')} is open without owner or deadline`);
    for (const { doc } of await recoveries.all('incident'))
      if (doc['phase'] === 'open' && !isOwned(doc))
        broken(history, 'P12', 'owned', `incident ${text(doc, 'incident_id')} is open without owner or deadline`);
    for (const { doc } of await mutations.all('undo'))
      if (doc['phase'] === 'opened')
        broken(
          history,
          'P12',
          'open',
          `undo ${text(doc, 'undo_id')}: its effects were not named, and nobody was asked`,
        );
    for (const { doc } of await mutations.all('mutation')) checkExecution(history, doc);
    const budgets = databases['budget-accountant'].partition('recourse.budgets', partition);
    const escalations = (await budgets.all('escalation'))
      .map(({ doc }) => doc)
      .filter((doc) => doc['phase'] === 'open');
    for (const escalation of escalations) checkEscalation(history, escalation);
    const asked = new Set(escalations.map((escalation) => text(escalation, 'reservation_id')));
    for (const { doc } of await budgets.all('reservation')) checkReservation(history, doc, asked);
  }
}

function checkStep(history: History, step: Fields): void {
  const phase = text(step, 'phase');
  if (AT_REST.has(phase)) return;
  if (!isOwned(step))
    broken(history, 'P12', 'owned', `step ${text(step, 'step_id')} is ${phase} without owner or deadline`);
  if (phase !== 'manual')
    broken(history, 'P12', 'open', `step ${text(step, 'step_id')} is ${phase} and nothing will happen to it`);
}

function checkRollback(history: History, rollback: Fields): void {
  const phase = text(rollback, 'phase');
  if (phase === 'marked' || phase === 'rejected' || phase === 'reviewed') return;
  if (!isOwned(rollback))
    broken(history, 'P12', 'owned', `rollback ${text(rollback, 'rollback_id')} is ${phase} without owner or deadline`);
  // What nobody judged in time was given to somebody else; a trigger is let through by people alone.
  if ((phase === 'held' || phase === 'beyond') && rollback['owner'] === 'role:administrator') return;
  if (phase !== 'escalated')
    broken(
      history,
      'P12',
      'open',
      `rollback ${text(rollback, 'rollback_id')} is ${phase}: its commit was not marked, and nobody was asked`,
    );
}

/** An execution whose end is not known has been asked about. */
function checkExecution(history: History, mutation: Fields): void {
  const state = text(mutation, 'execution_state');
  if (state === 'succeeded') checkExposure(history, mutation);
  if (state === 'succeeded' || state === 'failed') return;
  const awaited = nested(mutation, 'awaited');
  if (!isOwned(awaited))
    broken(history, 'P12', 'owned', `mutation ${text(mutation, 'mutation_id')} is ${state} without owner or deadline`);
  if (awaited['is_overdue'] !== true)
    broken(history, 'P12', 'open', `mutation ${text(mutation, 'mutation_id')} is ${state}, and nobody was asked`);
}

/** What took hold and cannot be taken back by anything automatic is a person's, or was; once it falls, its recovery's. */
function checkExposure(history: History, mutation: Fields): void {
  const isExposed = mutation['recoverability'] === 'manual_resolution_required';
  if (!isExposed || mutation['rollback_id'] !== null || mutation['settled'] !== null) return;
  if (!isOwned(nested(mutation, 'awaited')))
    broken(
      history,
      'P12',
      'owned',
      `mutation ${text(mutation, 'mutation_id')} cannot be taken back (${text(mutation, 'reason')}), and nobody was asked`,
    );
}

function checkEscalation(history: History, escalation: Fields): void {
  if (!isOwned(escalation))
    broken(history, 'P12', 'owned', `escalation ${text(escalation, 'escalation_id')} has no owner or deadline`);
  if (escalation['is_overdue'] !== true)
    broken(
      history,
      'P12',
      'open',
      `escalation ${text(escalation, 'escalation_id')} stands past its deadline, and nobody else was asked`,
    );
}

/** A reservation that is neither used nor given back has been asked about. */
function checkReservation(history: History, reservation: Fields, asked: ReadonlySet<string>): void {
  const phase = text(reservation, 'phase');
  if ((phase !== 'reserved' && phase !== 'escalated') || asked.has(text(reservation, 'reservation_id'))) return;
  broken(
    history,
    'P12',
    'open',
    `reservation ${text(reservation, 'reservation_id')} is ${phase}, and nobody was asked`,
  );
}

function isOwned(doc: Fields): boolean {
  return typeof doc['owner'] === 'string' && doc['owner'] !== '' && typeof doc['deadline_at'] === 'number';
}
