// What reads of lineage take from the text of a row.
import { describe, expect, it } from '@jest/globals';
import { encodeDoc } from '@recourse/event-log';
import { REATTACHED_MARK } from './lineage-statements.js';

const row = (reattached: readonly object[], objective = ''): Buffer =>
  encodeDoc({ commit_id: 'c', checkpoint: { objective }, reattached, updated_at: 1 });

describe('the row of a commit', () => {
  it('has the mark of one that was reattached, whatever it was reattached to, and no other row has', () => {
    expect(row([{ fallen: { run_id: 'r', commit_id: 'a' }, parent: null }]).includes(REATTACHED_MARK)).toBe(true);
    expect(row([]).includes(REATTACHED_MARK)).toBe(false);
    expect(row([], `a text with ${REATTACHED_MARK} in it`).includes(REATTACHED_MARK)).toBe(false);
  });
});
