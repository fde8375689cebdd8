import { afterAll, describe, expect, it } from '@jest/globals';
import { canonicalJson, ManualClock } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import { testEdge } from '../edge/edge.testing.js';
import type { TestEdge } from '../edge/edge.testing.js';
import { cachedEntries } from './entries.cached.js';
import { entriesContract } from './entries.contract.js';
import { HttpEntries } from './entries.http.js';
import { MemoryEntries } from './entries.memory.js';

const edges: TestEdge[] = [];
afterAll(() => {
  edges.forEach(({ close }) => {
    close();
  });
});
const token = (): Promise<string> => Promise.resolve('token');

/** A registry that gives one entry a page. */
async function registryEdge(registry: MemoryEntries): Promise<string> {
  const edge = await testEdge(async ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://x');
    const kind = pathname.replace('/v1/entries/', '') as EntryKind; // the reader under test asks for kinds alone
    const answer = await registry.standing(kind, searchParams.get('tenant') ?? '');
    if (answer.kind === 'unavailable') return [503, { code: 'DATABASE_UNAVAILABLE' }];
    const at = Number(searchParams.get('cursor') ?? '0');
    const items = answer.entries
      .slice(at, at + 1)
      .map(({ name, tenant, version, entry }) => ({ name, tenant, version, body: canonicalJson(entry) }));
    return [200, { items, next_cursor: at + 1 < answer.entries.length ? String(at + 1) : null }];
  });
  edges.push(edge);
  return edge.url;
}

entriesContract('memory', () => {
  const registry = new MemoryEntries();
  return Promise.resolve({ entries: registry, registry });
});
entriesContract('http', async () => {
  const registry = new MemoryEntries();
  return { entries: new HttpEntries({ url: await registryEdge(registry), token }), registry };
});
entriesContract('cached', () => {
  const registry = new MemoryEntries();
  return Promise.resolve({ entries: cachedEntries(registry, { clock: new ManualClock(0) }), registry });
});

describe('entries over HTTP', () => {
  it.each([
    [200, { items: [{ name: 'a', tenant: 'acme', version: 1, body: '{"owner":""}' }], next_cursor: null }],
    [200, { items: [{}], next_cursor: null }],
    [200, {}],
    [401, { items: [] }],
    [200, { items: [], next_cursor: 'round' }],
  ])('of %i %j are unavailable', async (status, body) => {
    const edge = await testEdge(() => Promise.resolve([status, body]));
    edges.push(edge);
    expect((await new HttpEntries({ url: edge.url, token }).standing('kill_switch', 'acme')).kind).toBe('unavailable');
  });
  it('of nobody are unavailable', async () => {
    expect((await new HttpEntries({ url: 'http://127.0.0.1:1', token }).standing('kill_switch', 'acme')).kind).toBe(
      'unavailable',
    );
  });
});

describe('cached entries', () => {
  it('are asked for once per time to live, and never answered from before when the registry is away', async () => {
    const [registry, clock] = [new MemoryEntries(), new ManualClock(0)];
    const entries = cachedEntries(registry, { clock, ttlMs: 100 });
    await Promise.all([entries.standing('kill_switch', 'acme'), entries.standing('kill_switch', 'acme')]);
    await clock.advance(99);
    await entries.standing('kill_switch', 'acme');
    expect(registry.asked).toBe(1);
    registry.isAway = true;
    await clock.advance(1);
    expect((await entries.standing('kill_switch', 'acme')).kind).toBe('unavailable');
    registry.isAway = false;
    expect((await entries.standing('kill_switch', 'acme')).kind).toBe('read');
    expect(registry.asked).toBe(3);
  });
});
