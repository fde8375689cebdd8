// Who would be waited for, were commits rolled back: by the subscriptions that stand now.
import { setImmediate as others } from 'node:timers/promises';
import { entryView, subscriptionsOf } from '@recourse/contract';
import type { ServiceContext } from '@recourse/service';
import { Hearers } from '../rules/consumer/hearers.decisions.js';
import type { HearersOf, Reached } from '../rules/lineage-view/preview.decisions.js';

/** Commits that are looked at before others have their turn: a closure has hundreds of thousands, and the process has one loop. */
const AT_ONCE = 2_000;

/** Who hears of these commits; null where nobody can say. Subscriptions of a tenant are read once. */
export async function hearersNow(
  service: Pick<ServiceContext, 'view'>,
  reached: readonly Reached[],
): Promise<HearersOf | null> {
  const entries = (await service.view?.(entryView.name)) ?? null;
  if (entries === null) return null;
  const ofTenant = new Map<string, Hearers>();
  const listOf = new Map<string, readonly string[]>();
  for (const [at, { id, tenant, agent, run_id: run, subject_ref: subject }] of reached.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await others();
    const hearers = ofTenant.get(tenant) ?? new Hearers(subscriptionsOf(entries, tenant));
    ofTenant.set(tenant, hearers);
    listOf.set(id, hearers.of({ tenant, agent: agent ?? '', run, subject: subject ?? '' }));
  }
  return ({ id }) => listOf.get(id) ?? [];
}
