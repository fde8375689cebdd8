// Which rows a batch will read, as far as that can be told before it is decided. Pure.
import { COMMAND_KIND, PARKED_COMMANDS } from './common-kinds.js';
import type { QueueItem } from './input-queue.js';
import type { Doc, ServiceCore, TimerInput, Views } from './service-core.js';
import type { GroupAddress } from './store.port.js';

/** Groups that these inputs name; a hint that saves a query each. */
export function needsOf(
  core: Pick<ServiceCore, 'needs'>,
  items: readonly QueueItem[],
  timers: readonly TimerInput[],
  views: Views,
): readonly GroupAddress[] {
  const needs: GroupAddress[] = [];
  for (const { what } of items) {
    if (what.kind !== 'record') continue;
    if (!PARKED_COMMANDS.has(what.input.type)) needs.push(...core.needs(what.input, views));
    const envelope = what.input.body.envelope as Doc | undefined;
    if (envelope !== undefined) needs.push({ kind: COMMAND_KIND, group: String(envelope.command_id) });
  }
  for (const timer of timers)
    needs.push({ kind: timer.address.kind, group: timer.address.group }, ...core.needs(timer, views));
  return needs;
}

/** Each group once, without those no row can have: a record that names one is parked before anything is decided (L7). */
export function uniqueGroups(groups: readonly GroupAddress[]): readonly GroupAddress[] {
  const unique = new Map<string, GroupAddress>();
  for (const address of groups)
    if (isStorableKey(address.group)) unique.set(`${address.kind}\u0000${address.group}`, address);
  return [...unique.values()];
}

/** False for text PostgreSQL refuses in a key. */
function isStorableKey(key: string): boolean {
  return !key.includes('\u0000') && key.isWellFormed();
}
