// Lists, page by page.
import type * as z from 'zod/mini';
import { checked } from './clients.js';

export type Call = Parameters<typeof checked>[1];

/** Where the next page begins; empty for the first. */
export interface More {
  readonly cursor?: string;
}

export interface Pages<T> {
  readonly items: readonly T[];
  /** There are more than were read. */
  readonly isCut: boolean;
}

interface Page<T> {
  readonly items: T[];
  readonly next_cursor?: string | null | undefined;
  readonly more?: boolean | undefined;
}

/** All of a list up to a number of its things, and whether there are more. Errors: ApiProblem. */
export async function everyPage<T>(
  page: z.ZodMiniType<Page<T>>,
  call: (more: More) => Call,
  max: number,
): Promise<Pages<T>> {
  const items: T[] = [];
  let next: Page<T> = { items: [] };
  do {
    next = await checked(page, call(typeof next.next_cursor === 'string' ? { cursor: next.next_cursor } : {}));
    items.push(...next.items);
  } while (typeof next.next_cursor === 'string' && items.length < max);
  return { items, isCut: typeof next.next_cursor === 'string' || next.more === true };
}

/** The first of a list that is so, on whichever of its pages; undefined where none is. Errors: ApiProblem. */
export async function foundIn<T>(
  page: z.ZodMiniType<Page<T>>,
  call: (more: More) => Call,
  isIt: (item: T) => boolean,
): Promise<T | undefined> {
  let cursor: string | null | undefined;
  do {
    const { items, next_cursor } = await checked(page, call(typeof cursor === 'string' ? { cursor } : {}));
    const found = items.find(isIt);
    if (found !== undefined) return found;
    cursor = next_cursor;
  } while (typeof cursor === 'string');
  return undefined;
}
