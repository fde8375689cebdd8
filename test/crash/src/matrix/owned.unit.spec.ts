import { describe, expect, it } from '@jest/globals';
import { LISTS, openIn } from './owned.js';
import type { OpenList } from './owned.js';

const listAt = (path: string): OpenList => {
  const found = LISTS.find((list) => list.path === path);
  if (found === undefined) throw new Error(`no list ${path}`);
  return found;
};
const OWNED = { owner: 'approver', deadline_at: 1_000 };

describe('what the services list as open', () => {
  it.each([
    ['/v1/steps', { step_id: 's', phase: 'dispatched' }],
    ['/v1/rollbacks', { rollback_id: 'r', phase: 'opened' }],
    ['/v1/escalations', { escalation_id: 'e', phase: 'open' }],
  ])('has an owner and a deadline in %s', (path, row) => {
    expect(openIn(listAt(path), [{ ...row, ...OWNED }])).toEqual({ open: 1, problems: [] });
    expect(openIn(listAt(path), [{ ...row, ...OWNED, owner: '' }]).problems).toHaveLength(1);
    expect(openIn(listAt(path), [{ ...row, ...OWNED, deadline_at: null }]).problems).toHaveLength(1);
  });

  it('says of an execution without an end who is to tell it', () => {
    const row = { mutation_id: 'm', execution_state: 'started' };
    expect(openIn(listAt('/v1/mutations'), [{ ...row, awaited: OWNED }])).toEqual({ open: 1, problems: [] });
    expect(openIn(listAt('/v1/mutations'), [{ ...row, awaited: null }]).problems).toHaveLength(1);
  });

  it('needs none at rest', () => {
    expect(openIn(listAt('/v1/steps'), [{ step_id: 's', phase: 'compensated' }])).toEqual({ open: 0, problems: [] });
    expect(openIn(listAt('/v1/mutations'), [{ mutation_id: 'm', execution_state: 'succeeded' }])).toEqual({
      open: 0,
      problems: [],
    });
  });
});
