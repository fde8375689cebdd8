import { describe, expect, it } from '@jest/globals';
import type { Excess } from '@recourse/messages';
import { exceededText } from './exceeded.js';

const bound = (more: Partial<Excess>): Excess => ({
  scope: 'capability',
  scope_id: 'mail.send',
  measure: 'calls',
  currency: '',
  window: 'life',
  used_minor: 2,
  asked_minor: 1,
  ceiling_minor: 2,
  ...more,
});

describe('a bound that a call would exceed', () => {
  it.each([
    [{}, 'calls of capability mail.send: 2 used, 1 asked, at most 2'],
    [{ measure: 'subjects' }, 'subjects of capability mail.send: 2 used, 1 asked, at most 2'],
    [
      { measure: 'value', currency: 'INR', used_minor: 40_000, asked_minor: 20_000, ceiling_minor: 50_000 },
      'value of capability mail.send: 40000 used, 20000 asked, at most 50000, in minor units of INR',
    ],
    [
      { measure: 'scope', used_minor: 0, asked_minor: 1, ceiling_minor: 0 },
      'scope of capability mail.send: it reaches tenant, at most single_subject',
    ],
    [
      { scope: 'run', scope_id: 'run-1', measure: 'debt', currency: 'comms', window: 'day' },
      'debt of run run-1 per day: 2 used, 1 asked, at most 2, in minor units of comms',
    ],
    [{ scope: 'run', scope_id: 'run-1', measure: 'overrun', used_minor: 1 }, 'overrun of run run-1'],
    [{ scope: 'run', scope_id: 'run-1', measure: 'regulatory' }, 'regulatory of run run-1'],
  ])('is named with what is used of it: %j', (more, text) => {
    expect(exceededText([bound(more)])).toBe(text);
  });

  it('is one of several', () => {
    expect(exceededText([bound({}), bound({ measure: 'subjects' })])?.split('; ')).toHaveLength(2);
    expect(exceededText([])).toBeNull();
    expect(exceededText(undefined)).toBeNull();
  });
});
