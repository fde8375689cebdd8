// Reads of the ledger that the shared lists do not give: by time of closing, by status, summed.
//
// Boundary: reads the projection and nothing else; never writes, never waits for the loop. Values of columns are shortened
// as the projection shortens them, so that what is compared is what is stored.
import type { Doc } from '@recourse/event-log';
import { docOf, limitTo, numberOrNull, Queries } from '@recourse/service';
import type { Limited, ManualReason } from '@recourse/service';
import type { Compensation } from '../rules/compensation/compensation.messages.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  effectsQuery,
  exposureQuery,
  manualReasonsQuery,
  namedQuery,
  ORDERS,
  pageQuery,
  runQuery,
  stakeQuery,
} from './mutation-statements.js';
import type { Closing, Filter, PageAsked, Position } from './mutation-statements.js';

export interface MutationPage {
  readonly mutations: readonly Mutation[];
  /** Position of the last row; null on the last page. */
  readonly next: Position | null;
}

/** A page of what was executed: effects, and what undid some of them. */
export interface EffectPage {
  readonly effects: readonly (Mutation | Compensation)[];
  /** Position of the last row; null on the last page. */
  readonly next: Position | null;
}

interface PageOfDocs {
  readonly items: readonly Doc[];
  readonly next: Position | null;
}

/** Money of one tenant in one currency whose windows close. */
export interface Stake {
  readonly tenant: string;
  /** Null for mutations whose contract names no value. */
  readonly currency: string | null;
  /** Minor units; decimal text where a number would not be exact; null without a currency. */
  readonly amount_minor: number | string | null;
  readonly mutations: number;
  /** Epoch milliseconds. */
  readonly closes_first_at: number;
}

/** Effects of one tool under one contract, in one currency. */
export interface Exposure {
  readonly tenant: string;
  readonly capability: string;
  /** SHA-256 of the contract, hex; null without one. */
  readonly contract_digest: string | null;
  /** Null for effects whose contract names no value. */
  readonly currency: string | null;
  /** Effects whose window is open. */
  readonly open: number;
  readonly recovering: number;
  /** Effects that happened, stand, and that automation cannot reverse; a window that closed, or none there was. */
  readonly beyond: number;
  /** Of those beyond: the ones whose window closed. */
  readonly expired: number;
  /** Effects nobody can say yet whether they happened. */
  readonly uncertain: number;
  /** Compensated, or repaired or corrected by a person. */
  readonly settled: number;
  /** Effects that are known to have happened, and those of them whose evidence fell: the observed part is P. */
  readonly happened: number;
  readonly contradicted: number;
  /** Minor units; decimal text where a number would not be exact; null where nothing has a value. */
  readonly open_minor: number | string | null;
  readonly recovering_minor: number | string | null;
  readonly beyond_minor: number | string | null;
  readonly uncertain_minor: number | string | null;
  /** Soonest end of a window that is open, epoch milliseconds; null without one. */
  readonly closes_first_at: number | null;
}

type PageRow = Readonly<Record<string, string | number>> & { readonly doc: Buffer; readonly lasting: Buffer };
type ExposureTexts = Readonly<
  Record<'open_minor' | 'recovering_minor' | 'beyond_minor' | 'uncertain_minor' | 'closes_first_at', string | null>
>;
interface StakeRow {
  readonly tenant: string;
  readonly currency: string | null;
  readonly amount_minor: string | null;
  readonly mutations: number;
  readonly closes_first_at: string;
}

/** What the id of a rollback or a recovery is about; a recovery is about a run. */
export interface Named {
  readonly names: 'rollback' | 'recovery';
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string | null;
}

export class LedgerQueries extends Queries {
  async page(asked: PageAsked): Promise<MutationPage> {
    const { items, next } = this.cut(asked, await this.rows<PageRow>('read mutations', pageQuery(asked)));
    // Rows of this table are written from mutations alone.
    return { mutations: items as readonly Mutation[], next };
  }

  /** Mutations and compensations, in the order asked for. */
  async effects(asked: Omit<PageAsked, 'closing'>): Promise<EffectPage> {
    const { items, next } = this.cut(asked, await this.rows<PageRow>('read effects', effectsQuery(asked)));
    // Rows of these tables are written from mutations and compensations alone.
    return { effects: items as readonly (Mutation | Compensation)[], next };
  }

  private cut({ limit, order }: Pick<PageAsked, 'limit' | 'order'>, rows: readonly PageRow[]): PageOfDocs {
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      items: shown.map(docOf),
      next: last === undefined ? null : ORDERS[order].map((name) => positionValue(name, last[name])),
    };
  }

  async stakes(filter: Filter, closing: Closing): Promise<readonly Stake[]> {
    const rows = await this.summed<StakeRow>('sum what closes', stakeQuery(filter, closing));
    return rows.map(({ amount_minor, closes_first_at, ...row }) => ({
      ...row,
      amount_minor: exact(amount_minor),
      closes_first_at: Number(closes_first_at),
    }));
  }

  /** Rows of the report, and whether there are more; `now` is epoch milliseconds. */
  async exposure(
    filter: Pick<Filter, 'tenant' | 'capability'>,
    now: number,
    limit: number,
  ): Promise<Limited<Exposure>> {
    const rows = await this.summed<Omit<Exposure, keyof ExposureTexts> & ExposureTexts>(
      'sum what is exposed',
      exposureQuery(filter, now, limit),
    );
    const { items, more } = limitTo(rows, limit);
    const exposures = items.map(
      ({ open_minor, recovering_minor, beyond_minor, uncertain_minor, closes_first_at, ...row }) => ({
        ...row,
        open_minor: exact(open_minor),
        recovering_minor: exact(recovering_minor),
        beyond_minor: exact(beyond_minor),
        uncertain_minor: exact(uncertain_minor),
        closes_first_at: numberOrNull(closes_first_at),
      }),
    );
    return { items: exposures, more };
  }

  /** Why people were asked about what agents did. */
  async manualReasons(filter: Pick<Filter, 'tenant' | 'capability'>, limit: number): Promise<Limited<ManualReason>> {
    return limitTo(await this.summed<ManualReason>('count manual reasons', manualReasonsQuery(filter, limit)), limit);
  }

  async mutation(id: string, tenant: string | undefined): Promise<Mutation | null> {
    return (await this.page({ filter: { mutation_id: id, tenant }, order: 'place', limit: 1 })).mutations[0] ?? null;
  }

  async named(id: string, tenant: string | undefined): Promise<Named | null> {
    return (await this.rows<Named>('read a name', namedQuery(id, tenant)))[0] ?? null;
  }

  /** Tenant and number of mutations of a run; null when there is none. */
  async run(
    runId: string,
    tenant: string | undefined,
  ): Promise<{ readonly tenant: string; readonly mutations: number } | null> {
    return (await this.rows<{ tenant: string; mutations: number }>('read a run', runQuery(runId, tenant)))[0] ?? null;
  }
}

/** The driver gives 64-bit numbers as text. */
function positionValue(name: string, value: string | number | undefined): string | number {
  return name.endsWith('_key') ? String(value) : Number(value);
}

function exact(decimal: string | null): number | string | null {
  if (decimal === null) return null;
  const value = Number(decimal);
  return Number.isSafeInteger(value) ? value : decimal;
}
