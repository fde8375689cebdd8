// What every reader of entries does.
import { createHash } from 'node:crypto';
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import { canonicalJson } from '@recourse/kernel';
import type { MemoryEntries } from './entries.memory.js';
import type { Entries } from './entries.port.js';

/** A reader, and the registry it reads. */
export interface EntriesUnderTest {
  readonly entries: Entries;
  readonly registry: MemoryEntries;
}

const source = { owner: 'ops', doc: 'd', sensitivity: 'internal', access: 'read', ttl_ms: 5 } as const;
const charter = { owner: 'ops', doc: 'd', agent: 'agent', purpose: 'p', allowed: ['a.*'], denied: [] };

export function entriesContract(name: string, make: () => Promise<EntriesUnderTest>): void {
  describe(`the entries "${name}"`, () => runCases(CASES, make));
}

const CASES: Cases<EntriesUnderTest> = {
  'are those of the tenant and those for all, of one kind': async ({ entries, registry }) => {
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
  },

  'carry their version and the digest of what they say': async ({ entries, registry }) => {
    for (const ttl_ms of [5, 6]) registry.register('context_source', 'acme', 'own', { ...source, ttl_ms });
    const digest = createHash('sha256')
      .update(canonicalJson({ ...source, ttl_ms: 6 }))
      .digest();
    expect(await entries.standing('context_source', 'acme')).toMatchObject({ entries: [{ version: 2, digest }] });
  },

  'are none where nothing stands, and no longer what was retired': async ({ entries, registry }) => {
    registry.register('agent_charter', 'acme', 'charter', charter);
    registry.retire('agent_charter', 'acme', 'charter');
    expect(await entries.standing('agent_charter', 'acme')).toEqual({ kind: 'read', entries: [] });
  },

  'are unavailable, not none, where the registry does not answer': async ({ entries, registry }) => {
    registry.isAway = true;
    expect((await entries.standing('kill_switch', 'acme')).kind).toBe('unavailable');
  },
};
