// Lists and single items of a projection, narrowed to the caller's tenant, with what sealed payloads hold for who may see it.
//
// Invariants
//   R1. Nothing that was opened leaves before the log says who read it, where and by which route; where that cannot be
//       recorded in time, nothing leaves (READING_UNRECORDED).
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ColumnValue, Doc } from '@recourse/event-log';
import { z } from 'zod';
import { hasErased, openersOf, readingOf, sealedIn, withheld } from '../../edge/readings.js';
import { tenantOfRead } from '../../edge/principal.js';
import { EdgeRefusal } from '../../edge/problem.js';
import { render } from '../../edge/render.js';
import type { Rendered } from '../../edge/render.js';
import { tenantText } from '../../edge/validate.js';
import type { PagePosition, PageQuery, PlacedRow } from '../../projection-reads.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { ServiceContext } from '../../service-context.js';
import type { Caller } from './caller.js';
import { pageCursorText, partitionNumber, placeText, readPageCursor } from './cursor.js';

export interface ListQuery {
  readonly log: string;
  readonly kind: string;
  readonly where: Readonly<Record<string, ColumnValue | readonly string[] | undefined>>;
  /** As the caller named it. */
  readonly tenant?: string | undefined;
  /** Tenant whose rows everybody sees, e.g. `*` for contracts of all. */
  readonly sharedTenant?: string;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** What is told of a row beside it, made from it as it is stored. */
  readonly adds?: (doc: Doc) => Doc;
}

export interface ListAnswer<Item = unknown> {
  readonly items: readonly Item[];
  /** Pass it as `cursor` for the next page; null on the last. */
  readonly next_cursor: string | null;
}

/** Less than an identifier of a record may have (L7). */
const ROUTE_MAX = 500;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;

/** What is shown of docs. */
export interface Shown<Of extends Doc = Doc> {
  readonly docs: readonly Of[];
  /** Payloads stayed sealed for this caller; these roles would open them. Null: none did. */
  readonly sealedFor: readonly string[] | null;
}

/** Query members that every list takes. */
export const pageQuery = {
  tenant: tenantText.optional().describe('Only a token for all tenants may name one.'),
  cursor: z.string().max(2_048).optional().describe('next_cursor of the previous page.'),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).optional(),
};

/** Query of a route to one thing. */
export const oneQuery = z.strictObject({ tenant: pageQuery.tenant });

const position = z.object({ partition: partitionNumber, group: placeText, key: placeText });

@Injectable()
export class Reads {
  constructor(@Inject(SERVICE_CONTEXT) private readonly service: ServiceContext) {}

  /** Errors: EdgeRefusal(TENANT_FOREIGN, INPUT_INVALID); Failure(DATABASE_UNAVAILABLE, KEY_STORE_UNAVAILABLE). */
  async list<Of extends object = Doc>(caller: Caller, query: ListQuery): Promise<ListAnswer<Rendered<Of>>> {
    const list = { log: query.log, kind: query.kind, where: this.narrowed(caller.principal, query) };
    const { rows, next } = await this.service.host.page({
      ...list,
      after: readPageCursor(list, position, query.cursor),
      limit: query.limit ?? LIMIT_DEFAULT,
    });
    const { docs } = await this.shown(
      caller,
      rows.map(({ doc }) => doc),
    );
    return {
      // Rows of a kind are what whoever names the kind says.
      items: docs.map((doc, at) => render({ ...doc, ...query.adds?.(rows[at]?.doc ?? doc) } as unknown as Of)),
      next_cursor: next ? pageCursorText(list, next) : null,
    };
  }

  /** Every row, as it is stored, up to a number of them. Errors: as list. */
  async every(
    { principal }: Pick<Caller, 'principal'>,
    query: Omit<ListQuery, 'cursor' | 'limit'>,
    countMax: number,
  ): Promise<readonly Doc[]> {
    const where = this.narrowed(principal, query);
    const docs: Doc[] = [];
    let after: PagePosition | undefined;
    do {
      const { rows, next } = await this.service.host.page({
        log: query.log,
        kind: query.kind,
        where,
        after,
        limit: Math.min(LIMIT_MAX, countMax - docs.length),
      });
      docs.push(...rows.map(({ doc }) => doc));
      after = next ?? undefined;
    } while (after !== undefined && docs.length < countMax);
    return docs;
  }

  /** The row of each tenant with the highest `version`, as it is stored: all are looked at, one a tenant is held. Errors: as list. */
  async newest(
    { principal }: Pick<Caller, 'principal'>,
    query: Omit<ListQuery, 'cursor' | 'limit'>,
  ): Promise<readonly Doc[]> {
    const { log, kind } = query;
    const where = this.narrowed(principal, query);
    const newest = new Map<unknown, Doc>();
    let after: PagePosition | undefined;
    do {
      const { rows, next } = await this.service.host.page({ log, kind, where, after, limit: LIMIT_MAX });
      for (const { doc } of rows) {
        const held = newest.get(doc['tenant']);
        if (held === undefined || Number(doc['version']) > Number(held['version'])) newest.set(doc['tenant'], doc);
      }
      after = next ?? undefined;
    } while (after !== undefined);
    return [...newest.values()];
  }

