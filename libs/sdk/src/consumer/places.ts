// Where a consumer stands, in its inbox: one place for each scope. A scope that is widened begins anew, and passes over what it knows has
// fallen; two subscriptions of one consumer stand beside each other.
//
// Boundary: names and keeps marks of an inbox session; what a place means is whose who reads.
import { isScope } from '@recourse/contract';
import { Failure } from '@recourse/kernel';
import type { Position } from '../stores/position-store.port.js';
import type { InboxSession } from './inbox.port.js';

/** Places have scopes in their names. */
const SCOPED = 'scoped';

/** The mark of a place that is kept for a scope. */
export function markOf(place: string, scope: string): string {
  return `${place}/${scope}`;
}

/** The place of one partition of the announcements. */
export function partitionPlace(partition: number): string {
  return `position/${String(partition)}`;
}

/** Errors: Failure(SUBSCRIPTION_INVALID) for a scope that covers nothing, or that no subscription has. */
export function refuseScope(scope: unknown): void {
  if (!isScope(scope))
    throw new Failure(
      'SUBSCRIPTION_INVALID',
      `${JSON.stringify(scope)} is no scope: it is a prefix of tenant/agent/run/subject, as it was registered`,
    );
}

/** Takes over, once, places that were kept without their scope: whoever reads on behind them reads on in this one. */
export async function adoptPlaces(
  session: Pick<InboxSession<unknown>, 'mark' | 'keepMark'>,
  scope: string,
  places: readonly string[],
): Promise<void> {
  if ((await session.mark(SCOPED)) !== null) return;
  for (const place of places) {
    const kept = await session.mark(place);
    if (kept !== null) await session.keepMark(markOf(place, scope), kept);
  }
  await session.keepMark(SCOPED, scope);
}

/** The position in a partition; null where it never was read in this scope. */
export async function positionIn<Tx>(
  session: InboxSession<Tx>,
  scope: string,
  partition: number,
): Promise<Position | null> {
  const text = await session.mark(markOf(partitionPlace(partition), scope));
  return text === null ? null : (JSON.parse(text) as Position); // keepPosition wrote it
}

export function keepPosition<Tx>(
  session: InboxSession<Tx>,
  { scope, partition }: { readonly scope: string; readonly partition: number },
  position: Position,
): Promise<void> {
  return session.keepMark(markOf(partitionPlace(partition), scope), JSON.stringify(position));
}
