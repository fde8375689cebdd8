// P1: a mutation is compensated at most once in effect, and called compensated only where it is undone.
import { broken, groupBy, nested, ofType, text } from './history.js';
import type { History } from './history.js';

export function checkAtMostOnce(history: History): void {
  const { provider } = history.world;
  for (const [transaction, effects] of groupBy(provider.effects, ({ transactionId }) => transactionId)) {
    if (effects.length > 1)
      broken(
        history,
        'P1',
        'at most once',
        `${transaction} was undone ${String(effects.length)} times: ${effects.map(({ worker, callId, attempt }) => `${worker} ${callId}/${String(attempt)}`).join(', ')}`,
      );
  }
  checkReleased(history);
  checkVerified(history);
  checkReconciled(history);
}

/** What was held went after its hold had elapsed on record, and nothing went that was cancelled. */
function checkReleased(history: History): void {
  const mutations = 'recourse.mutations';
  const effectOf = new Map(
    ofType(history, mutations, 'MutationPlanned').map(({ body }) => [
      nested(body, 'execution')['idempotency_key'],
      text(body, 'mutation_id'),
    ]),
  );
  const elapsed = new Map(
    ofType(history, mutations, 'HoldElapsed').map((record) => [text(record.body, 'mutation_id'), record]),
  );
  const cancelled = new Set(
    ofType(history, mutations, 'MutationRecorded')
      .filter(({ body }) => body['recoverability'] === 'cancelled')
      .map(({ body }) => text(body, 'mutation_id')),
  );
  for (const { transactionId, order, worker } of history.world.provider.released) {
    const mutation = effectOf.get(`key-${transactionId}`) ?? 'unknown';
    const letGo = elapsed.get(mutation);
    if (letGo === undefined || letGo.order >= order)
      broken(history, 'P1', 'held', `${transactionId} was let go by ${worker} before its hold was over`);
    if (cancelled.has(mutation))
      broken(history, 'P1', 'cancelled', `${transactionId} was let go by ${worker} and cancelled`);
  }
}

/** An outcome `compensated` stands on an effect that is there. */
function checkVerified(history: History): void {
  const dispatched = new Map(
    ofType(history, 'recourse.recoveries', 'LegDispatched').map(({ body }) => [
      text(body, 'mutation_id'),
      transactionOf(body),
    ]),
  );
  for (const { body, order } of ofType(history, 'recourse.recoveries', 'LegSettled')) {
    if (body['outcome'] !== 'compensated') continue;
    const transaction = dispatched.get(text(body, 'mutation_id'));
    const isUndone = history.world.provider.effects.some(
      (effect) => effect.transactionId === transaction && effect.order < order,
    );
    if (!isUndone && !isSaidByTwo(history, transaction, order))
      broken(
        history,
        'P1',
        'verified',
        `${text(body, 'mutation_id')} is called compensated, and ${String(transaction)} was not undone`,
      );
  }
}

/** Worker and observer said the same untruth: two eyes see more than one, and no promise reaches further. */
function isSaidByTwo({ world }: History, transaction: string | undefined, order: number): boolean {
  const untrue = world.eyes.untruths.filter(
    (one) => one.transactionId === transaction && one.said === 'reversed' && one.order < order,
  );
  return ['worker', 'observer'].every((role) => untrue.some((one) => one.role === role));
}

/** An attempt after the first looked before it acted. */
function checkReconciled(history: History): void {
  const { calls } = history.world.provider;
  for (const call of calls) {
    if (call.phase !== 'execute' || call.attempt < 2) continue;
    const hasLooked = calls.some(
      (other) =>
        other.phase === 'reconcile' &&
        other.callId === call.callId &&
        other.attempt === call.attempt &&
        other.order < call.order,
    );
    if (!hasLooked)
      broken(
        history,
        'P1',
        'reconcile first',
        `attempt ${String(call.attempt)} of ${call.callId} acted before it looked`,
      );
  }
}

function transactionOf(leg: Readonly<Record<string, unknown>>): string {
  return text(leg, 'external_transaction_ref');
}
