// What every reader of entries does.
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '@recourse/kernel';
import type { MemoryEntries } from './entries.memory.js';
import type { Entries } from './entries.port.js';

/** A reader, and the registry it reads. */
export interface EntriesUnderTest {
  readonly entries: Entries;
  readonly registry: MemoryEntries;
}

export function entriesContract(name: string, make: () => Promise<EntriesUnderTest>): void {
  const source = { owner: 'ops', doc: 'd', sensitivity: 'internal', access: 'read', ttl_ms: 5 } as const;
  const charter = { owner: 'ops', doc: 'd', agent: 'agent', purpose: 'p', allowed: ['a.*'], denied: [] };

  describe(`the entries "${name}"`, () => {
    it('are those of the tenant and those for all, of one kind', async () => {
      const { entries, registry } = await make();
      registry.register('context_source', 'acme', 'own', source);
      registry.register('context_source', '*', 'shared', source);
      registry.register('context_source', 'globex', 'foreign', source);
      registry.register('agent_charter', 'acme', 'charter', charter);
      const answer = await entries.standing('context_source', 'acme');
      expect(answer).toMatchObject({ kind: 'read' });
      expect(
        answer.kind === 'read' ? answer.entries.map(({ name: each, tenant, entry }) => [each, tenant, entry]) : [],
      ).toEqual([
        ['own', 'acme', source],
        ['shared', '*', source],
      ]);
    });

    it('carry their version and the digest of what they say', async () => {
      const { entries, registry } = await make();
      for (const ttl_ms of [5, 6]) registry.register('context_source', 'acme', 'own', { ...source, ttl_ms });
      const digest = createHash('sha256')
        .update(canonicalJson({ ...source, ttl_ms: 6 }))
        .digest();
      expect(await entries.standing('context_source', 'acme')).toMatchObject({ entries: [{ version: 2, digest }] });
    });

    it('are none where nothing stands, and no longer what was retired', async () => {
      const { entries, registry } = await make();
      registry.register('agent_charter', 'acme', 'charter', charter);
      registry.retire('agent_charter', 'acme', 'charter');
      expect(await entries.standing('agent_charter', 'acme')).toEqual({ kind: 'read', entries: [] });
    });

    it('are unavailable, not none, where the registry does not answer', async () => {
      const { entries, registry } = await make();
      registry.isAway = true;
      expect((await entries.standing('kill_switch', 'acme')).kind).toBe('unavailable');
    });
  });
}
