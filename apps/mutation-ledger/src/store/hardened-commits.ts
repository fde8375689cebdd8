// Commits whose state was given up, as the projection has them: whose keys are to be destroyed.
//
// Boundary: reads the projection and nothing else.
//
// Invariants
//   H1. Rows of a partition appear in the order of their time; two of one millisecond in any order. So a reader that goes on
//       from a millisecond it has seen reads that one again.
import { Parameters, Queries, tableOf } from '@recourse/service';
import type { Query } from '@recourse/service';
import type { HardenCause } from '@recourse/messages';
import { MUTATIONS_LOG } from '../reads/mutation-statements.js';

/** Why a state was given up, each as `hardened` has it. */
export const HARDEN_CAUSES = { rolled_back: true, retention: true } as const satisfies Record<HardenCause, true>;

/** A commit whose state was given up. */
export interface HardenedCommit {
  readonly tenant: string;
  readonly commit_id: string;
  /** When its row changed last, epoch milliseconds. */
  readonly updated_at: number;
}

/** Where a reader of one partition is: rows behind it are seen. */
export interface Mark {
  readonly updatedAt: number;
  readonly commitId: string;
}

/** Before every row. */
export const MARK_START: Mark = { updatedAt: 0, commitId: '' };

const COMMIT = tableOf(MUTATIONS_LOG, 'commit');
const HEADS = tableOf(MUTATIONS_LOG, 'heads');

/** Rows behind a mark, oldest first; served by (hardened, updated_at). */
export function hardenedQuery(partition: number, { updatedAt, commitId }: Mark, limit: number): Query {
  const given = new Parameters();
  const [at, time, id, count] = [given.add(partition), given.add(updatedAt), given.add(commitId), given.add(limit)];
  const causes = given.list(Object.keys(HARDEN_CAUSES));
  return {
    text: `SELECT tenant, row_key AS commit_id, updated_at::text FROM ${COMMIT} WHERE hardened IN (${causes}) AND updated_at >= ${time} AND log_partition = ${at} AND (updated_at, row_key) > (${time}, ${id}) ORDER BY updated_at, row_key LIMIT ${count}`,
    values: given.values,
  };
}

/** Commits by what became of their state. */
export const COUNT_QUERY: Query = {
  text: `SELECT coalesce(hardened, 'kept') AS status, count(*)::int AS commits FROM ${COMMIT} GROUP BY hardened`,
  values: [],
};
const PARTITIONS_QUERY: Query = { text: `SELECT log_partition FROM ${HEADS} ORDER BY log_partition`, values: [] };

export class HardenedCommits extends Queries {
  async partitions(): Promise<readonly number[]> {
    return (await this.rows<{ log_partition: number }>('list partitions', PARTITIONS_QUERY)).map(
      ({ log_partition }) => log_partition,
    );
  }

  async after(partition: number, mark: Mark, limit: number): Promise<readonly HardenedCommit[]> {
    const rows = await this.rows<{ tenant: string; commit_id: string; updated_at: string }>(
      'read given-up states',
      hardenedQuery(partition, mark, limit),
    );
    return rows.map((row) => ({ ...row, updated_at: Number(row.updated_at) }));
  }

  /** Number of commits by status: `kept`, or why the state was given up. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.rows<{ status: string; commits: number }>('count commits', COUNT_QUERY);
    return Object.fromEntries(rows.map(({ status, commits }) => [status, commits]));
  }
}
