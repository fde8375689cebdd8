// A list does not end where a page does, and says where it was cut.
import { describe, expect, it } from '@jest/globals';
import { everyPage } from './pages.js';
import { ROWS } from './shapes.js';

/** A service that has `count` rows, two a page; `asked` is where each page began. */
function listOf(count: number) {
  const asked: (string | undefined)[] = [];
  const call = ({ cursor }: { readonly cursor?: string }) => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const items = [from, from + 1].filter((at) => at < count).map((at) => ({ at }));
    const next_cursor = from + 2 < count ? String(from + 2) : null;
    return Promise.resolve({ data: { items, next_cursor }, response: new Response() });
  };
  return { asked, call };
}

describe('a list', () => {
  it('is read page by page to its end', async () => {
    const { asked, call } = listOf(5);
    const { items, isCut } = await everyPage(ROWS, call, 100);
    expect(items.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4]);
    expect([isCut, asked]).toEqual([false, [undefined, '2', '4']]);
  });

  it('that is longer than what is read says that there are more', async () => {
    const { items, isCut } = await everyPage(ROWS, listOf(9).call, 4);
    expect([items.length, isCut]).toEqual([4, true]);
    expect((await everyPage(ROWS, listOf(4).call, 4)).isCut).toBe(false);
  });

  it('of a report that has no pages says that there are more, where the report does', async () => {
    const report = () => Promise.resolve({ data: { items: [{}], more: true }, response: new Response() });
    expect((await everyPage(ROWS, report, 100)).isCut).toBe(true);
  });
});
