import { describe, expect, it } from '@jest/globals';
import { desk } from '../desk.testing.js';
import type { Respond } from '../desk.testing.js';

const ITEM = { kind: 'approval', run_id: 'run-1', deadline_at: 0, way_out: 'recourse recoveries approve step_1' };

describe('what waits for a person', () => {
  const services =
    (parked: number, refused = false): Respond =>
    ({ host, pathname }) => {
      if (pathname === '/v1/items') return Response.json({ items: [ITEM], next_cursor: null });
      if (pathname === '/v1/status')
        return Response.json({ logs: host === 'ledger.test' ? ['recourse.mutations'] : [] });
      if (pathname !== '/v1/parked') return undefined;
      return refused
        ? Response.json({ code: 'ROLE_REQUIRED', detail: 'for administrators' }, { status: 403 })
        : Response.json({ items: Array.from({ length: parked }, () => ({ parked_id: 'p' })), next_cursor: null });
    };

  it.each([
    [1, '1 parked record waits, too: recourse parked list'],
    [3, '3 parked records wait, too: recourse parked list'],
  ])('counts %s parked, and names the command that lists them', async (count, words) => {
    const { call, out } = desk(services(count));
    expect(await call('items')).toBe(0);
    expect(out()).toContain('recourse recoveries approve step_1');
    expect(out()).toContain(words);
  });

  it('shows the log that an alarm is about, and no such column where no item is about one', async () => {
    const alarm = { ...ITEM, kind: 'alarm', log: 'recourse.mutations/2' };
    const listed = async (items: readonly object[]): Promise<string> => {
      const { call, out } = desk((asked) =>
        asked.pathname === '/v1/items' ? Response.json({ items, next_cursor: null }) : services(0)(asked),
      );
      await call('items');
      return out();
    };
    expect(await listed([alarm, { ...ITEM, log: null }])).toMatch(/LOG[^]*recourse\.mutations\/2/);
    expect(await listed([{ ...ITEM, log: null }])).not.toContain('LOG');
  });

  it.each([
    [5, 'approval', '5 approvals, in one table: recourse recoveries approve-all --preview'],
    [7, 'manual', '7 steps that are manual, in one table: recourse recoveries retry-all --preview'],
  ])('says how %s of kind %s are decided about at once', async (count, kind, words) => {
    const listed = async (length: number): Promise<string> => {
      const items = Array.from({ length }, () => ({ ...ITEM, kind }));
      const { call, out } = desk(() => Response.json({ items, next_cursor: null }));
      await call('items', '--kind', kind);
      return out();
    };
    expect(await listed(count)).toContain(words);
    expect(await listed(4)).not.toContain('-all');
    const denied = Array.from({ length: 9 }, () => ({ ...ITEM, kind, reason: 'DENIED' }));
    const { call, out } = desk(() => Response.json({ items: denied, next_cursor: null }));
    await call('items', '--kind', kind);
    expect(out()).not.toContain('-all');
  });

  it('says nothing of parked records where there are none', async () => {
    const { call, out } = desk(services(0));
    expect(await call('items')).toBe(0);
    expect(out()).not.toContain('parked');
  });

  it('says so where the caller may not know, and shows the rest', async () => {
    const { call, out } = desk(services(0, true));
    expect(await call('items')).toBe(0);
    expect(out()).toContain('approve step_1');
    expect(out()).toContain('not known here (ROLE_REQUIRED): recourse parked list');
  });

  it('counts what the others hold where one is away, and says that one was not asked', async () => {
    const { call, out } = desk((asked) => {
      if (asked.host === 'recoveries.test' && asked.pathname === '/v1/status')
        return Response.json({ code: 'DATABASE_UNAVAILABLE', detail: 'no answer' }, { status: 503 });
      return services(2)(asked);
    });
    expect(await call('items')).toBe(0);
    expect(out()).toContain('2 parked records wait, too, and not every service could be asked (DATABASE_UNAVAILABLE)');
  });

  it('counts those alone that the list does not name', async () => {
    const item = { ...ITEM, kind: 'parked', way_out: 'recourse parked redrive p' };
    const { call, out } = desk((asked) =>
      asked.pathname === '/v1/items' ? Response.json({ items: [item], next_cursor: null }) : services(3)(asked),
    );
    expect(await call('items')).toBe(0);
    expect(out()).toContain('2 more parked records wait, too: recourse parked list');
  });

  it('tells a script the count', async () => {
    const { call, out } = desk(services(2));
    expect(await call('items', '--json')).toBe(0);
    expect(JSON.parse(out())).toEqual({ items: [ITEM], more: false, parked: { open: 2, more: false, code: null } });
  });

  it('of one kind asks for nothing else', async () => {
    const { call, paths } = desk(services(2));
    expect(await call('items', '--kind', 'approval')).toBe(0);
    expect(paths()).toEqual(['/v1/items?kind=approval&limit=200']);
  });
});
