// A person closes a breaker on all partitions: one that is refused keeps no other one open.
import { describe, expect, it } from '@jest/globals';
import { ApiProblem } from '../api/problem.js';
import { closeEach, closingOf } from './breaker.rules.js';

describe('closing a breaker', () => {
  it('names a run that no address can hold in the body', () => {
    expect(closingOf('run-1', 'why')).toEqual({ run_id: 'run-1', body: { reason: 'why' } });
    for (const run of ['.', '..'])
      expect(closingOf(run, 'why')).toEqual({ run_id: 'in-body', body: { reason: 'why', run_id: run } });
    expect(closingOf('...', 'why').body).toEqual({ reason: 'why' });
  });

  it('goes on behind one that is refused, and tells each that was', async () => {
    const asked: string[] = [];
    const close = (run: string): Promise<'done'> => {
      asked.push(run);
      if (run === 'b') return Promise.resolve('done');
      return Promise.reject(new ApiProblem('NOT_FOUND', 404, `no ${run}`));
    };
    await expect(closeEach(['a', 'b', 'c'], close)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      detail: '2 of 3 stay open.',
      problems: [
        { path: 'a', message: 'NOT_FOUND: no a' },
        { path: 'c', message: 'NOT_FOUND: no c' },
      ],
    });
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(await closeEach(['b'], close)).toBe('done');
  });
});
