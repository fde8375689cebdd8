// Compares a log, while it is read, with heads known from elsewhere.
import type { Head } from './acceptance.js';
import type { Contradiction, Finding, KnownHead } from './log-findings.js';
import type { MerkleTree } from './merkle.js';

export class HeadWatch {
  readonly #known: readonly KnownHead[];
  #next = 0;
  #lastGood = 0;
  #isAlone = false;
  #contradiction: Contradiction | null = null;
  #shift: Finding | null = null;

  constructor(known: readonly KnownHead[]) {
    this.#known = [...known].sort((a, b) => a.seq - b.seq);
  }

  get highest(): number {
    return this.#known.at(-1)?.seq ?? 0;
  }

  /** The last known head that the log holds; 0 when none. */
  get lastGood(): number {
    return this.#lastGood;
  }

  /** The first known head that the log contradicts. */
  get contradiction(): Contradiction | null {
    return this.#contradiction;
  }

  /** The first known head whose record stands elsewhere than when it was signed. */
  get shift(): Finding | null {
    return this.#shift;
  }

  /** Does a known head say something of this place, or of one before it that was not looked at? */
  concerns(seq: number): boolean {
    const known = this.#known[this.#next];
    return known !== undefined && known.seq <= seq;
  }

  /** Before a record is taken in whose place a known head has another: are all records before it as they were? */
  before(head: Head, tree: MerkleTree | null): void {
    const known = this.#known[this.#next];
    if (known?.seq !== head.seq || known.root === undefined || tree === null || known.hash.equals(head.hash)) return;
    const other = tree.copy();
    other.append(known.hash);
    this.#isAlone = other.root().equals(known.root);
  }

  /** Hash that a known head gives the record at this place; null where none does. */
  hashAt(seq: number): Buffer | null {
    return this.#known.find((known) => known.seq === seq)?.hash ?? null;
  }

  /** After a record was taken in at this offset; -1 before the first. `wasOf` says what it must have been to have another hash. */
  after(
    head: Head,
    {
      offset,
      tree,
      wasOf,
    }: {
      readonly offset: number;
      readonly tree: MerkleTree | null;
      readonly wasOf: (hash: Buffer) => Contradiction['was'];
    },
  ): void {
    const here = this.#reached(head.seq);
    if (here.length === 0) return;
    const good = here.filter((known) => agrees(known, head, tree));
    const bad = here.find((known) => !good.includes(known));
    if (bad !== undefined && this.#contradiction === null) {
      const isForked = here.some((known) => !known.hash.equals(bad.hash));
      this.#contradiction = {
        known: bad,
        offset,
        lastGood: this.#lastGood,
        isAlone: this.#isAlone,
        isForked,
        was: wasOf(bad.hash),
      };
    }
    if (this.#contradiction !== null) return;
    this.#lastGood = head.seq;
    const moved = good.find(({ nextOffset }) => nextOffset !== undefined && nextOffset !== offset + 1);
    if (moved?.nextOffset !== undefined && offset >= 0) this.#shift ??= shifted(head.seq, offset, moved.nextOffset);
  }

  #reached(seq: number): readonly KnownHead[] {
    const here: KnownHead[] = [];
    for (
      let known = this.#known[this.#next];
      known !== undefined && known.seq <= seq;
      known = this.#known[this.#next]
    ) {
      if (known.seq === seq) here.push(known);
      this.#next += 1;
    }
    return here;
  }
}

function agrees({ hash, root }: KnownHead, head: Head, tree: MerkleTree | null): boolean {
  return hash.equals(head.hash) && (root === undefined || tree === null || tree.root().equals(root));
}

function shifted(seq: number, offset: number, signedNext: number): Finding {
  const by = offset + 1 - signedNext;
  return { kind: by > 0 ? 'inserted' : 'removed', seq, count: Math.abs(by), offset };
}
