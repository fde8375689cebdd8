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
    [['tasks', 'list'], '/v1/tasks', 'task_id', 'deadline_at'],
    [['commits', 'list'], '/v1/commits', 'commit_id', 'recorded_at'],
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

describe('a list of what waits', () => {
  const waiting = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ task_id: `task-${String(at)}`, deadline_at: AT - at }));
  /** A service that gives its pages by partition: what is soonest stands last. */
  const served = (count: number) =>
    desk(({ pathname, path }) => {
      if (pathname !== '/v1/tasks') return undefined;
      const asked = new URL(path, 'http://recoveries.test').searchParams;
      const from = Number(asked.get('cursor') ?? 0);
      const to = from + Number(asked.get('limit'));
      return Response.json({ items: waiting(count).slice(from, to), next_cursor: to < count ? String(to) : null });
    });
  const listed = async ({ call, out }: ReturnType<typeof desk>, limit: number): Promise<unknown> => {
    expect(await call('tasks', 'list', '--limit', String(limit), '--json')).toBe(0);
    return JSON.parse(out());
  };

  it('has the soonest of all pages first, however few are asked for', async () => {
    expect(await listed(served(1_200), 2)).toEqual({
      items: [
        { task_id: 'task-1199', deadline_at: AT - 1_199 },
        { task_id: 'task-1198', deadline_at: AT - 1_198 },
      ],
      more: true,
    });
    expect(await listed(served(2), 2)).toMatchObject({ more: false });
  });

  it('says how many were looked through where those were not all', async () => {
    const many = served(10_001);
    expect(await listed(many, 1)).toMatchObject({
      items: [{ task_id: 'task-9999' }],
      more: true,
      looked_through: 10_000,
    });
    await many.call('tasks', 'list', '--limit', '1');
    expect(many.out()).toContain('only 10000 were looked through, and others may be earlier: narrow the list');
  });

  it.each([
    [['recoveries', 'list', '--state', 'open'], '/v1/reviews', 'step_id'],
    [['reviews', 'list'], '/v1/reviews', 'step_id'],
    [['approvals', 'list'], '/v1/forward-approvals', 'approval_id'],
  ])('is as the service orders it, and no longer than asked for: %j', async (args, path, id) => {
    const items = [{ [id]: 'the-first' }, { [id]: 'the-second' }];
    const { call, out, paths } = desk(({ pathname }) =>
      pathname === path ? Response.json({ items, next_cursor: 'next' }) : undefined,
    );
    expect(await call(...args, '--limit', '2')).toBe(0);
    expect(out()).toMatch(/the-first[^]*the-second[^]*raise --limit/u);
    expect(paths()).toEqual([expect.stringContaining('limit=2')]);
  });
});

describe('a list that only grows', () => {
  it('is looked through as far as is asked for, and says that others may be earlier', async () => {
    const items = [
      { commit_id: 'the-later', recorded_at: AT + 1 },
      { commit_id: 'the-earlier', recorded_at: AT },
    ];
    const { call, out, paths } = desk(() => Response.json({ items, next_cursor: 'next' }));
    expect(await call('commits', 'list', '--limit', '2')).toBe(0);
    expect(out()).toMatch(/the-earlier[^]*the-later[^]*only 2 were looked through/u);
    expect(paths()).toEqual(['/v1/commits?limit=2']);
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

  it('has the earliest first, however few are asked for', async () => {
    const all = [parked('p-late', 1, AT + 1), parked('p-early', 2, AT)];
    const { call, out } = desk(({ host, pathname, path }) => {
      if (pathname === '/v1/status') return Response.json({ logs: host.startsWith('ledger') ? ['ledger'] : [] });
      const limit = Number(new URL(path, 'http://ledger.test').searchParams.get('limit'));
      return Response.json({ items: all.slice(0, limit), next_cursor: limit < all.length ? 'next' : null });
    });
    expect(await call('parked', 'list', '--limit', '1')).toBe(0);
    expect(out()).toContain('p-early');
    expect(out()).not.toContain('p-late');
  });
});