  /**
   * Rows with what their sealed payloads hold, or with who opens them. Call it once for all that a request shows: each call is a
   * reading on record. `isAsked`: the thing waits for a decision, so that whoever decides about it is shown it.
   *
   * Errors: EdgeRefusal(READING_UNRECORDED); Failure(KEY_STORE_UNAVAILABLE, BROKER_UNAVAILABLE).
   */
  async shown<Of extends Doc>(caller: Caller, docs: readonly Of[], isAsked = false): Promise<Shown<Of>> {
    const sealed = sealedIn(docs);
    if (sealed.length === 0) return { docs, sealedFor: null };
    const openers = openersOf(caller.opening, isAsked);
    if (!openers.some((role) => caller.principal.roles.includes(role)))
      return { docs: withheld(docs, openers), sealedFor: openers };
    const [opened] = await Promise.all([this.service.shown(docs), this.recordReading(caller, sealed)]);
    return { docs: opened as readonly Of[], sealedFor: null }; // payloads keep their places
  }

  /** Rows that an answer is made of, and is nothing without. Errors: as shown; EdgeRefusal(PAYLOADS_SEALED). */
  async opened<Of extends Doc>(caller: Caller, docs: readonly Of[]): Promise<readonly Of[]> {
    this.refuseSealed(caller, docs);
    return (await this.shown(caller, docs)).docs;
  }

  /** Refuses whoever is not shown what these hold, before more of it is read. Errors: EdgeRefusal(PAYLOADS_SEALED). */
  refuseSealed({ opening, principal }: Pick<Caller, 'opening' | 'principal'>, docs: readonly Doc[]): void {
    const openers = openersOf(opening, false);
    if (sealedIn(docs).length === 0 || openers.some((role) => principal.roles.includes(role))) return;
    throw new EdgeRefusal('PAYLOADS_SEALED', `one of the roles ${openers.join(', ')} is needed`);
  }

  /**
   * Of each, whether it holds a payload that nobody opens any more; what was erased a moment ago too, whatever this process believes.
   * Nobody is shown anything of it, so it is no reading.
   *
   * Errors: Failure(KEY_STORE_UNAVAILABLE).
   */
  async whichErased(parts: readonly unknown[]): Promise<readonly boolean[]> {
    const docs = await this.service.shown(
      parts.map((part) => ({ part })),
      true,
    );
    return docs.map(hasErased);
  }

  private async recordReading(caller: Caller, sealed: readonly Doc[]): Promise<void> {
    const { definition, edge } = this.service;
    const { tenant, ...reading } = readingOf(sealed, caller.principal.tenant);
    const { commandTopic: topic, commandLog: log } = definition;
    const idempotencyKey = randomUUID();
    const { httpStatus } = await edge.submit({
      topic,
      log,
      type: 'recourse.log.RecordReading',
      key: idempotencyKey,
      principal: caller.principal,
      tenant,
      // A path is as long as the ids in it, encoded; its pattern is not.
      route: caller.route.length > ROUTE_MAX ? caller.routePattern : caller.route,
      idempotencyKey,
      body: reading,
      build: (envelope) => ({ envelope, log, ...reading }),
    });
    if (httpStatus !== 201) throw new EdgeRefusal('READING_UNRECORDED', `${log} does not say that it was recorded`);
  }

  /**
   * The one row, as it is stored. A row that is missed is looked for again once the rows have reached the end of the log.
   *
   * Errors: EdgeRefusal(NOT_FOUND) also for what belongs to another tenant; EdgeRefusal(PROJECTION_BEHIND); EdgeRefusal(INPUT_INVALID)
   *         with TENANT_REQUIRED where who speaks for all names no tenant, and several have such a row.
   */
  async find({ principal }: Pick<Caller, 'principal'>, query: Omit<ListQuery, 'cursor' | 'limit'>): Promise<PlacedRow> {
    const { log, kind } = query;
    const where = this.narrowed(principal, query);
    const first = (): Promise<PlacedRow | undefined> => this.first({ log, kind, where });
    const row = await first();
    if (row) return row;
    const isReached = await this.service.projection.isReached(log);
    const again = await first();
    if (again) return again;
    throw isReached
      ? new EdgeRefusal('NOT_FOUND', `no ${kind} under this name`)
      : new EdgeRefusal('PROJECTION_BEHIND', `rows of ${log} are behind`);
  }

  /**
   * The first row; where no tenant narrows it, all are looked at, so that nobody is shown one of several tenants' by chance. A row of
   * no tenant says no more than where another is found.
   */
  private async first(query: Pick<PageQuery, 'log' | 'kind' | 'where'>): Promise<PlacedRow | undefined> {
    const { host } = this.service;
    if ('tenant' in query.where) return (await host.page({ ...query, limit: 1, isOne: true })).rows[0];
    let first: PlacedRow | undefined;
    let after: PagePosition | undefined;
    do {
      const { rows, next } = await host.page({ ...query, after, limit: LIMIT_MAX, isOne: true });
      for (const row of rows) {
        const whose = first?.doc['tenant'];
        if (whose === undefined) first = row;
        else if (![whose, undefined].includes(row.doc['tenant'])) throw tenantRequired(query.kind);
      }
      after = next ?? undefined;
    } while (after !== undefined);
    return first;
  }

  private narrowed(
    principal: Caller['principal'],
    { where, tenant: named, sharedTenant }: ListQuery,
  ): Readonly<Record<string, ColumnValue | readonly string[]>> {
    const tenant = tenantOfRead(principal, named);
    const given = Object.entries(where).filter(
      (entry): entry is [string, ColumnValue | readonly string[]] => entry[1] !== undefined,
    );
    if (tenant === undefined) return Object.fromEntries(given);
    return { ...Object.fromEntries(given), tenant: sharedTenant === undefined ? tenant : [tenant, sharedTenant] };
  }
}

function tenantRequired(kind: string): EdgeRefusal {
  const message = `Several tenants have a ${kind} under this name: name the tenant whose you mean.`;
  return new EdgeRefusal('INPUT_INVALID', 'name the tenant', [{ code: 'TENANT_REQUIRED', message, path: '/tenant' }]);
}
