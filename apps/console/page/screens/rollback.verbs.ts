// What may be done about a trigger that is held, and about a commit that only a person judges.
import { commanded, ledger } from '../api/clients.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { at, plain } from './verbs.js';

export function rollbackVerbs(row: Row, id: string): readonly Verb[] {
  const isBeyond = row['beyond'] !== null && row['beyond'] !== undefined;
  return isBeyond ? [judge(id)] : [confirm(id), reject(id)];
}

function judge(id: string): Verb {
  return {
    name: 'Judge',
    isMain: true,
    happens: ['The commit stands, or falls with everything built on it, as you say.'],
    choices: [
      {
        name: 'verdict',
        label: 'The commit',
        options: [
          ['stands', 'stands'],
          ['rolled_back', 'falls'],
        ],
      },
    ],
    send: ({ reason, fields, key }) => {
      const verdict = fields['verdict'] === 'rolled_back' ? 'rolled_back' : 'stands';
      return commanded(ledger.POST('/v1/rollbacks/{id}/review', { ...at(id, key), body: { verdict, reason } }));
    },
  };
}

const CONFIRMING = [
  'The commit falls, and everything that stands on it. Consumers are told.',
  'Each effect is compensated only as its contract says.',
];

function confirm(id: string): Verb {
  return plain('Confirm', CONFIRMING, ({ reason, key }) =>
    commanded(ledger.POST('/v1/rollbacks/{id}/confirm', { ...at(id, key), body: { reason } })),
  );
}

function reject(id: string): Verb {
  return {
    name: 'Reject',
    happens: ['The trigger counts for nothing; the commit stands. Its source loses trust where sources have it.'],
    send: ({ reason, key }) =>
      commanded(ledger.POST('/v1/rollbacks/{id}/reject', { ...at(id, key), body: { reason } })),
  };
}
