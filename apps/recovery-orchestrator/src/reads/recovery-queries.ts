// Reads of the orchestrator that the shared lists do not give: rows in the order of their time, and sums over those of steps.
//
// Boundary: reads the projection and nothing else; never writes, never waits for the loop.
import type { Doc } from '@recourse/event-log';
import { docOf, limitTo, numberOrNull, Queries } from '@recourse/service';
import type { Limited, ManualReason } from '@recourse/service';
import type { Asked } from '../rules/step/workers.decisions.js';
import { askedQuery, manualReasonsQuery, pacesQuery, recoveriesQuery, timedQuery } from './recovery-statements.js';
import type { ReportFilter, TimedAsked, TimedPlace } from './recovery-statements.js';

/** What was observed of the recoveries of one tool. */
export interface ObservedRecoveries {
  readonly tenant: string;
  readonly capability: string;
  readonly compensated: number;
  /** Of the compensated: those that nobody had to agree to, and that no person had meanwhile. */
  readonly automatic: number;
  readonly manual: number;
  readonly open: number;
  readonly not_needed: number;
  /** Legs that were dispatched, repeats included. */
  readonly attempts: number;
  /** Milliseconds from when the validation failed to the verification; null while none was compensated. */
  readonly mean_ms: number | null;
  readonly max_ms: number | null;
}

/** A schedule of a rate that is in use. */
export interface BusyPace {
  readonly tenant: string;
  readonly scope: string;
  readonly name: string;
  readonly next_at: number;
  readonly waiting: number;
}

/** A row of a list in the order of its time. */
export interface TimedRow {
  readonly place: TimedPlace;
  readonly doc: Doc;
}

interface StoredTimed {
  readonly at: string;
  readonly log_partition: number;
  readonly group_key: string;
  readonly row_key: string;
  readonly doc: Buffer;
  readonly lasting: Buffer | null;
}

type Texts = Readonly<Record<'attempts' | 'mean_ms' | 'max_ms', string | null>>;

/** Rows of a report, and whether there are more. */
export type Report<Row> = Limited<Row>;

export class RecoveryQueries extends Queries {
  /** Rows up to the limit, the soonest first, and one more where there are others. */
  async timed(asked: TimedAsked): Promise<readonly TimedRow[]> {
    const rows = await this.rows<StoredTimed>('list by time', timedQuery(asked));
    return rows.map(({ at, log_partition, group_key, row_key, ...stored }) => ({
      place: [Number(at), log_partition, group_key, row_key],
      doc: docOf(stored),
    }));
  }

  async manualReasons(filter: ReportFilter, limit: number): Promise<Report<ManualReason>> {
    return limitTo(await this.summed<ManualReason>('count manual reasons', manualReasonsQuery(filter, limit)), limit);
  }

  async recoveries(filter: ReportFilter, limit: number): Promise<Report<ObservedRecoveries>> {
    const rows = await this.summed<Omit<ObservedRecoveries, keyof Texts> & Texts>(
      'sum recoveries',
      recoveriesQuery(filter, limit),
    );
    return limitTo(
      rows.map(({ attempts, mean_ms, max_ms, ...row }) => ({
        ...row,
        attempts: Number(attempts),
        mean_ms: numberOrNull(mean_ms),
        max_ms: numberOrNull(max_ms),
      })),
      limit,
    );
  }

  async asked(filter: ReportFilter, now: number, limit: number): Promise<Report<Asked>> {
    const rows = await this.summed<Omit<Asked, 'oldest_at'> & { readonly oldest_at: string }>(
      'count what is asked of workers',
      askedQuery(filter, now, limit),
    );
    return limitTo(
      rows.map((row) => ({ ...row, oldest_at: Number(row.oldest_at) })),
      limit,
    );
  }

  async paces(filter: ReportFilter, now: number, limit: number): Promise<Report<BusyPace>> {
    const rows = await this.summed<Omit<BusyPace, 'next_at'> & { readonly next_at: string }>(
      'list rates',
      pacesQuery(filter, now, limit),
    );
    return limitTo(
      rows.map(({ next_at, ...row }) => ({ ...row, next_at: Number(next_at) })),
      limit,
    );
  }
}
