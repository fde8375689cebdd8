// Who may do something about a parked record.
import { expect, it } from '@jest/globals';
import { parkedVerbs } from './parked.verbs.js';

it('a parked record is taken again or discarded by an administrator alone; who only reads is told so', () => {
  const blocked = (...roles: string[]) => parkedVerbs('ledger', 'p', roles).map((verb) => verb.blocked ?? null);
  expect(blocked('administrator')).toEqual([null, null]);
  expect(blocked('auditor')).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining('it takes administrator')),
  );
});
