// Entries over the registry's HTTP edge.
//
// Shape: GET /v1/entries/<kind>?retired=false&tenant=<tenant>&limit=500[&cursor=…] → 200 {items: [{name, tenant, version, body}], next_cursor}.
import { reviewEntry } from '@recourse/contract';
import { sha256Hex } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import { askEdge } from '../guard/edge.js';
import type { EdgeOptions } from '../guard/edge.js';
import type { Entries, EntriesAnswer, RegisteredEntry } from './entries.port.js';

const PAGE_MAX = 500;
/** Pages read at the most: whoever has more entries of a kind than these hold is not answered in part. */
const PAGES_MAX = 20;

/** Reads entries at the registry's edge. */
export class HttpEntries implements Entries {
  /** `options.url`: base address of the registry, without a slash at its end. */
  constructor(private readonly options: EdgeOptions) {}

  async standing<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<EntriesAnswer<Kind>> {
    try {
      return { kind: 'read', entries: await this.pages(kind, tenant) };
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }

  private async pages<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<readonly RegisteredEntry<Kind>[]> {
    const entries: RegisteredEntry<Kind>[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = new URLSearchParams({
        retired: 'false',
        tenant,
        limit: String(PAGE_MAX),
        ...(cursor === null ? {} : { cursor }),
      });
      const { status, body }: Awaited<ReturnType<typeof askEdge>> = await askEdge(this.options, {
        method: 'GET',
        path: `/v1/entries/${kind}?${query.toString()}`,
      });
      if (status !== 200 || !Array.isArray(body['items'])) throw new Error(`the registry answered ${String(status)}`);
      entries.push(
        ...body['items']
          .map((item: unknown) => entryOf(kind, item))
          .filter((each) => each.tenant === tenant || each.tenant === '*'),
      );
      if (typeof body['next_cursor'] !== 'string') return entries;
      cursor = body['next_cursor'];
    }
    throw new Error(`more than ${String(PAGE_MAX * PAGES_MAX)} entries of kind ${kind}`);
  }
}

/** Errors: Error for what this version cannot read; a part of what stands would be worse than nothing. */
function entryOf<Kind extends EntryKind>(kind: Kind, item: unknown): RegisteredEntry<Kind> {
  // Any value but null and undefined may be read by name.
  const { name, tenant, version, body } = (item ?? {}) as {
    readonly name?: unknown;
    readonly tenant?: unknown;
    readonly version?: unknown;
    readonly body?: unknown;
  };
  if (typeof name !== 'string' || typeof tenant !== 'string' || typeof version !== 'number' || typeof body !== 'string')
    throw new Error(`an entry of kind ${kind} has no name, tenant, version or body`);
  const review = reviewEntry(kind, body, tenant);
  if (review.ok) return { name, tenant, version, digest: Buffer.from(sha256Hex(body), 'hex'), entry: review.entry };
  throw new Error(`the ${kind} ${name} cannot be read: ${review.problems.map(({ code }) => code).join(', ')}`);
}
