import { describe, expect, it } from '@jest/globals';
import { pageCursorText } from '@recourse/service';
import type { Caller, Reads } from '@recourse/service';
import type { RecoveryQueries } from '../reads/recovery-queries.js';
import { TIMED } from '../reads/recovery-statements.js';
import { timedList } from './timed-list.js';

const CALLER = { principal: { subject: 'pia', tenant: 'acme', roles: ['viewer'] } } as unknown as Caller; // what a list reads of one
const WHERE = { phase: 'manual' };

function listed(place: readonly unknown[]): Promise<unknown> {
  const queries = { timed: () => Promise.resolve([]) } as unknown as RecoveryQueries; // no more is asked
  const reads = { shown: () => Promise.resolve({ docs: [] }) } as unknown as Reads; // no more is asked
  const list = { list: 'step', by: TIMED.step, where: { ...WHERE, tenant: 'acme' } };
  return timedList({ reads, queries }, CALLER, { kind: 'step', where: WHERE, cursor: pageCursorText(list, place) });
}

describe('a list in the order of time', () => {
  it('goes on behind a place that a row may have', async () => {
    expect(await listed([7, 2 ** 31 - 1, 'run-1', 'step_1'])).toEqual({ items: [], next_cursor: null });
  });

  it.each([
    ['a partition beyond the last', [7, 2 ** 31, 'run-1', 'step_1']],
    ['a partition below the first', [7, -1, 'run-1', 'step_1']],
    ['a key with a NUL', [7, 0, 'run-1', 'step\u0000']],
  ])('is refused with a place that no row has, and the database is not asked: %s', async (_name, place) => {
    await expect(Promise.resolve().then(() => listed(place))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ code: 'CURSOR_INVALID' }],
    });
  });
});
