// What the registry keeps beside contracts, as it stands now: kill switches, charters, policy bundles, context sources.
import type { EntryBody } from '@recourse/contract';
import type { EntryKind } from '@recourse/messages';

/** One entry of the registry as it stands. */
export interface RegisteredEntry<Kind extends EntryKind> {
  readonly name: string;
  /** `*` is for all tenants. */
  readonly tenant: string;
  /** Version of the entry, from 1. */
  readonly version: number;
  /** Hash of its canonical JSON, as the registry gives it. */
  readonly digest: Buffer;
  readonly entry: EntryBody<Kind>;
}

/** Entries of the registry, or why they could not be read. */
export type EntriesAnswer<Kind extends EntryKind> =
  | { readonly kind: 'read'; readonly entries: readonly RegisteredEntry<Kind>[] }
  /** No answer, or one that cannot be read. */
  | { readonly kind: 'unavailable'; readonly cause: unknown };

/**
 * Reads the entries of one kind that stand for a tenant: its own and those for all.
 *
 * Implementations MUST leave out what is retired, and what belongs to another tenant.
 * Implementations MUST NOT throw, nor answer with a part of what stands: that is `unavailable` (P14).
 */
export interface Entries {
  standing<Kind extends EntryKind>(kind: Kind, tenant: string): Promise<EntriesAnswer<Kind>>;
}
