// Trust: what a source says on a wire rolls back by itself only while people's words give it the weight; told from the log alone.
import { TRUSTED_FROM } from '../world.js';
import { broken, nested, number, ofType, text } from './history.js';
import type { History } from './history.js';

/** What a source weighs that nobody registered or judged, thousandths. */
const STRANGER = 500;
/** Records of triggers that were admitted. */
const ADMITTED = ['MutationsFell', 'CheckpointRolledBack', 'TriggerUnmatched'] as const;

export function checkTrust(history: History): void {
  if (!history.world.options.profile.isCareful) return;
  const weights = new Map<string, number>();
  const told = ofType(history, 'recourse.mutations', ...ADMITTED, 'SourceJudged');
  for (const { type, body, partition } of told.filter(
    ({ body }) => nested(body, 'admission')['was_remembered'] !== true,
  )) {
    const source = `${String(partition)} ${text(body, 'tenant')} ${text(type === 'SourceJudged' ? body : nested(body, 'evidence'), 'source')}`;
    if (type === 'SourceJudged') {
      weights.set(source, number(body, 'weight_permille'));
      continue;
    }
    const evidence = nested(body, 'evidence');
    // Lineage comes with its root; no wire can say it.
    const isOfWire = number(evidence, 'partition') >= 0 && evidence['kind'] !== 'lineage';
    if (
      isOfWire &&
      nested(body, 'admission')['confirmed_by'] === null &&
      (weights.get(source) ?? STRANGER) < TRUSTED_FROM
    )
      broken(
        history,
        'P3',
        'trust',
        `${text(body, 'rollback_id')} fell on the word of ${text(evidence, 'source')} alone, which nobody trusts`,
      );
  }
}
