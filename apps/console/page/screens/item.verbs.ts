// What may be done about each kind of item that is no step of a recovery: where it is read, and the commands that end it.
import { budgets, commanded, ledger, recoveries } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import type { Row } from '../api/shapes.js';
import { listIn, textIn } from '../api/rows.js';
import type { Verb } from '../parts/verb.js';
import { breakerVerbs, readBreaker } from './breaker.verbs.js';
import { questionOf, questionsOf } from './budget.rules.js';
import { budgetVerbs } from './budget.verbs.js';
import { rollbackVerbs } from './rollback.verbs.js';
import { at, digestIn, plain } from './verbs.js';

interface Answered {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

interface Place {
  readonly edge: EdgeName;
  readonly read: (id: string, run: string) => Promise<Answered>;
  readonly verbs: (row: Row, id: string, run: string) => readonly Verb[];
}

const path = (id: string) => ({ params: { path: { id } } });

const readMutation: Place['read'] = (id) => ledger.GET('/v1/mutations/{id}', path(id));

const SETTLE: Place['verbs'] = (_row, id) => [
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

const FORWARD: Place['verbs'] = (row, id) => [
  {
    ...plain(
      'Approve',
      ['The agent may do exactly this, once.', 'You agree to what is on the screen and to nothing else.'],
      ({ reason, key }) =>
        commanded(
          recoveries.POST('/v1/forward-approvals/{id}/approve', {
            ...at(id, key),
            body: { action_digest: digestIn(row), reason },
          }),
        ),
    ),
    key: 'a',
  },
  {
    name: 'Deny',
    key: 'd',
    happens: ['The agent is told no and does not act.'],
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/forward-approvals/{id}/deny', {
          ...at(id, key),
          body: { action_digest: digestIn(row), reason },
        }),
      ),
  },
];

/** Items of a budget go by their reservation; people decide about the question of it. Some are of no run. */
const readEscalation: Place['read'] = async (id, run) => {
  for (const query of questionsOf(run)) {
    const asked: Answered = await budgets.GET('/v1/escalations', { params: { query } });
    if (!asked.response.ok) return asked;
    const question = questionOf(id, asked.data);
    if (question !== null) return budgets.GET('/v1/escalations/{id}', path(question));
  }
  return missing();
};

/** The one of a list that holds the id. */
function inList(call: Place['read'], column: string): Place['read'] {
  return async (id, run) => {
    const { data, ...rest } = await call(id, run);
    if (!rest.response.ok) return rest;
    const row = listIn(data, 'items').find((item) => textIn(item, column) === id);
    return row === undefined ? missing() : { ...rest, data: row };
  };
}

/** As a service answers of what it has not. */
function missing(): Answered {
  return { error: { code: 'NOT_FOUND' }, response: new Response(null, { status: 404 }) };
}

export const PLACES: Readonly<Record<string, Place>> = {
  rollback: { edge: 'ledger', read: (id) => ledger.GET('/v1/rollbacks/{id}', path(id)), verbs: rollbackVerbs },
  task: {
    edge: 'recoveries',
    read: (id) => recoveries.GET('/v1/tasks/{id}', path(id)),
    verbs: (_row, id) => [
      {
        name: 'Close the task',
        isMain: true,
        happens: ['The task is closed with what you say was done. Nothing is called.'],
        choices: [
          {
            name: 'outcome',
            label: 'It was',
            options: [
              ['done', 'done'],
              ['dropped', 'dropped'],
            ],
          },
        ],
        notes: [{ name: 'content', label: 'What was done, and what shows it' }],
        send: ({ reason, fields, key }) =>
          commanded(
            recoveries.POST('/v1/tasks/{id}/close', {
              ...at(id, key),
              body: {
                outcome: fields['outcome'] === 'dropped' ? 'dropped' : 'done',
                content: { message: fields['content'] ?? '' },
                reason,
              },
            }),
          ),
      },
    ],
  },
  incident: {
    edge: 'recoveries',
    read: (id) => recoveries.GET('/v1/incidents/{id}', path(id)),
    verbs: (_row, id) => [
      {
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
      },
    ],
  },
  forward_approval: {
    edge: 'recoveries',
    read: (id) => recoveries.GET('/v1/forward-approvals/{id}', path(id)),
    verbs: FORWARD,
  },
  budget: { edge: 'budgets', read: readEscalation, verbs: budgetVerbs },
  breaker: { edge: 'ledger', read: readBreaker, verbs: breakerVerbs },
  execution: { edge: 'ledger', read: readMutation, verbs: SETTLE },
  exposure: { edge: 'ledger', read: readMutation, verbs: SETTLE },
  escalated: { edge: 'ledger', read: readMutation, verbs: SETTLE },
  window: { edge: 'ledger', read: readMutation, verbs: () => [] },
  delivery: {
    edge: 'ledger',
    read: inList(
      (_id, run) => ledger.GET('/v1/deliveries', { params: { query: { run_id: run, limit: 500 } } }),
      'delivery_id',
    ),
    verbs: (_row, id) => [
      plain(
        'I have dealt with it',
        ['The item is closed. The consumer is still owed the notice and may still answer.'],
        ({ reason, key }) => commanded(ledger.POST('/v1/deliveries/{id}/review', { ...at(id, key), body: { reason } })),
      ),
    ],
  },
  divergence: {
    edge: 'ledger',
    read: inList(
      () => ledger.GET('/v1/reconciliations/divergences', { params: { query: { limit: 500 } } }),
      'divergence_id',
    ),
    verbs: (_row, id) => [
      plain(
        'I have dealt with it',
        ['The item is closed; the next comparison shows whether the runtime follows.'],
        ({ reason, key }) =>
          commanded(ledger.POST('/v1/reconciliations/divergences/{id}/review', { ...at(id, key), body: { reason } })),
      ),
    ],
  },
  trend: {
    edge: 'ledger',
    read: inList(() => ledger.GET('/v1/trends', { params: { query: { limit: 500 } } }), 'trend_id'),
    verbs: (_row, id) => [
      plain('I have looked at it', ['The item is closed; a further rise opens another.'], ({ reason, key }) =>
        commanded(ledger.POST('/v1/trends/{id}/review', { ...at(id, key), body: { reason } })),
      ),
    ],
  },
};
