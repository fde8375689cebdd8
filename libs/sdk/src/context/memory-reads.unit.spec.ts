import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { MemoryEntries } from '../entries/entries.memory.js';
import { MemoryConsents } from './consents.memory.js';
import { memoryReads } from './memory-reads.js';
import type { MemoryItem, MemoryReadsOptions } from './memory-reads.js';
import type { MemoryQueryRecord } from './memory.messages.js';

const item: MemoryItem = { value: { tier: 'gold' }, source: 'crm', subject: 'customer/7', observedAt: 1_000 };
const query = { tenant: 'acme', agentId: 'agent', runId: 'run-1', key: 'customer/7', purpose: 'support' };

function scene(remembered: MemoryItem | null, more: Partial<MemoryReadsOptions> = {}) {
  const logged: MemoryQueryRecord[] = [];
  const consents = new MemoryConsents();
  void consents.grant({ tenant: 'acme', subject: 'customer/7', purpose: 'support' });
  void consents.grant({ tenant: 'globex', subject: 'customer/7', purpose: 'support' });
  const read = memoryReads({
    find: () => Promise.resolve(remembered),
    clock: new ManualClock(5_000),
    consents,
    log: {
      append: (record) => {
        logged.push(record);
        return Promise.resolve();
      },
    },
    sources: { crm: { owner: 'sales', doc: 'Customers.', sensitivity: 'personal', access: 'read', ttl_ms: 10_000 } },
    ...more,
  });
  return { read, logged };
}

describe('a memory read', () => {
  it('hands out what is consented and fresh, and is logged without the value', async () => {
    const { read, logged } = scene(item);
    expect(await read(query)).toEqual({ kind: 'read', value: { tier: 'gold' }, source: 'crm', observedAt: 1_000 });
    expect(logged).toEqual([{ ...query, code: null, askedAt: 5_000 }]);
  });

  it.each([
    ['without consent for the purpose', { ...item, subject: 'customer/8' }, 'CONSENT_MISSING'],
    ['of something stale', { ...item, observedAt: -5_000 }, 'EVIDENCE_STALE'],
    ['of something from the future', { ...item, observedAt: 5_001 }, 'EVIDENCE_STALE'],
    ['from a source nobody registered', { ...item, source: 'toString' }, 'SOURCE_UNKNOWN'],
    ['of nothing', null, 'MEMORY_UNKNOWN'],
  ])('%s is refused and logged', async (_name, remembered, code) => {
    const { read, logged } = scene(remembered);
    expect(await read(query)).toEqual({ kind: 'refused', code });
    expect(logged).toMatchObject([{ key: 'customer/7', code }]);
  });

  it('is refused once consent was taken back, and while nobody can tell', async () => {
    const consents = new MemoryConsents();
    const consent = { tenant: 'acme', subject: 'customer/7', purpose: 'support' };
    await consents.grant(consent);
    const { read } = scene(item, { consents });
    expect(await read(query)).toMatchObject({ kind: 'read' });
    expect(await read({ ...query, purpose: 'billing' })).toEqual({ kind: 'refused', code: 'CONSENT_MISSING' });
    await consents.withdraw(consent);
    expect(await read(query)).toEqual({ kind: 'refused', code: 'CONSENT_MISSING' });
    const away = scene(item, { consents: { has: () => Promise.reject(new Error('disk')) } });
    expect(await away.read(query)).toEqual({ kind: 'refused', code: 'CONSENTS_UNAVAILABLE' });
  });

  describe('from the sources the registry holds', () => {
    const source = {
      owner: 'sales',
      doc: 'Customers.',
      sensitivity: 'personal',
      access: 'read',
      ttl_ms: 10_000,
    } as const;

    it("goes by what stands now, the tenant's own before that for all", async () => {
      const sources = new MemoryEntries();
      const { read } = scene(item, { sources });
      expect(await read(query)).toMatchObject({ code: 'SOURCE_UNKNOWN' });
      sources.register('context_source', '*', 'crm', source);
      expect(await read(query)).toMatchObject({ kind: 'read' });
      sources.register('context_source', 'acme', 'crm', { ...source, ttl_ms: 4_000 });
      expect(await read(query)).toMatchObject({ code: 'EVIDENCE_STALE' });
      expect(await read({ ...query, tenant: 'globex' })).toMatchObject({ kind: 'read' });
      sources.retire('context_source', 'acme', 'crm');
      sources.retire('context_source', '*', 'crm');
      expect(await read(query)).toMatchObject({ code: 'SOURCE_UNKNOWN' });
    });

    it('is refused, and logged, while they cannot be read', async () => {
      const sources = new MemoryEntries();
      sources.isAway = true;
      const { read, logged } = scene(item, { sources });
      expect(await read(query)).toEqual({ kind: 'refused', code: 'SOURCES_UNAVAILABLE' });
      expect(logged).toMatchObject([{ code: 'SOURCES_UNAVAILABLE' }]);
    });
  });

  it('is refused when it cannot be logged, and when memory does not answer', async () => {
    expect(await scene(item, { log: { append: () => Promise.reject(new Error('disk full')) } }).read(query)).toEqual({
      kind: 'refused',
      code: 'LOG_UNAVAILABLE',
    });
    const { read, logged } = scene(item, { find: () => Promise.reject(new Error('down')) });
    expect(await read(query)).toEqual({ kind: 'refused', code: 'MEMORY_UNAVAILABLE' });
    expect(logged).toHaveLength(1);
  });
});
