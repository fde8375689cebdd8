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

const FALL = {
  source: 'warehouse',
  ref: REF.ref,
  relying: 2,
  weight_permille: 500,
  threshold_permille: 800,
  held: { reason: 'TRUST_LOW', detail: 'warehouse weighs 500' },
  bound_at: null,
  falls: { commits: 3, with_effect: 2, without_effect: 1, runs: 2 },
  fallen_already: 1,
  money: [{ currency: 'EUR', amount_minor: 4_900, mutations: 2 }],
  subjects: { count: 1, first: ['4711'] },
  consumers: [{ consumer: 'billing', commits: 3 }],
  beyond_bound: { commits: 0, first: [] },
  truncated: false,
};

describe('the preview of a fact that turns out false', () => {
  const routes = (items: readonly object[]) =>
    table({ 'GET /v1/assumptions': { items, next_cursor: null }, 'GET /v1/sources/drill': FALL });

  it('tells what would fall, and why a person would be asked first, on the word of whoever says what stands', async () => {
    const { call, asked, out } = desk(routes([REF]));
    expect(await call('assumptions', 'preview', REF.ref, '--run', 'run-1')).toBe(0);
    const drill = askedFor(asked.at(-1)?.path ?? '');
    expect(['ref', 'run_id', 'source', 'tenant'].map((name) => drill.get(name))).toEqual([
      ...[REF.ref, 'run-1', 'warehouse', 'acme'],
    ]);
    expect(out()).toMatch(/a person is asked first +TRUST_LOW: warehouse weighs 500/);
    expect(out()).toMatch(/rely on it by name +2\n/);
    expect(out()).toMatch(/would fall +3\n/);
    expect(out()).toMatch(/49[.,]00 EUR in 2|EUR 49[.,]00 in 2/);
    expect(out()).toMatch(/billing \(3\)/);
  });

  it('is asked of the source that is named, and asks for one where nobody has spoken', async () => {
    const { call, asked, note } = desk(routes([]));
    expect(await call('assumptions', 'preview', REF.ref, '--source', 'carrier')).toBe(0);
    expect(askedFor(asked.at(-1)?.path ?? '').get('source')).toBe('carrier');
    const several = desk(routes([REF, { ...REF, tenant: 'globex' }]));
    expect(await several.call('assumptions', 'preview', REF.ref)).toBe(0);
    expect(askedFor(several.asked.at(-1)?.path ?? '').get('tenant')).toBeNull();
    expect(await several.call('assumptions', 'preview', REF.ref, '--tenant', 'globex')).toBe(0);
    expect(askedFor(several.asked.at(-1)?.path ?? '').get('tenant')).toBe('globex');
    expect(await call('assumptions', 'preview', REF.ref)).toBe(64);
    expect(note()).toContain('SOURCE_MISSING');
  });
});
