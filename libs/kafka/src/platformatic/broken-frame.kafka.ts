// Where reading goes on behind a batch that does not say where it ends: the broker knows, and is asked.
//
// Boundary: pure but for what it asks. Nothing that the damaged bytes say of their own length or count is believed.
import { Failure } from '@recourse/kernel';

/** A batch whose end is unknown, as a reader came to it. */
export interface BrokenAt {
  /** Where the reader stands: in the batch, and not always at its first record. */
  readonly position: number;
  /** By which an answer that begins with the same bytes is known. */
  readonly firstOffset: bigint;
  /** Offset up to which the partition may be read. */
  readonly stableEnd: number;
}

/**
 * The first offset behind the batch.
 *
 * Shape:  `firstOffsetAt` asks for a position and answers with the first offset of the batch that came first, null where none did.
 *         It is asked about twice as often as the number of records in the batch has binary digits.
 * Errors: Failure(FETCH_BROKEN) where the partition has no offset behind the position; those of `firstOffsetAt`.
 */
export async function behindBroken(
  { position, firstOffset, stableEnd }: BrokenAt,
  firstOffsetAt: (offset: number) => Promise<bigint | null>,
): Promise<number> {
  if (stableEnd <= position)
    throw new Failure('FETCH_BROKEN', `the batch at ${String(position)} is broken, and the partition ends before it`);
  const isBehind = async (offset: number): Promise<boolean> =>
    offset >= stableEnd || (await firstOffsetAt(offset)) !== firstOffset;
  let [inside, behind] = [position, Math.min(position + 1, stableEnd)];
  for (let step = 2; !(await isBehind(behind)); step *= 2)
    [inside, behind] = [behind, Math.min(position + step, stableEnd)];
  while (behind - inside > 1) {
    const middle = inside + Math.floor((behind - inside) / 2);
    if (await isBehind(middle)) behind = middle;
    else inside = middle;
  }
  return behind;
}
