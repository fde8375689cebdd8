// A person's word on what an agent has earned: frozen where it may rise, let go where it is frozen.
import { budgets, commanded } from '../api/clients.js';
import type { Row } from '../api/shapes.js';
import { stillAs } from '../parts/held.rules.js';
import type { Verb } from '../parts/verb.js';
import { at, forRoles } from './verbs.js';

const DECIDERS = ['approver', 'administrator'] as const;

/** Is it as somebody read it? Who froze it, and when, says whether a click freezes or lets go. */
export function isSameStanding(seen: Row, now: Row): boolean {
  return JSON.stringify(heldTo(seen)) === JSON.stringify(heldTo(now));
}

const heldTo = (row: Row): unknown => [row['frozen_by'] ?? null, row['frozen_at'] ?? null];

interface Standing {
  /** As its person read it. */
  readonly seen: Row;
  readonly id: string;
  readonly read: () => Promise<Row | undefined>;
}

/** What somebody with these roles may say of it, as they read it. */
export function standingVerb({ seen, id, read }: Standing, roles: readonly string[]): readonly Verb[] {
  const still = stillAs(seen, { read, isSame: isSameStanding });
  return (seen['frozen_by'] ?? null) === null
    ? forRoles([{ ...freeze(id), still }], ['operator', ...DECIDERS], roles)
    : forRoles([{ ...unfreeze(id), still }], DECIDERS, roles);
}

const freeze = (id: string): Verb => ({
  name: 'Freeze',
  happens: ['The agent rises no further at this kind of task. It may still fall.', 'What it does meanwhile goes on.'],
  send: ({ reason, key }) => commanded(budgets.POST('/v1/autonomy/{id}/freeze', { ...at(id, key), body: { reason } })),
});

const unfreeze = (id: string): Verb => ({
  name: 'Unfreeze',
  isMain: true,
  happens: ['The agent rises again as far as its score reaches, at the next signal or judgement.'],
  send: ({ reason, key }) =>
    commanded(budgets.POST('/v1/autonomy/{id}/unfreeze', { ...at(id, key), body: { reason } })),
});
