// Cursor of a poll: opaque to callers, bound to no scope.
//
//   cursor = base64url(JSON [[partition, seq], ...])
import { EdgeRefusal, parse } from '@recourse/service';
import { z } from 'zod';
import type { PollCursor } from '../../outbound/consumer-queries.js';

/** More partitions than any installation has. */
const PARTITIONS_MAX = 4_096;
const place = z.tuple([
  z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
]);
const shape: z.ZodType<PollCursor> = z.array(place).max(PARTITIONS_MAX);

/** Text of a cursor. */
export function pollCursorText(cursor: PollCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID for what is none. */
export function pollCursorOf(text: string | undefined): PollCursor {
  if (text === undefined) return [];
  try {
    return parse(shape, JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new EdgeRefusal(
      'INPUT_INVALID',
      'the cursor is none of a poll',
      [
        {
          code: 'CURSOR_INVALID',
          message: 'Pass `after` of the poll before as it was; leave it out to read from the beginning.',
          path: '/after',
        },
      ],
      { cause },
    );
  }
}
