// What may be done about a trigger that somebody judges, and about a commit that only a person judges.
import { commanded, ledger } from '../api/clients.js';
import { fieldIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { at, plain } from './verbs.js';

export function rollbackVerbs(row: Row, id: string): readonly Verb[] {
  const phase = textIn(row, 'phase');
  if (phase === 'beyond') return [judge(id)];
  const isJudged = (fieldIn(row, 'judged') ?? null) !== null;
  if (phase === 'reviewed' || isJudged) return [];
  return phase === 'held'
    ? [confirm(id, LETS_FALL), reject(id, KEEPS)]
    : [confirm(id, WAS_RIGHT), reject(id, WAS_WRONG)];
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

const LETS_FALL = [
  'The commit falls, and everything that stands on it. Consumers are told.',
  'Each effect is compensated only as its contract says.',
];
const KEEPS = ['The trigger counts for nothing; the commit stands. Its source loses trust where sources have it.'];

/** Of one that was let through: a word about it moves the trust in its source, and takes nothing back. */
const WAS_RIGHT = [
  'You say that the trigger was right: its source gains trust where sources have it. What fell stays so.',
];
const WAS_WRONG = [
  'You say that the trigger was wrong: its source loses trust where sources have it. What fell stays so.',
];

function confirm(id: string, happens: readonly string[]): Verb {
  return plain('Confirm', happens, ({ reason, key }) =>
    commanded(ledger.POST('/v1/rollbacks/{id}/confirm', { ...at(id, key), body: { reason } })),
  );
}

function reject(id: string, happens: readonly string[]): Verb {
  return {
    name: 'Reject',
    happens,
    send: ({ reason, key }) =>
      commanded(ledger.POST('/v1/rollbacks/{id}/reject', { ...at(id, key), body: { reason } })),
  };
}
