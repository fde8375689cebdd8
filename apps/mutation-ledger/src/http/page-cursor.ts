// Cursors of the ledger's own lists: opaque to callers, bound to the order they were made in.
//
//   cursor = base64url(JSON [order, ...values of the order's columns])
import { cursorText, readCursor } from '@recourse/service';
import type { CursorHint } from '@recourse/service';
import { z } from 'zod';
import type { Order, Position } from '../reads/mutation-statements.js';

const key = z
  .string()
  .max(512)
  // eslint-disable-next-line no-control-regex -- NUL is the one character PostgreSQL cannot hold
  .regex(/^[^\u0000]*$/);
const instant = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const partition = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const SHAPES = {
  place: z.tuple([z.literal('place'), partition, key, key]),
  updated: z.tuple([z.literal('updated'), instant, key]),
  expiry: z.tuple([z.literal('expiry'), instant, key]),
  newest: z.tuple([z.literal('newest'), instant, key]),
} as const satisfies Record<Order, z.ZodType<readonly [string, ...(string | number)[]]>>;

const SAME_LIST: CursorHint = {
  path: '/cursor',
  message: 'Pass next_cursor of the previous page unchanged, with the same filters.',
};

/** Text of a position; null on the last page. */
export function cursorOf(order: Order, position: Position | null): string | null {
  return position === null ? null : cursorText([order, ...position]);
}

/** Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID for what is no cursor of this list. */
export function positionOf(order: Order, cursor: string | undefined): Position | undefined {
  return readCursor<readonly [string, ...(string | number)[]]>(SHAPES[order], cursor, SAME_LIST)?.slice(1);
}
