// Reads of lineage from the projection: closures over all partitions, rows of what they reach, cursors of who has read the notices.
//
// Boundary: reads and nothing else; what it means is decided in rules/lineage-view.
import { decodeDoc } from '@recourse/event-log';
import { docOf, limitTo, numberOrNull, Queries } from '@recourse/service';
import type { Commit } from '../rules/commit/commit.messages.js';
import type { BoxesAsked, Placed } from '../rules/lineage-view/boxes.decisions.js';
import type { Heard } from '../rules/lineage-view/graph.decisions.js';
import type { Named, Reliance } from '../rules/lineage-view/lineage.messages.js';
import type { Reached } from '../rules/lineage-view/preview.decisions.js';
import type { NoticeCursor } from '../rules/lineage-view/settled.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  closureQuery,
  commitQuery,
  CURSORS_QUERY,
  heardQuery,
  placedQuery,
  reachedQuery,
  reliancesAmongQuery,
  reliancesQuery,
  relyingQuery,
  restsOnQuery,
  rowsQuery,
} from './lineage-statements.js';

type ReachedRow = Omit<Reached, 'value_minor' | 'recorded_at'> & {
  readonly value_minor: string | null;
  readonly recorded_at: string;
};
interface Cursor {
  readonly topic: string;
  readonly partition: number;
  readonly seq: number;
}

/** Commits, and whether there are more. */
export interface Walked {
  readonly commits: readonly Named[];
  readonly truncated: boolean;
}

export class LineageQueries extends Queries {
  async commit(id: string, tenant: string | undefined): Promise<Named | null> {
    return (await this.rows<Named>('find a commit', commitQuery(id, tenant)))[0] ?? null;
  }

  /** Commits around one: those that rest on it, then those it rests on, itself first. */
  async around(from: Named, limit: number): Promise<Walked> {
    const [down, up] = await this.atOnce(async (ask) => [
      await ask<Named>('walk lineage down', reachedQuery([from], limit)),
      await ask<Named>('walk lineage up', restsOnQuery([from], limit)),
    ]);
    const all = [
      ...new Map([...down, ...up].map((named) => [`${named.run_id}\u0000${named.id}`, named] as const)).values(),
    ];
    const { items, more } = limitTo(all, limit);
    return { commits: items, truncated: more };
  }

  /** Commits that rely on a ref, and whether there are more. */
  async relying(asked: Parameters<typeof relyingQuery>[0], partitions: number, limit: number): Promise<Walked> {
    const found = await this.rows<Named>('find who relies on a ref', relyingQuery(asked, partitions, limit));
    const { items, more } = limitTo(found, limit);
    return { commits: items, truncated: more };
  }

  /** What a closure holds; those asked about among them. */
  async closure(
    from: readonly Named[],
    limit: number,
  ): Promise<{
    readonly reached: readonly Reached[];
    readonly reliances: readonly Reliance[];
    readonly truncated: boolean;
  }> {
    const { rows, reliances } = await this.atOnce(async (ask) => ({
      rows: await ask<ReachedRow>('read a closure', closureQuery(from, limit)),
      reliances: await ask<Reliance>('read the edges of a closure', reliancesQuery(from, limit)),
    }));
    const reached = rows.map(({ value_minor, recorded_at, ...row }) => ({
      ...row,
      value_minor: numberOrNull(value_minor),
      recorded_at: Number(recorded_at),
    }));
    return {
      reached: reached.slice(0, limit),
      reliances,
      truncated: reached.length > limit,
    };
  }

  /** Rows of commits of one tenant and what lies between them. */
  async surroundings(
    tenant: string,
    ids: readonly string[],
  ): Promise<{
    readonly mutations: readonly Mutation[];
    readonly commits: readonly Commit[];
    readonly reliances: readonly Reliance[];
    readonly heard: readonly Heard[];
  }> {
    const { mutations, commits, reliances, heard } = await this.atOnce(async (ask) => ({
      mutations: await ask<{ doc: Buffer; lasting: Buffer }>('read mutations', rowsQuery('mutation', tenant, ids)),
      commits: await ask<{ doc: Buffer }>('read commits', rowsQuery('commit', tenant, ids)),
      reliances: await ask<Reliance>('read edges', reliancesAmongQuery(tenant, ids)),
      heard: await ask<Heard>('read who heard', heardQuery(tenant, ids)),
    }));
    // Rows of these tables are written from mutations and commits alone.
    return {
      mutations: mutations.map((row) => docOf(row) as Mutation),
      commits: commits.map(({ doc }) => decodeDoc(doc) as Commit),
      reliances,
      heard,
    };
  }

  /** What columns know of commits of one tenant, and what lies between them. */
  async placed(tenant: string, commits: readonly Named[]): Promise<Pick<BoxesAsked, 'placed' | 'reliances' | 'heard'>> {
    const ids = commits.map(({ id }) => id);
    const { placed, reliances, heard } = await this.atOnce(async (ask) => ({
      placed: await ask<Omit<Placed, 'reattached'> & { readonly reattached: Placed['reattached'] | null }>(
        'read commits in columns',
        placedQuery(tenant, commits),
      ),
      reliances: await ask<Reliance>('read edges', reliancesAmongQuery(tenant, ids)),
      heard: await ask<Heard>('read who heard', heardQuery(tenant, ids)),
    }));
    return { placed: placed.map((row) => ({ ...row, reattached: row.reattached ?? [] })), reliances, heard };
  }

  /** How far each partition of the ledger has read a topic. */
  async cursors(topic: string): Promise<readonly NoticeCursor[]> {
    const heads = await this.rows<{ log_partition: number; cursors: Buffer }>('read cursors', CURSORS_QUERY);
    return heads.flatMap(({ log_partition: partition, cursors }) => {
      const read = decodeDoc(cursors)['cursors'] as readonly Cursor[]; // the projector writes it as a list of these
      return read
        .filter((cursor) => cursor.topic === topic)
        .map(({ partition: of, seq: position }) => ({ partition, of, position }));
    });
  }
}
