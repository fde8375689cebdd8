// P6: nothing happens after a window has expired, by the database's clock, and that clock alone judges. P7: what somebody else
// changed is never overwritten, and nobody is blamed for a change that was ours.
import { claimPlaceOf } from '../world.js';
import type { World } from '../world.js';
import { broken, list, nested, number, ofType, text, wireOf } from './history.js';
import type { History } from './history.js';

export function checkWindows(history: History): void {
  checkLeases(history);
  checkClock(history);
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

/** Each decision is made at a time that the database's clock showed a moment ago. */
function checkClock(history: History): void {
  const { astray } = history.world.decisionClock;
  const [first] = astray;
  if (first !== undefined)
    broken(
      history,
      'P6',
      'clock',
      `${String(astray.length)} decisions at a time the database did not show, the first in ${first.log}/${String(first.partition)}, ${String(first.byMs)} ms off`,
    );
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

/**
 * Who says that somebody else changed the resource is right, or the first to take the leg of a first attempt: who was not the
 * first, and every later attempt, looks back before it blames anybody. An effect that was told with arguments it did not have is
 * another than was recorded: who finds it standing with its own blames nobody for what we did.
 */
export function checkBlame(history: History): void {
  const { firstClaims, provider } = history.world;
  const sent = new Map(
    ofType(history, 'recourse.recoveries', 'LegDispatched').map(({ body }) => [text(body, 'step_id'), body]),
  );
  for (const { body, order } of wireOf(history, 'recourse.tool-results', 'LegReported')) {
    for (const report of list(body, 'steps')) {
      const leg = sent.get(text(report, 'step_id'));
      if (report['outcome'] !== 'stale' || leg === undefined) continue;
      const id = text(leg, 'external_transaction_ref');
      const attempt = number(body, 'attempt');
      if (isChanged(provider, id, order) || isStanding(provider, { id, attempt, order, worker: body['worker_id'] }))
        continue;
      const claim = leg['key_lifetime_ms'] === null ? text(report, 'step_id') : text(body, 'leg_id');
      if (attempt === 1 && firstClaims.get(claimPlaceOf(claim, 1)) === body['worker_id']) continue;
      broken(
        history,
        'P7',
        'blamed',
        `${text(body, 'worker_id')} found ${id} changed in attempt ${String(attempt)} of ${text(body, 'leg_id')}, and nobody else had changed it`,
      );
    }
  }
}

function isChanged({ effects, transactions }: World['provider'], id: string, until: number): boolean {
  const isTakenBack = effects.some((one) => one.by === 'person' && one.transactionId === id && one.order < until);
  return isTakenBack || (transactions.get(id)?.changedAt ?? Infinity) < until;
}

/** What a report was made from. */
interface Looked {
  readonly id: string;
  readonly attempt: number;
  readonly order: number;
  readonly worker: unknown;
}

/** The effect still stood when a worker looked at it last: what it saw was not done by us. */
function isStanding({ calls }: World['provider'], { id, attempt, order, worker }: Looked): boolean {
  const looked = calls.findLast(
    (call) =>
      call.phase === 'stale_check' &&
      call.transactionId === id &&
      call.attempt === attempt &&
      call.worker === worker &&
      call.order < order,
  );
  return looked?.statusSeen === 'issued';
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
