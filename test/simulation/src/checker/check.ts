// The checker: reads what a run left behind and says which promises it broke.
import type { World } from '../world.js';
import { notesOf } from '../consumer-plans.js';
import { UNLINK } from '../contracts.js';
import { nested, number, ofType, readHistory, text } from './history.js';
import type { History, Violation } from './history.js';
import { checkAtMostOnce } from './p01-at-most-once.js';
import { checkNothingLost } from './p02-nothing-lost.js';
import { checkPermission } from './p03-permission.js';
import { checkBlame, checkChanged, checkWindows } from './p06-windows.js';
import { checkBudgets } from './p08-budgets.js';
import { checkClosure } from './p09-closure.js';
import { checkQuietStart, checkRebuild } from './p10-rebuild.js';
import { checkLists } from './p12-lists.js';
import { checkErased } from './erased.js';
import { checkObserved } from './observed.js';
import { checkEvidence } from './evidence.js';
import { checkDeliveries } from './p09-deliveries.js';
import { checkFates } from './p09-fates.js';
import { checkHeard } from './p09-heard.js';
import { checkOrder } from './order.js';
import { checkSealed } from './sealed.js';
import { checkTrust } from './trust.js';

export type { Violation } from './history.js';

export interface Checked {
  readonly violations: readonly Violation[];
  /** Distinct facts and commands told by the outside. */
  readonly operations: number;
  /** Of them, what was recorded as told, or answered with yes. */
  readonly accepted: number;
  /** Compensations that were observed. */
  readonly verified: number;
  /** Compensations that took an argument from the result of another one, and were asked of a worker. */
  readonly dependent: number;
  /** Rollbacks that consumers noted, and deliveries that were acknowledged. */
  readonly heard: number;
  readonly answered: number;
}

/** Checks a world that is quiet. */
export async function check(world: World, { isQuick }: { readonly isQuick: boolean }): Promise<Checked> {
  const history = readHistory(world);
  checkAtMostOnce(history);
  checkNothingLost(history);
  checkPermission(history);
  checkTrust(history);
  checkWindows(history);
  checkChanged(history);
  checkBlame(history);
  checkBudgets(history);
  checkClosure(history);
  checkFates(history);
  await checkHeard(history);
  checkDeliveries(history);
  checkOrder(history);
  checkEvidence(history);
  checkObserved(history);
  checkQuietStart(history);
  await checkLists(history);
  await checkSealed(history);
  checkErased(history);
  if (!isQuick && world.halted.length === 0) await checkRebuild(history);
  return { violations: history.violations, ...countsOf(history) };
}

function countsOf(history: History): Omit<Checked, 'violations'> {
  const answers = [
    'recourse.contracts',
    'recourse.assumptions',
    'recourse.mutations',
    'recourse.recoveries',
    'recourse.budgets',
  ].flatMap((log) => ofType(history, log, 'CommandAnswered'));
  const facts = new Set(
    [...(history.wires['recourse.tool-executions'] ?? []), ...(history.wires['recourse.assumption-events'] ?? [])]
      .filter(({ type }) => type !== 'HandleNamed')
      .map(({ type, key, body }) => `${String(type)} ${key} ${text(body, 'event_id')}`),
  );
  const recorded = [
    ...ofType(
      history,
      'recourse.mutations',
      'MutationRecorded',
      'MutationPlanned',
      'CheckpointRecorded',
      'StateChunkRecorded',
    ),
    ...ofType(history, 'recourse.assumptions', 'AssumptionStated'),
  ].length;
  const verified = ofType(history, 'recourse.recoveries', 'LegSettled').filter(
    ({ body }) => body['outcome'] === 'compensated',
  ).length;
  const dependent = ofType(history, 'recourse.recoveries', 'LegDispatched').filter(
    ({ body }) => number(body, 'attempt') === 1 && nested(body, 'call')['capability'] === UNLINK,
  ).length;
  const heard = history.world.consumers
    .flatMap(({ inbox }) => notesOf(inbox.rows))
    .filter(({ kind }) => kind === 'rollback').length;
  const answered = ofType(history, 'recourse.mutations', 'ConsumerAcknowledged').length;
  return {
    operations: facts.size + answers.length,
    accepted: recorded + answers.filter(({ body }) => body['status'] === 'accepted').length,
    verified,
    dependent,
    heard,
    answered,
  };
}
