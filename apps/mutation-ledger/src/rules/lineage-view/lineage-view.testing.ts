// A small lineage as plain data, for specs of the reads.
import type { AnnouncedOf, Named, Reliance } from './lineage.messages.js';
import type { Reached } from './preview.decisions.js';

export const TENANT = 'acme';

/** A commit; its run is named after it. */
export function named(id: string): Named {
  return { tenant: TENANT, run_id: `run-${id}`, id };
}

/** Edges told as `child<parent`. */
export function reliances(...edges: readonly string[]): readonly Reliance[] {
  return edges.map((edge) => {
    const [child = '', parent = ''] = edge.split('<');
    return { tenant: TENANT, run_id: `run-${child}`, child, parent_run_id: `run-${parent}`, parent };
  });
}

/** A commit of a closure that stands, without an effect of value. */
export function reached(id: string, changes: Partial<Reached> = {}): Reached {
  return {
    ...named(id),
    kind: 'mutation',
    agent: 'agent-1',
    subject_ref: null,
    value_minor: null,
    currency: null,
    recorded_at: 1_000,
    rollback_id: null,
    ...changes,
  };
}

/** Announcements by commit: partition, seq, and whether it was left to a person. */
export function announced(
  places: Readonly<Record<string, readonly [partition: number, seq: number, isBeyond?: boolean]>>,
  root = 'rb-root',
): AnnouncedOf {
  return ({ id }) => {
    const place = places[id];
    return place === undefined
      ? null
      : { partition: place[0], seq: place[1], is_beyond: place[2] === true, root_rollback_id: root };
  };
}
