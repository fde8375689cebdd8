// Cursor of a poll: opaque to callers, bound to no scope.
//
//   cursor = base64url(JSON [[partition, seq, member], ...])
import { cursorText, partitionNumber, readCursor } from '@recourse/service';
import type { CursorHint } from '@recourse/service';
import { z } from 'zod';
import type { PollCursor } from '../reads/consumer-queries.js';

/** More partitions than any installation has. */
const PARTITIONS_MAX = 4_096;
const place = z.tuple([
  partitionNumber,
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
]);
const shape: z.ZodType<PollCursor> = z.array(place).max(PARTITIONS_MAX);

const POLL: CursorHint = {
  path: '/after',
  message: 'Pass `after` of the previous poll unchanged, or leave it out to read from the beginning.',
};

/** Text of a cursor. */
export function pollCursorText(cursor: PollCursor): string {
  return cursorText(cursor);
}

/** Errors: EdgeRefusal(INPUT_INVALID) with CURSOR_INVALID for what is none. */
export function pollCursorOf(text: string | undefined): PollCursor {
  return readCursor(shape, text, POLL) ?? [];
}
