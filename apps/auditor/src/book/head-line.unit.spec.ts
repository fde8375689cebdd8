// Heads that are kept of a tree, however many were signed of it.
import { describe, expect, it } from '@jest/globals';
import type { SignedHead } from '@recourse/audit';
import { HeadLine, HEADS_MAX } from './head-line.js';
import { headOf } from './heads.testing.js';

const ROOT = Buffer.alloc(32, 7);
const sizesOf = ({ heads }: HeadLine): readonly number[] => heads.map(({ size }) => size);

describe('heads that were signed of a tree', () => {
  it('are kept in a bounded number, and one more costs as little as the first', () => {
    const line = new HeadLine();
    let looks = 0;
    const counted = (size: number): SignedHead => ({
      ...{ logId: 'log-1', topic: 'recourse.budgets', partition: 0, generation: 0, root: ROOT, head: ROOT },
      ...{ nextOffset: size, firstOffset: 0, signedAt: size, note: '' },
      get size() {
        looks += 1;
        return size;
      },
    });
    for (let size = 1; size <= 20_000; size += 1) line.add(counted(size));
    expect(looks).toBeLessThan(20_000 * 16);
    expect(line.heads.length).toBeLessThanOrEqual(HEADS_MAX);
    const sizes = sizesOf(line);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect([sizes[0], sizes.at(-1)]).toEqual([1, 20_000]);
    expect(sizes.slice(-HEADS_MAX / 4)).toEqual(Array.from({ length: HEADS_MAX / 4 }, (_, n) => 19_969 + n));
  });

  it('are both kept where two of one length differ, however old, and one of those that say the same', () => {
    const line = new HeadLine();
    line.add(headOf(2));
    line.add(headOf(3));
    line.add(headOf(3, { mark: 'another' }));
    line.add(headOf(3, { signedAt: 9 }));
    line.add(headOf(3, { nextOffset: 8 }));
    for (let size = 4; size <= 400; size += 1) line.add(headOf(size));
    expect(sizesOf(line).filter((size) => size === 3)).toHaveLength(3);
  });

  it('are kept as they were published last: with the signature of a witness that was silent first', () => {
    const line = new HeadLine();
    for (const size of [3, 4]) line.add(headOf(size));
    line.add({ ...headOf(3), note: 'with that of a witness' });
    line.add({ ...headOf(4, { signedAt: 9 }), note: 'of another time' });
    expect(line.heads.map(({ size, note }) => [size, note === headOf(size).note])).toEqual([
      [3, false],
      [4, true],
    ]);
  });

  it('stand by their lengths, whichever was learned first', () => {
    const line = new HeadLine();
    for (const size of [5, 9, 7, 1]) line.add(headOf(size));
    expect(sizesOf(line)).toEqual([1, 5, 7, 9]);
  });
});
