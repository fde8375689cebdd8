// Entries in memory, as the registry would show them.
import type { EntryBody } from '@recourse/contract';
import type { EntryKind } from '@recourse/messages';
import type { Entries, EntriesAnswer, RegisteredEntry } from './entries.port.js';

/** Entries in memory. For specs and first steps. */
export class MemoryEntries implements Entries {
  private readonly entries = new Map<string, RegisteredEntry<EntryKind>>();
  /** How often it was asked. */
  asked = 0;
  /** Set, it answers nobody. */
  isAway = false;

  standing<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<EntriesAnswer<Kind>> {
    this.asked += 1;
    if (this.isAway) return Promise.resolve({ kind: 'unavailable', cause: new Error('the registry is away') });
    const found = [...this.entries].filter(([key, each]) => key.startsWith(`${kind}/`) && (each.tenant === tenant || each.tenant === '*')).map(([, each]) => each);
    return Promise.resolve({ kind: 'read', entries: found });
  }

  register<Kind extends EntryKind>(kind: Kind, tenant: string, name: string, entry: EntryBody<Kind>): void {
    this.entries.set(`${kind}/${tenant}/${name}`, { name, tenant, entry });
  }

  retire(kind: EntryKind, tenant: string, name: string): void { this.entries.delete(`${kind}/${tenant}/${name}`); }
}
