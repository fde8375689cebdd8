// What stands under a name for a tenant: its own with what the platform's demands beside it, else the platform's.
import { tightened } from '@recourse/contract';
import type { EntryKind } from '@recourse/messages';
import type { RegisteredEntry } from './entries.port.js';

/** The entry of a name that binds a tenant; undefined where none stands. */
export function standingNamed<Kind extends EntryKind>(
  kind: Kind,
  entries: readonly RegisteredEntry<Kind>[],
  { tenant, name }: { readonly tenant: string; readonly name: string },
): RegisteredEntry<Kind> | undefined {
  const named = entries.filter((each) => each.name === name);
  const platform = named.find((each) => each.tenant === '*');
  const own = named.find((each) => each.tenant === tenant && each.tenant !== '*');
  return own === undefined ? platform : { ...own, entry: tightened(kind, own.entry, platform?.entry) };
}
