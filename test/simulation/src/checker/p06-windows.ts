// P6: nothing happens after a window has expired, by the database's clock. P7: what somebody else changed is never overwritten.
import { broken, nested, number, ofType, text } from './history.js';
import type { History } from './history.js';

export function checkWindows(history: History): void {
  const expiry = new Map(ofType(history, 'recourse.recoveries', 'LegDispatched').map(({ body }) => [text(nested(body, 'call'), 'call_id'), number(nested(body, 'ref'), 'reversal_expires_at')]));
  for (const { by, callId, at, transactionId } of history.world.provider.effects) {
    const expiresAt = expiry.get(callId);
    if (by === 'worker' && expiresAt !== undefined && at > expiresAt) broken(history, 'P6', 'window', `${transactionId} was undone ${String(at - expiresAt)} ms after its window`);
  }
}

/** A change that was there when a leg looked stops it; one between look and act is the gap the contract names. */
export function checkChanged(history: History): void {
  const { effects, calls, transactions } = history.world.provider;
  for (const effect of effects) {
    const transaction = transactions.get(effect.transactionId);
    const changedAt = transaction?.changedAt ?? null;
    if (effect.by !== 'worker' || changedAt === null || changedAt > effect.order) continue;
    const looked = calls.findLast((call) => call.phase === 'stale_check' && call.callId === effect.callId && call.worker === effect.worker && call.order < effect.order);
    if (looked === undefined || looked.order > changedAt) broken(history, 'P7', 'changed', `${effect.transactionId} was changed by a person and then undone by ${effect.worker}`);
  }
}
