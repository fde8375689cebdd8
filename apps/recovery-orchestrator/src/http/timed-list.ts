// Lists of what waits for people in the order of its time: whoever looks at one page sees what is soonest of all.
//
// Boundary: reads the projection, narrowed to the caller's tenant; what sealed payloads hold is told by Reads.
import {
  limitTo,
  pageCursorText,
  partitionNumber,
  placeText,
  readPageCursor,
  render,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, ListAnswer, Reads, Rendered } from '@recourse/service';
import type { Doc } from '@recourse/event-log';
import { z } from 'zod';
import type { RecoveryQueries } from '../reads/recovery-queries.js';
import { TIMED } from '../reads/recovery-statements.js';
import type { TimedAsked, TimedPlace } from '../reads/recovery-statements.js';

/** What is listed. */
export interface ListAsked extends Pick<TimedAsked, 'kind' | 'where'> {
  /** As the caller named it. */
  readonly tenant?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

const LIMIT_DEFAULT = 100;
const place: z.ZodType<TimedPlace> = z.tuple([z.int(), partitionNumber, placeText, placeText]);

/** A page of rows, the soonest first. Errors: those of `Reads.list`. */
export async function timedList<Of extends Doc>(
  { reads, queries }: { readonly reads: Reads; readonly queries: RecoveryQueries },
  caller: Caller,
  { kind, where, tenant: named, cursor, limit = LIMIT_DEFAULT }: ListAsked,
): Promise<ListAnswer<Rendered<Of>>> {
  const narrowed = { ...where, tenant: tenantOfRead(caller.principal, named) };
  const list = { list: kind, by: TIMED[kind], where: narrowed };
  const found = await queries.timed({ kind, where: narrowed, after: readPageCursor(list, place, cursor), limit });
  const { items, more } = limitTo(found, limit);
  const last = more ? items.at(-1) : undefined;
  const { docs } = await reads.shown(
    caller,
    items.map(({ doc }) => doc as Of), // rows of a kind are what whoever names the kind says
  );
  return {
    items: docs.map((doc) => render(doc)),
    next_cursor: last === undefined ? null : pageCursorText(list, last.place),
  };
}
