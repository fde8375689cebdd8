// Entries in memory, as the registry would show them.
import type { EntryBody } from '@recourse/contract';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import type { Entries, EntriesAnswer, RegisteredEntry } from './entries.port.js';

/** Entries in memory. For specs and first steps. */
export class MemoryEntries implements Entries {
  private readonly entries = new Map<string, RegisteredEntry<EntryKind>>();
  private readonly versions = new Map<string, number>();
  /** How often it was asked. */
  asked = 0;
  /** Set, it answers nobody. */
  isAway = false;

  standing<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<EntriesAnswer<Kind>> {
    this.asked += 1;
    if (this.isAway) return Promise.resolve({ kind: 'unavailable', cause: new Error('the registry is away') });
    const found = [...this.entries]
      .filter(([key, each]) => key.startsWith(`${kind}/`) && (each.tenant === tenant || each.tenant === '*'))
      .map(([, each]) => each);
    return Promise.resolve({ kind: 'read', entries: found });
  }

  register<Kind extends EntryKind>(kind: Kind, tenant: string, name: string, entry: EntryBody<Kind>): void {
    const key = `${kind}/${tenant}/${name}`;
    const version = (this.versions.get(key) ?? 0) + 1;
    this.versions.set(key, version);
    this.entries.set(key, {
      name,
      tenant,
      version,
      digest: Buffer.from(sha256Hex(canonicalJson(entry)), 'hex'),
      entry,
    });
  }

  retire(kind: EntryKind, tenant: string, name: string): void {
    this.entries.delete(`${kind}/${tenant}/${name}`);
  }
}
