// Entries over the registry's HTTP edge.
//
// Shape: GET /v1/entries/<kind>?retired=false&tenant=<tenant>&limit=500[&cursor=…] → 200 {items: [{name, tenant, version, body}], next_cursor}.
import { reviewEntry } from '@recourse/contract';
import { sha256Hex } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import { edgeClient } from '../edge/edge.js';
import type { Doc, EdgeClient, EdgeOptions } from '../edge/edge.js';
import type { Entries, EntriesAnswer, RegisteredEntry } from './entries.port.js';

/** Whoever has more entries of a kind is not answered in part. */
const ENTRIES_MAX = 10_000;
const ALL_TENANTS = '*';

/** Reads entries at the registry's edge. */
export class HttpEntries implements Entries {
  private readonly registry: EdgeClient;

  /** `options.url`: base address of the contract registry. */
  constructor(options: EdgeOptions) {
    this.registry = edgeClient({ name: 'the contract registry', ...options });
  }

  async standing<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<EntriesAnswer<Kind>> {
    try {
      return { kind: 'read', entries: await this.all(kind, tenant) };
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }

  private async all<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<readonly RegisteredEntry<Kind>[]> {
    const { items, more } = await this.registry.list(`/v1/entries/${kind}`, { retired: 'false', tenant }, ENTRIES_MAX);
    if (more) throw new Error(`there are more than ${String(ENTRIES_MAX)} entries of the kind ${kind}`);
    return items
      .map((item) => entryOf(kind, item))
      .filter((entry) => entry.tenant === tenant || entry.tenant === ALL_TENANTS);
  }
}

/** Errors: Error for what this version cannot read; a part of what stands would be worse than nothing. */
function entryOf<Kind extends EntryKind>(kind: Kind, { name, tenant, version, body }: Doc): RegisteredEntry<Kind> {
  if (typeof name !== 'string' || typeof tenant !== 'string' || typeof version !== 'number' || typeof body !== 'string')
    throw new Error(`an entry of kind ${kind} has no name, tenant, version or body`);
  const review = reviewEntry(kind, body, tenant);
  if (review.ok) return { name, tenant, version, digest: Buffer.from(sha256Hex(body), 'hex'), entry: review.entry };
  throw new Error(`the ${kind} ${name} cannot be read: ${review.problems.map(({ code }) => code).join(', ')}`);
}
