// An item is found wherever it stands in its list, and is the one that was asked for.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { budgets, ledger } from '../api/clients.js';
import { PLACES } from './item.reads.js';

const listing = jest.spyOn(ledger, 'GET');
const asking = jest.spyOn(budgets, 'GET');
afterEach(() => {
  listing.mockReset();
  asking.mockReset();
});

interface Query {
  readonly cursor?: string;
  readonly phase?: string;
  readonly run_id?: string;
}
interface Asked {
  readonly params: { readonly query?: Query; readonly path?: { readonly id: string } };
}

const answer = (data: unknown) => Promise.resolve({ data, response: Response.json({}) });
// What a client is asked with; its own type is of each route.
const paramsOf = (options: unknown): Asked['params'] => (options as Asked).params;

describe('an item without a route of its own', () => {
  it.each([
    ['delivery', 'delivery_id'],
    ['divergence', 'divergence_id'],
    ['trend', 'trend_id'],
  ])('of kind %s is found behind the first page of its list', async (kind, column) => {
    listing.mockImplementation((_path, ...[options]) =>
      paramsOf(options).query?.cursor === undefined
        ? answer({ items: [{ [column]: 'other' }], next_cursor: 'c1' })
        : answer({ items: [{ [column]: 'x_501', name: 'found' }], next_cursor: null }),
    );
    expect(await PLACES[kind]?.read('x_501', 'run_1')).toMatchObject({ name: 'found' });
    await expect(PLACES[kind]?.read('x_502', 'run_1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is looked for among those that wait first: a consumer that is silent among those that are', async () => {
    const phases: (string | undefined)[] = [];
    listing.mockImplementation((_path, ...[options]) => {
      const { phase } = paramsOf(options).query ?? {};
      phases.push(phase);
      return answer({ items: phase === undefined ? [{ delivery_id: 'd' }] : [], next_cursor: null });
    });
    expect(await PLACES['delivery']?.read('d', 'run_1')).toEqual({ delivery_id: 'd' });
    expect(phases).toEqual(['overdue', undefined]);
  });
});

describe('a question of the accountant', () => {
  it('is the one about its thing and no other, wherever that is of a run or of none', async () => {
    asking.mockImplementation((_path, ...[options]) => {
      const { query, path } = paramsOf(options);
      if (path !== undefined) return answer({ escalation_id: path.id });
      const second = [{ reservation_id: 'cei_2', escalation_id: 'esc_2' }];
      return query?.cursor === undefined
        ? answer({ items: [{ reservation_id: 'res_1', escalation_id: 'esc_1' }], next_cursor: 'c1' })
        : answer({ items: second, next_cursor: null });
    });
    expect(await PLACES['budget']?.read('cei_2', '')).toEqual({ escalation_id: 'esc_2' });
    await expect(PLACES['budget']?.read('cei_3', 'run_1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
