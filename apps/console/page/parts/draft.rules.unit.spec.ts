// Whose a draft is, and which ones go when their person signs out.
import { describe, expect, it } from '@jest/globals';
import { draftKey, draftsIn } from './draft.rules.js';

describe('what somebody typed', () => {
  it('is kept for them alone, and goes when they sign out', () => {
    const people = [
      { tenant: 'acme', subject: 'mira' },
      { tenant: 'acme', subject: 'olga' },
      { tenant: 'globex', subject: 'mira' },
    ];
    const keys = people.map((person) => draftKey(person, 'switch.acme.stop-tenant'));
    expect(new Set(keys).size).toBe(people.length);
    expect(draftsIn([...keys, 'recourse.theme'])).toEqual(keys);
  });
});
