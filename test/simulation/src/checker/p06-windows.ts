// P6: nothing happens after a window has expired, by the database's clock. P7: what somebody else changed is never overwritten.
import { broken, nested, number, ofType, text } from './history.js';
import type { History } from './history.js';

export function checkWindows(history: History): void {
  checkLeases(history);
  const expiry = new Map(
    ofType(history, 'recourse.recoveries', 'RecoveryPlanned', 'StepBound', 'MutationAdvanced')
      .filter(({ body }) => body['call'] !== null)
      .map(({ body }) => [text(nested(body, 'call'), 'call_id'), number(nested(body, 'ref'), 'reversal_expires_at')]),
  );
  for (const { by, callId, at, transactionId } of history.world.provider.effects) {
    const expiresAt = expiry.get(callId);
    if (by === 'worker' && expiresAt !== undefined && at > expiresAt)
      broken(history, 'P6', 'window', `${transactionId} was undone ${String(at - expiresAt)} ms after its window`);
  }
}

/** Once every lease of a call and its time to answer are over, the orchestrator counts on nothing happening any more (L11). */
function checkLeases(history: History): void {
  const answerBy = new Map<string, number>();
  for (const { body } of ofType(history, 'recourse.recoveries', 'LegDispatched')) {
    const callId = text(nested(body, 'call'), 'call_id');
    answerBy.set(callId, Math.max(answerBy.get(callId) ?? 0, number(body, 'answer_by')));
  }
  for (const { by, callId, at, transactionId } of history.world.provider.effects) {
    const until = answerBy.get(callId);
    if (by === 'worker' && until !== undefined && at > until)
      broken(
        history,
        'P6',
        'lease',
        `${transactionId} was undone ${String(at - until)} ms after its last lease was over`,
      );
  }
}

/** A change that was there when a leg looked stops it; one between look and act is the gap the contract names. */
export function checkChanged(history: History): void {
  const { effects, calls, transactions } = history.world.provider;
  for (const effect of effects) {
    const transaction = transactions.get(effect.transactionId);
    const changedAt = transaction?.changedAt ?? null;
    if (effect.by !== 'worker' || changedAt === null || changedAt > effect.order) continue;
    const looked = calls.findLast(
      (call) =>
        call.phase === 'stale_check' &&
        call.callId === effect.callId &&
        call.worker === effect.worker &&
        call.order < effect.order,
    );
    if (looked === undefined || looked.order > changedAt)
      broken(
        history,
        'P7',
        'changed',
        `${effect.transactionId} was changed by a person and then undone by ${effect.worker}`,
      );
  }
}
