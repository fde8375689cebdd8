// Heads of one generation of a partition, of which few are kept: all of the newest, and the fewer the longer ago.
//
// Any of them shows that a log is not what was signed: each commits to all records before it. What lies between two only says where.
//
// Invariants
//   K1. The newest is kept, which the next one has to extend; and the first, by which what grew anew is told from what was rewritten.
//   K2. Of two heads of one length that differ, both are kept; of one that was published again, as it was last.
import type { SignedHead } from '@recourse/audit';

/** Heads of a line, but for those of K2. */
export const HEADS_MAX = 128;

export class HeadLine {
  #heads: SignedHead[] = [];

  /** Oldest first. */
  get heads(): readonly SignedHead[] {
    return this.#heads;
  }

  add(head: SignedHead): void {
    const at = this.#heads.findLastIndex(({ size }) => size <= head.size) + 1;
    for (let n = at - 1; this.#heads[n]?.size === head.size; n -= 1) {
      if (!saysTheSame(this.#heads[n], head)) continue;
      if (this.#heads[n]?.signedAt === head.signedAt) this.#heads[n] = head;
      return;
    }
    this.#heads.splice(at, 0, head);
    if (this.#heads.length > HEADS_MAX) this.#heads = thinned(this.#heads);
  }
}

function saysTheSame(one: SignedHead | undefined, other: SignedHead): boolean {
  return one?.nextOffset === other.nextOffset && one.root.equals(other.root);
}

/** Without every second of the older half. */
function thinned(heads: readonly SignedHead[]): SignedHead[] {
  const newer = heads.length / 2;
  return heads.filter(
    ({ size }, n) => n >= newer || n % 2 === 0 || size === heads[n - 1]?.size || size === heads[n + 1]?.size,
  );
}
