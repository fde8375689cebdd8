// What would fall, added up, as fields: of a commit that is rolled back, and of a fact that turns out false.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { instant, minorUnits } from '../output/table.js';

/** Fields of a fall. */
export function fallFields(told: Doc): readonly (readonly [string, unknown])[] {
  const [falls, subjects, beyond] = [docOf(told['falls']), docOf(told['subjects']), docOf(told['beyond_bound'])];
  const money = docsIn(told['money']).map(
    (sum) =>
      `${minorUnits(sum['amount_minor'], sum['currency']) ?? String(sum['amount_minor'])} in ${String(sum['mutations'])}`,
  );
  const consumers = docsIn(told['consumers']).map((one) => `${String(one['consumer'])} (${String(one['commits'])})`);
  return [
    ['would fall', falls['commits']],
    ['with an effect', falls['with_effect']],
    ['without one', falls['without_effect']],
    ['runs', falls['runs']],
    ['fell already', told['fallen_already']],
    ['money', money],
    ['subjects', subjects['count']],
    ['such as', subjects['first']],
    ['consumers', told['consumers'] === null ? 'not known' : consumers],
    ['bound', instant(told['bound_at'])],
    ['beyond the bound', beyond['commits']],
    ['incomplete', told['truncated'] === true ? 'there are more commits than were looked at' : null],
  ];
}

function docsIn(value: unknown): readonly Doc[] {
  return Array.isArray(value) ? value.map(docOf) : [];
}
