// Cursors of lists: where the next page begins, as text that only we read.
//
//   cursor = base64url(JSON)
//   cursor of a list = base64url(JSON [mark, place])
//   mark = the first digits of SHA-256(canonical JSON of the list and of what narrows it)
//
// Invariants
//   C1. A list takes no cursor that another one gave, nor one of its own under other filters: it would leave out rows unsaid.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import { z } from 'zod';
import { EdgeRefusal } from '../../edge/problem.js';
import { parse } from '../../edge/validate.js';

/** A text of a place: one that rows may hold, so that a forged one never reaches the database. */
export const placeText = z
  .string()
  .max(2_000)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), 'no row holds such a text');
/** A partition, as wide as a column of them. */
export const partitionNumber = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

/** Text of a place in a list. */
export function cursorText(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** What to tell a caller whose cursor is refused. */
export interface CursorHint {
  /** Query member that carries it. */
  readonly path: string;
  readonly message: string;
}

const NEXT_PAGE: CursorHint = {
  path: '/cursor',
  message: 'Pass next_cursor of the previous page unchanged, to the same list, with the same filters.',
};
/** Enough that no two lists share one by chance; nothing is kept safe by it. */
const MARK_DIGITS = 16;

/** Reads a cursor; undefined without one. Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID. */
export function readCursor<Place>(
  shape: z.ZodType<Place>,
  cursor: string | undefined,
  { path, message }: CursorHint,
): Place | undefined {
  if (cursor === undefined) return undefined;
  try {
    return parse(shape, JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new EdgeRefusal('INPUT_INVALID', 'not a cursor of this list', [{ code: 'CURSOR_INVALID', message, path }], {
      cause,
    });
  }
}

/** What a cursor is made for: the list, and all that narrows it, as JSON; not the size of a page. */
export type PagedList = Readonly<Record<string, unknown>>;

/** Text of a place in this list. */
export function pageCursorText(list: PagedList, place: unknown): string {
  return cursorText([markOf(list), place]);
}

/** Reads a cursor of this list; undefined without one. Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID. */
export function readPageCursor<Place>(
  list: PagedList,
  shape: z.ZodType<Place>,
  cursor: string | undefined,
): Place | undefined {
  if (cursor === undefined) return undefined;
  return readCursor(z.tuple([z.literal(markOf(list)), shape]), cursor, NEXT_PAGE)?.[1];
}

function markOf(list: PagedList): string {
  return sha256Hex(canonicalJson(list)).slice(0, MARK_DIGITS);
}
