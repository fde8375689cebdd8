// Which heads count for a reader: those of the log of heads and those the reader brings, where each witness that is named signed them, too.
// The others show nothing, and a log is compared with them all the same.
//
// Boundary: takes heads that the auditor signed; asks nobody.
import { isCosigned } from '@recourse/audit';
import type { NoteKey, SignedHead } from '@recourse/audit';
import type { TrustedHeads } from './coverage.js';
import { sameAmong } from './heads.js';

export class CountedHeads {
  readonly #heads: SignedHead[] = [];
  readonly #held: SignedHead[] = [];
  readonly #alone: SignedHead[] = [];

  constructor(private readonly witnesses: readonly NoteKey[]) {}

  /** Heads that stand in the log of heads. */
  add(heads: Iterable<SignedHead>): void {
    for (const head of heads) this.#among(head).push(head);
  }

  /** Heads that the reader brings. A file of years has what the log of heads has, too: it is kept once. */
  bring(heads: Iterable<SignedHead>): void {
    const [counted, alone] = [sameAmong(this.#heads), sameAmong(this.#alone)];
    for (const head of heads) {
      const among = this.#among(head);
      const known = counted(head) ?? (among === this.#alone ? alone(head) : undefined);
      if (known === undefined) among.push(head);
      this.#held.push(known ?? head);
    }
  }

  get all(): TrustedHeads {
    return { heads: this.#heads, held: this.#held, alone: this.#alone };
  }

  #among(head: SignedHead): SignedHead[] {
    return isCosigned(head, this.witnesses) ? this.#heads : this.#alone;
  }
}
