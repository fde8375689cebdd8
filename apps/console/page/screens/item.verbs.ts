// The commands that end each kind of item that is no step of a recovery, and who may give them.
//
// Boundary: the services decide, and let in (libs/service/src/edge/access.ts); what is not offered here would be refused there. Of what
// people are asked before more is spent or done, of tasks and of incidents they say themselves what is offered to whom.
import { commanded, ledger, recoveries } from '../api/clients.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { breakerVerbs } from './breaker.verbs.js';
import { budgetVerbs } from './budget.verbs.js';
import { FORWARD_VERBS } from './forward.verbs.js';
import { rollbackVerbs } from './rollback.verbs.js';
import { TASK_VERBS } from './task.verbs.js';
import { asOffered, at, forRoles, plain } from './verbs.js';
import type { Worded } from './verbs.js';

type VerbsOf = (row: Row, id: string) => readonly Verb[];

const SETTLE: VerbsOf = (row, id) =>
  row['awaited'] === null
    ? []
    : [
        {
          name: 'Settle',
          isMain: true,
          happens: ['What you say becomes the outcome of the action, under your name. Nothing is called.'],
          choices: [
            {
              name: 'as',
              label: 'What is so',
              options: [
                ['took_effect', 'it took effect'],
                ['not_done', 'it did not happen'],
                ['accepted', 'it stands, and that is accepted'],
                ['repaired', 'it was repaired by hand'],
              ],
            },
          ],
          send: ({ reason, fields, key }) =>
            commanded(
              ledger.POST('/v1/mutations/{id}/settle', {
                ...at(id, key),
                body: { settled_as: settledAs(fields['as']), reason },
              }),
            ),
        },
        {
          name: 'Find out again',
          happens: ['A worker looks how the action ended. Nothing is changed by looking.'],
          send: ({ reason, key }) =>
            commanded(ledger.POST('/v1/mutations/{id}/reconcile', { ...at(id, key), body: { reason } })),
        },
      ];

function settledAs(word: string | undefined): 'took_effect' | 'not_done' | 'accepted' | 'repaired' {
  if (word === 'took_effect' || word === 'not_done' || word === 'repaired') return word;
  return 'accepted';
}

const INCIDENT_VERBS: Worded = {
  close: (_row, id) => ({
    name: 'Close the incident',
    isMain: true,
    happens: ['The incident is over. What it was about stays as it is.'],
    notes: [{ name: 'summary', label: 'What happened, and what was learnt' }],
    send: ({ reason, fields, key }) =>
      commanded(
        recoveries.POST('/v1/incidents/{id}/close', {
          ...at(id, key),
          body: { summary: { message: fields['summary'] ?? '' }, reason },
        }),
      ),
  }),
};

const DEALT_WITH = 'I have dealt with it';

const REVIEW_DELIVERY: VerbsOf = (row, id) =>
  textIn(row, 'phase') !== 'overdue'
    ? []
    : [
        plain(
          DEALT_WITH,
          ['The item is closed. The consumer is still owed the notice and may still answer.'],
          ({ reason, key }) =>
            commanded(ledger.POST('/v1/deliveries/{id}/review', { ...at(id, key), body: { reason } })),
        ),
      ];

const REVIEW_DIVERGENCE: VerbsOf = (_row, id) => [
  plain(DEALT_WITH, ['The item is closed; the next comparison shows whether the runtime follows.'], ({ reason, key }) =>
    commanded(ledger.POST('/v1/reconciliations/divergences/{id}/review', { ...at(id, key), body: { reason } })),
  ),
];

const REVIEW_TREND: VerbsOf = (_row, id) => [
  plain('I have looked at it', ['The item is closed; a further rise opens another.'], ({ reason, key }) =>
    commanded(ledger.POST('/v1/trends/{id}/review', { ...at(id, key), body: { reason } })),
  ),
];

interface Ways {
  readonly verbs: VerbsOf;
  /** Who may give them. */
  readonly roles: readonly string[];
}

const ways = (verbs: VerbsOf, ...roles: readonly string[]): Ways => ({ verbs, roles });

const LOOKING = ['operator', 'approver', 'administrator'] as const;
const DECIDING = ['approver', 'administrator'] as const;
const SETTLING = ways(SETTLE, ...LOOKING);

const WAYS: Readonly<Record<string, Ways>> = {
  rollback: ways(rollbackVerbs, ...DECIDING),
  breaker: ways(breakerVerbs, 'operator', 'administrator'),
  execution: SETTLING,
  exposure: SETTLING,
  escalated: SETTLING,
  delivery: ways(REVIEW_DELIVERY, ...LOOKING),
  divergence: ways(REVIEW_DIVERGENCE, ...LOOKING),
  trend: ways(REVIEW_TREND, ...LOOKING),
};

/** Kinds of which the service says what whoever reads may do: nothing is decided here. */
const WORDED: Readonly<Record<string, (row: Row) => Worded>> = {
  task: () => TASK_VERBS,
  incident: () => INCIDENT_VERBS,
  forward_approval: () => FORWARD_VERBS,
  budget: budgetVerbs,
};

/** What somebody with these roles may do about an item, as it is; nothing once it is over. */
export function itemVerbs(kind: string, row: Row, id: string, roles: readonly string[]): readonly Verb[] {
  const worded = WORDED[kind];
  if (worded !== undefined) return asOffered(worded(row), row, id);
  const way = WAYS[kind];
  return way === undefined ? [] : forRoles(way.verbs(row, id), way.roles, roles);
}
