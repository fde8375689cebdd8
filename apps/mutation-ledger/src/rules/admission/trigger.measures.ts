// What records of triggers say, as series: what became of them, what people said of them (E42), breakers that opened, and steady rises (E47).
//
// Boundary: pure. Anybody can name a source, so names are in the report and not in labels.
import { fallenIn, recordIn, rolledBackIn } from '@recourse/messages';
import type { DecodedBody, Fallen, LimitScope, TrendScope } from '@recourse/messages';
import { MUTATIONS_LOG } from '../record.messages.js';

/** What became of a trigger, or was said of it. */
export const TRIGGER_OUTCOMES = ['opened', 'held', 'redundant', 'confirmed', 'rejected'] as const;
export type TriggerOutcome = (typeof TRIGGER_OUTCOMES)[number];

/** One value of one series. */
export type TriggerMeasure =
  | { readonly series: 'triggers'; readonly outcome: TriggerOutcome }
  | { readonly series: 'breakersOpened'; readonly scope: LimitScope }
  | { readonly series: 'trendsRaised'; readonly scope: TrendScope };

/** What a record says of triggers. A trigger counts once: where it was admitted, not where what it waited for is marked. Pure. */
export function triggerMeasures(record: DecodedBody): readonly TriggerMeasure[] {
  const { type, body } = recordIn(MUTATIONS_LOG, record);
  switch (type) {
    case 'MutationsFell':
      return admitted(fallenIn(body));
    case 'CheckpointRolledBack':
      return admitted(rolledBackIn(body));
    case 'TriggerUnmatched':
      return [triggered('opened')];
    case 'TriggerHeld':
      return [triggered('held')];
    case 'TriggerRedundant':
      return [triggered('redundant')];
    case 'SourceJudged':
      return [triggered(body.confirmed ? 'confirmed' : 'rejected')];
    case 'BreakerOpened':
      return [{ series: 'breakersOpened', scope: body.scope }];
    case 'TrendRose':
      return [{ series: 'trendsRaised', scope: body.scope }];
    default:
      return [];
  }
}

function admitted(fallen: readonly Pick<Fallen, 'admission'>[]): readonly TriggerMeasure[] {
  return fallen.filter(({ admission }) => !admission.was_remembered).map(() => triggered('opened'));
}

function triggered(outcome: TriggerOutcome): TriggerMeasure {
  return { series: 'triggers', outcome };
}
