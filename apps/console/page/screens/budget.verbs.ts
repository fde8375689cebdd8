// How each word about a question of the accountant is sent, in the words of what the question is.
import { budgets, commanded } from '../api/clients.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { waysOf, wordOf } from './budget.rules.js';
import type { Way } from './budget.rules.js';
import { at, digestIn } from './verbs.js';
import type { Worded } from './verbs.js';

const KEYS = { approve: 'a', 'raise-once': undefined, deny: 'd' } as const;

/** Items of a budget go by their reservation, and their question by an id of its own. */
export function budgetVerbs(row: Row): Worded {
  return Object.fromEntries(waysOf(row).map((way) => [way.word, () => verbOf(row, way)]));
}

function verbOf(row: Row, { word, name, happens }: Way): ReturnType<Worded[string]> {
  const key = KEYS[word];
  // Somebody of all tenants says whose it is.
  const tenant = textIn(row, 'tenant');
  const whose = tenant === null ? {} : { tenant };
  return {
    name,
    happens,
    ...(key === undefined ? {} : { key }),
    isMain: word === 'approve',
    send: ({ reason, key: sentAs }) =>
      commanded(
        budgets.POST('/v1/escalations/{id}/decide', {
          ...at(textIn(row, 'escalation_id') ?? '', sentAs),
          body: { ...wordOf(digestIn(row), word), ...whose, reason },
        }),
      ),
  };
}
