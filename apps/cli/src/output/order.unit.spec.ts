import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';
import { byTime } from './order.js';

const AT = Date.parse('2030-05-02T10:00:00Z');

describe('a list in the order of its time', () => {
  it('has the earliest first, and last what has none', () => {
    const items = [{ id: 'none' }, { id: 'late', at: 2 }, { id: 'early', at: 1 }, { id: 'null', at: null }];
    const { items: ordered, more } = byTime({ items, more: true }, 'at');
    expect(ordered.map(({ id }) => id)).toEqual(['early', 'late', 'none', 'null']);
    expect(more).toBe(true);
  });

  it.each([
    [['undos', 'list'], '/v1/undos', 'undo_id', 'opened_at'],
    [['recoveries', 'list'], '/v1/recoveries', 'recovery_id', 'deadline_at'],
    [['recoveries', 'list', '--state', 'open'], '/v1/reviews', 'step_id', 'deadline_at'],
    [['tasks', 'list'], '/v1/tasks', 'task_id', 'deadline_at'],
    [['commits', 'list'], '/v1/commits', 'commit_id', 'recorded_at'],
    [['approvals', 'list'], '/v1/forward-approvals', 'approval_id', 'requested_at'],
  ])('is that of %j', async (args, path, id, time) => {
    const items = [
      { [id]: 'the-later', [time]: AT + 1 },
      { [id]: 'the-earlier', [time]: AT },
    ];
    const { call, out } = desk(({ pathname }) => (pathname === path ? Response.json({ items }) : undefined));
    expect(await call(...args)).toBe(0);
    expect(out()).toMatch(/the-earlier[^]*the-later/u);
  });
});

describe('the list of parked records', () => {
  const parked = (id: string, offset: number, parked_at: number) => ({
    parked_id: id,
    topic: 'recourse.tool-executions',
    partition: 3,
    offset,
    parked_at,
  });

  it('says when each was parked and where it stood, the earliest of all services first, and that there are more', async () => {
    const { call, out } = desk(({ host, pathname }) => {
      const name = host.split('.')[0] ?? '';
      if (pathname === '/v1/status') return Response.json({ logs: [name] });
      const found = { ledger: [parked('p-late', 12, AT + 1)], recoveries: [parked('p-early', 41, AT)] }[name] ?? [];
      return Response.json({ items: found });
    });
    expect(await call('parked', 'list')).toBe(0);
    expect(out()).toMatch(/PARKED AT[^]*PARTITION +OFFSET[^]*p-early.*2030-05-02 10:00:00Z.* 3 +41 [^]*p-late/u);
    expect(await call('parked', 'list', '--limit', '1')).toBe(0);
    expect(out()).toContain('raise --limit');
  });
});
