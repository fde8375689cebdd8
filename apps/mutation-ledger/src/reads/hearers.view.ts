// Who would be waited for, were a commit rolled back: by the subscriptions that stand now.
import { entryView } from '@recourse/contract';
import type { ServiceContext } from '@recourse/service';
import { dueConsumers } from '../rules/consumer/due.decider.js';
import type { HearersOf } from '../rules/lineage-view/preview.decisions.js';

/** Null where nobody can say. */
export async function hearersNow(service: ServiceContext, now: number): Promise<HearersOf | null> {
  const entries = (await service.view?.(entryView.name)) ?? null;
  return entries === null
    ? null
    : ({ tenant, agent, run_id, subject_ref }) =>
        dueConsumers(entries, { tenant, agent: agent ?? '', run: run_id, subject: subject_ref ?? '' }, now).map(
          ({ consumer }) => consumer,
        );
}
