// Which heads count for a reader: those of the log of heads and those the reader brings, where each witness that is named signed them, too.
//
// Boundary: takes heads that the auditor signed; asks nobody.
import { isCosigned, treeName } from '@recourse/audit';
import type { NoteKey, SignedHead } from '@recourse/audit';
import { isNewer } from './coverage.js';
import type { TrustedHeads } from './coverage.js';
import { sameAmong } from './heads.js';

export class CountedHeads {
  readonly #heads: SignedHead[] = [];
  readonly #held: SignedHead[] = [];
  /** The newest of each log that a witness did not sign. */
  readonly #alone = new Map<string, SignedHead>();

  constructor(private readonly witnesses: readonly NoteKey[]) {}

  /** Heads that stand in the log of heads. */
  add(heads: Iterable<SignedHead>): void {
    for (const head of this.#counted(heads)) this.#heads.push(head);
  }

  /** Heads that the reader brings. A file of years has what the log of heads has, too: it is kept once. */
  bring(heads: Iterable<SignedHead>): void {
    const same = sameAmong(this.#heads);
    for (const head of this.#counted(heads)) {
      const known = same(head);
      if (known === undefined) this.#heads.push(head);
      this.#held.push(known ?? head);
    }
  }

  get all(): TrustedHeads {
    return { heads: this.#heads, held: this.#held, alone: [...this.#alone.values()] };
  }

  *#counted(heads: Iterable<SignedHead>): Generator<SignedHead> {
    for (const head of heads) {
      if (isCosigned(head, this.witnesses)) yield head;
      else if (isNewer(head, this.#alone.get(treeName(head)))) this.#alone.set(treeName(head), head);
    }
  }
}

/** Those that each of these witnesses signed, as they are asked for. */
export function* cosignedAmong(heads: Iterable<SignedHead>, witnesses: readonly NoteKey[]): Generator<SignedHead> {
  for (const head of heads) if (isCosigned(head, witnesses)) yield head;
}
