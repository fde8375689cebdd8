import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const REF = {
  ref: 'order/4711#not_shipped',
  run_id: null,
  tenant: 'acme',
  verdict: 'invalidated',
  source: 'warehouse',
  stated_at: 60_000,
  disputed_since: 120_000,
  is_disputed: true,
  sides: [
    { source: 'carrier', verdict: 'holds' },
    { source: 'warehouse', verdict: 'invalidated' },
  ],
};

const askedFor = (path: string): URLSearchParams => new URL(path, 'http://ledger.test').searchParams;

describe('the list of assumptions', () => {
  it('shows which sources contradict each other, what stands and since when (D65)', async () => {
    const { call, asked, out } = desk(table({ 'GET /v1/assumptions': { items: [REF], next_cursor: null } }));
    expect(await call('assumptions', 'list', '--disputed')).toBe(0);
    expect(asked.map(({ path }) => askedFor(path).get('disputed'))).toEqual(['true']);
    expect(out()).toMatch(
      /order\/4711#not_shipped +all +invalidated +warehouse .*1970-01-01 00:02:00Z +carrier: holds, warehouse: invalidated/,
    );
  });

  it('shows all of them where nobody asks for those', async () => {
    const { call, asked } = desk(table({ 'GET /v1/assumptions': { items: [], next_cursor: null } }));
    expect(await call('assumptions', 'list', '--ref', REF.ref)).toBe(0);
    expect(asked.map(({ path }) => [askedFor(path).get('disputed'), askedFor(path).get('ref')])).toEqual([
      [null, REF.ref],
    ]);
  });
});
