// Reports over rollbacks and limits: sums over their rows.
//
// Boundary: reads the projection and nothing else; never writes, never waits for the loop.
import { limitTo, Queries } from '@recourse/service';
import type { Limited } from '@recourse/service';
import { rollbacksQuery, sourcesQuery } from './rollback-statements.js';
import type { RollbackFilter, RollbackGroup } from './rollback-statements.js';

/** A source of triggers and what people said of them. */
export interface TriggerSource {
  readonly tenant: string;
  readonly source: string;
  /** Null while nobody judged it: it weighs what it was registered with. */
  readonly weight_permille: number | null;
  readonly confirmed: number;
  readonly rejected: number;
  readonly rollbacks: number;
  readonly held: number;
}

/** Rollbacks that have something in common. */
export interface CountedRollbacks {
  readonly tenant: string;
  /** Of the agent, the policy or the source; null where none is known. */
  readonly name: string | null;
  readonly rollbacks: number;
  readonly compensated: number;
  readonly manual: number;
  readonly runs: number;
}

/** Rows of a report, and whether there are more. */
export type Report<Row> = Limited<Row>;

export class RollbackQueries extends Queries {
  async sources(filter: RollbackFilter, limit: number): Promise<Report<TriggerSource>> {
    return limitTo(await this.rows<TriggerSource>('count sources', sourcesQuery(filter, limit)), limit);
  }

  async rollbacks(by: RollbackGroup, filter: RollbackFilter, limit: number): Promise<Report<CountedRollbacks>> {
    return limitTo(await this.rows<CountedRollbacks>('count rollbacks', rollbacksQuery(by, filter, limit)), limit);
  }
}
