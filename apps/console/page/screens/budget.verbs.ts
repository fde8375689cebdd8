// What may be done about a question of the accountant: let it through, raise the ceiling for it alone, refuse it.
import { budgets, commanded } from '../api/clients.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Said, Verb } from '../parts/decision.tsx';
import { raisesOf, wordOf } from './budget.rules.js';
import { at, digestIn } from './verbs.js';

export function budgetVerbs(row: Row): readonly Verb[] {
  if (textIn(row, 'phase') !== 'open') return [];
  const id = textIn(row, 'escalation_id') ?? '';
  const say =
    (word: Parameters<typeof wordOf>[1]) =>
    ({ reason, key }: Said) =>
      commanded(
        budgets.POST('/v1/escalations/{id}/decide', {
          ...at(id, key),
          body: { ...wordOf(digestIn(row), word), reason },
        }),
      );
  const raises = raisesOf(row);
  return [
    {
      name: 'Allow',
      key: 'a',
      isMain: true,
      happens: ['The action may exceed the ceiling this once. Its debt counts against the ceiling: others have less.'],
      send: say('allow'),
    },
    {
      name: 'Raise once',
      blocked: raises.length === 0 ? 'It exceeds no ceiling that could be raised.' : null,
      happens: [
        'The action may go on, once.',
        ...raises,
        'Nobody else has less. Whoever may set these ceilings may do this.',
      ],
      send: say('raise once'),
    },
    {
      name: 'Refuse',
      key: 'd',
      happens: ['The action is not done; what was set aside for it is released.'],
      send: say('refuse'),
    },
  ];
}
