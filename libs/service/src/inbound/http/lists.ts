// Lists of a log's rows as a table: path, kind, and which query member narrows which column. The routes follow from it.
import { Controller, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { ColumnValue } from '@recourse/event-log';
import { z } from 'zod';
import { render } from '../../edge/render.js';
import { FromCaller } from './caller.js';
import type { Caller } from './caller.js';
import { oneQuery, pageQuery, Reads } from './reads.js';
import type { ListAnswer } from './reads.js';
import { addRoute, Id, Queried, ReadRoute } from './routes.js';

type Doc = Readonly<Record<string, unknown>>;

/** What a query member means for a column. */
type Narrowing = z.ZodType<ColumnValue | readonly string[] | undefined>;

/** `tenant`: as the caller named it; `asked`: the other members of the query. Errors: those of Reads. */
export type Named = (
  reads: Pick<Reads, 'every'>,
  caller: Caller,
  value: string,
  query: { readonly tenant: string | undefined; readonly asked: Doc },
) => Promise<readonly string[]>;

export interface ListSpec {
  readonly kind: string;
  readonly summary: string;
  /** By query member: it narrows the column of its name. A transform may put other values for those a caller names. */
  readonly where?: Readonly<Record<string, Narrowing>>;
  /** By query member: the column, where it has another name. */
  readonly columns?: Readonly<Record<string, string>>;
  /** By column, where no query member narrows it: every value it may have, so that an index serves which begins with it. */
  readonly always?: Readonly<Record<string, readonly string[]>>;
  /** By query member: every value that names the same as the one a caller gives. */
  readonly named?: Readonly<Record<string, Named>>;
  /** Tenant whose rows everybody sees, e.g. `*` for contracts of all. */
  readonly sharedTenant?: string;
  /** What is told of a row beside it, made from it. */
  readonly adds?: (doc: Doc) => Doc;
  /** Answers `<path>/:id` with the one row in which this column holds the id. */
  readonly one?: {
    readonly column: string;
    readonly summary: string;
    /** Whether the row waits for a decision: who may decide is shown its payloads meanwhile. */
    readonly asks?: (doc: Doc) => boolean;
  };
}

/** Rows by the path of their list, as they are answered: what is added to them is in them. */
type Answers = Readonly<Record<string, object>>;

export interface ListsOptions<Of extends Answers = Answers> {
  /** Groups the routes in OpenAPI. */
  readonly tag: string;
  /** Topic of the log. */
  readonly log: string;
  /** By path below `v1`. */
  readonly lists: { readonly [Path in keyof Of]: ListSpec };
}

/** A controller of lists; what it is told of its rows stands in the OpenAPI documents. Errors of its routes: those of Reads. */
export function listsController<Of extends Answers>({
  tag,
  log,
  lists,
}: ListsOptions<Of>): Type & Pick<ListsOptions, 'log' | 'lists'> {
  @ApiTags(tag)
  @ApiBearerAuth()
  @Controller('v1')
  class ListsController {
    static readonly log = log;
    static readonly lists = lists;
    constructor(@Inject(Reads) readonly reads: Reads) {}
  }
  for (const [path, spec] of Object.entries<ListSpec>(lists)) {
    const { summary, where = {}, one } = spec;
    const query = z.strictObject({ ...pageQuery, ...where });
    addRoute(ListsController, `list_${path}`, {
      decorators: [ReadRoute(path, summary, query)],
      parameters: [FromCaller(), Queried(query)],
      handle: ({ reads }, caller: Caller, asked: Asked) => listOf(reads, { log, spec, caller }, asked),
    });
    if (one !== undefined)
      addRoute(ListsController, `one_of_${path}`, {
        decorators: [ReadRoute(`${path}/:id`, one.summary, oneQuery)],
        parameters: [FromCaller(), Id('id'), Queried(oneQuery)],
        handle: ({ reads }, caller: Caller, id: string, { tenant }: z.infer<typeof oneQuery>) =>
          oneOf(reads, { log, spec, caller }, one, { id, tenant }),
      });
  }
  return ListsController;
}

type Asked = z.infer<z.ZodObject<typeof pageQuery>> &
  Readonly<Record<string, ColumnValue | readonly string[] | undefined>>;

interface Place {
  readonly log: string;
  readonly spec: ListSpec;
  readonly caller: Caller;
}

async function listOf(reads: Reads, { log, spec, caller }: Place, asked: Asked): Promise<ListAnswer> {
  const { tenant, cursor, limit, ...narrowed } = asked;
  const { kind, columns = {}, named = {}, always = {}, sharedTenant, adds } = spec;
  const conditions = Object.entries(narrowed).map(async ([name, value]) => {
    const all =
      typeof value === 'string' ? named[name]?.(reads, caller, value, { tenant, asked: narrowed }) : undefined;
    return [columns[name] ?? name, (await all) ?? value] as const;
  });
  const given = (await Promise.all(conditions)).filter(([, value]) => value !== undefined);
  const where = { ...always, ...Object.fromEntries(given) };
  return reads.list(caller, {
    log,
    kind,
    where,
    tenant,
    cursor,
    limit,
    ...(adds === undefined ? {} : { adds }),
    ...(sharedTenant === undefined ? {} : { sharedTenant }),
  });
}

async function oneOf(
  reads: Reads,
  { log, spec, caller }: Place,
  { column, asks }: NonNullable<ListSpec['one']>,
  { id, tenant }: { readonly id: string; readonly tenant: string | undefined },
): Promise<unknown> {
  const { kind, sharedTenant } = spec;
  const query = { log, kind, where: { [column]: id }, tenant, ...(sharedTenant === undefined ? {} : { sharedTenant }) };
  const { doc } = await reads.find(caller, query);
  const { docs } = await reads.shown(caller, [doc], asks?.(doc));
  return render({ ...docs[0], ...spec.adds?.(doc) });
}
