// Rows of the services' databases, as an interface of theirs would show them.
import type { ServiceName, World } from './world.js';

/** Rows of a kind, in order of group and key; each is decoded once. */
export function rowsOf<Shown>(
  world: World,
  service: ServiceName,
  log: string,
  partition: number,
  kind: string,
): readonly Shown[] {
  const groups = world.databases[service].read(log, partition).kinds.get(kind) ?? new Map<string, never>();
  const found: Shown[] = [];
  for (const group of [...groups.keys()].sort()) {
    const rows: ReadonlyMap<string, { readonly doc: unknown }> = groups.get(group) ?? new Map();
    for (const [, { doc }] of [...rows].sort(([one], [other]) => (one < other ? -1 : 1))) found.push(doc as Shown);
  }
  return found;
}
