// What records of triggers say, as series: what became of them, what people said of them (E42), and breakers that opened.
//
// Boundary: pure. Anybody can name a source, so names are in the report and not in labels.
import { recordIn } from '@recourse/messages';
import type { DecodedBody, LimitScope } from '@recourse/messages';
import { MUTATIONS_LOG } from '../record.messages.js';

/** What became of a trigger, or was said of it. */
export const TRIGGER_OUTCOMES = ['opened', 'held', 'redundant', 'confirmed', 'rejected'] as const;
export type TriggerOutcome = (typeof TRIGGER_OUTCOMES)[number];

/** One value of one series. */
export type TriggerMeasure =
  | { readonly series: 'triggers'; readonly outcome: TriggerOutcome }
  | { readonly series: 'breakersOpened'; readonly scope: LimitScope };

/** Null for a record that is about no trigger. A trigger counts once: where it was admitted, not where what it waited for is marked. Pure. */
export function triggerMeasure(record: DecodedBody): TriggerMeasure | null {
  const { type, body } = recordIn(MUTATIONS_LOG, record);
  switch (type) {
    case 'MutationRolledBack':
    case 'CheckpointRolledBack':
      return body.admission.was_remembered ? null : { series: 'triggers', outcome: 'opened' };
    case 'TriggerUnmatched':
      return { series: 'triggers', outcome: 'opened' };
    case 'TriggerHeld':
      return { series: 'triggers', outcome: 'held' };
    case 'TriggerRedundant':
      return { series: 'triggers', outcome: 'redundant' };
    case 'SourceJudged':
      return { series: 'triggers', outcome: body.confirmed ? 'confirmed' : 'rejected' };
    case 'BreakerOpened':
      return { series: 'breakersOpened', scope: body.scope };
    default:
      return null;
  }
}
