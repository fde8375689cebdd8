// Cursors of the ledger's own lists: opaque to callers, bound to the list, its filters and the order they were made in.
//
//   place = [order, ...values of the order's columns]
import { pageCursorText, readPageCursor } from '@recourse/service';
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

export interface OrderedList {
  /** Its path. */
  readonly list: string;
  readonly order: Order;
  /** All that narrows it. */
  readonly filter: Readonly<Record<string, unknown>>;
}

/** Text of a position; null on the last page. */
export function cursorOf({ list, order, filter }: OrderedList, position: Position | null): string | null {
  return position === null ? null : pageCursorText({ list, filter }, [order, ...position]);
}

/** Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID for what is no cursor of this list. */
export function positionOf({ list, order, filter }: OrderedList, cursor: string | undefined): Position | undefined {
  const shape: z.ZodType<readonly [string, ...(string | number)[]]> = SHAPES[order];
  return readPageCursor({ list, filter }, shape, cursor)?.slice(1);
}
