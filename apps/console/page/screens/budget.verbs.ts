// What may be said about a question of the accountant, as the question is.
import { budgets, commanded } from '../api/clients.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { waysOf, wordOf } from './budget.rules.js';
import { at, digestIn } from './verbs.js';

const KEYS = { allow: 'a', 'raise once': undefined, refuse: 'd' } as const;

export function budgetVerbs(row: Row): readonly Verb[] {
  const id = textIn(row, 'escalation_id') ?? '';
  // Somebody of all tenants says whose it is.
  const tenant = textIn(row, 'tenant');
  const whose = tenant === null ? {} : { tenant };
  return waysOf(row).map(({ word, ...way }) => {
    const key = KEYS[word];
    return {
      ...way,
      ...(key === undefined ? {} : { key }),
      isMain: word === 'allow',
      send: ({ reason, key: sentAs }) =>
        commanded(
          budgets.POST('/v1/escalations/{id}/decide', {
            ...at(id, sentAs),
            body: { ...wordOf(digestIn(row), word), ...whose, reason },
          }),
        ),
    };
  });
}
