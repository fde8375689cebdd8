// Void records that follow nothing that was there before them, while a log is read: what comes later is told to them.
//
// Boundary: pure. Keeps STRANGERS_MAX of them, and counts the others; what an accepted loss explains is neither.
import type { Stranger } from './log-findings.js';

/** Pieces of evidence that are kept and named: more than anybody reads. */
export const STRANGERS_MAX = 1_000;
/** Of those that follow the same: a loss that is accepted later explains all of them at once, and they must not crowd out others. */
const OF_ONE_LEADER_MAX = 100;

/** What a stranger is found by later: its own hash, and the one it would have with the right `prev_hash`, in hex. */
interface Hashes {
  readonly hash: string;
  readonly mended: string;
}

export class StrangerList {
  #kept: Stranger[] = [];
  readonly #byLeader = new Map<string, Stranger[]>();
  readonly #byPlaceAfter = new Map<number, (Hashes & { readonly one: Stranger })[]>();
  readonly #losses = new Set<string>();
  /** How many more follow the same, for as many leaders as are kept. */
  readonly #uncounted = new Map<string, number>();
  #others = 0;

  get kept(): readonly Stranger[] {
    return this.#kept;
  }

  /** How many are evidence and not kept. */
  get unlisted(): number {
    return [...this.#uncounted.values()].reduce((sum, count) => sum + count, this.#others);
  }

  /** Is there no need to look at one that follows this? It is explained, or counted as one that is not kept. */
  isSettled(leader: string): boolean {
    if (this.#losses.has(leader)) return true;
    if (this.#kept.length < STRANGERS_MAX && (this.#byLeader.get(leader)?.length ?? 0) < OF_ONE_LEADER_MAX)
      return false;
    const count = this.#uncounted.get(leader) ?? 0;
    if (count > 0 || this.#uncounted.size < STRANGERS_MAX) this.#uncounted.set(leader, count + 1);
    else this.#others += 1;
    return true;
  }

  keep(one: Stranger, hashes: Hashes): void {
    const place = one.seq + 1;
    this.#kept.push(one);
    this.#byLeader.set(one.leader, [...(this.#byLeader.get(one.leader) ?? []), one]);
    this.#byPlaceAfter.set(place, [...(this.#byPlaceAfter.get(place) ?? []), { one, ...hashes }]);
  }

  /** Tells those so far what came later; `prev` is empty where it is one that was accepted. */
  arrive({ seq, link, prev }: { readonly seq: number; readonly link: string; readonly prev: string }): void {
    for (const one of this.#byLeader.get(link) ?? []) one.isLeaderLater = true;
    for (const { one, hash: own, mended } of this.#byPlaceAfter.get(seq) ?? []) {
      one.isSucceeded = true;
      if (prev !== '' && prev === own) one.isFollowed = true;
      if (prev !== '' && prev === mended) one.isMended = true;
    }
  }

  /** An accepted record gives up this as lost: whatever follows it, now or later, is no evidence. */
  giveUp(leader: string): void {
    this.#losses.add(leader);
    this.#uncounted.delete(leader);
    if (!this.#byLeader.delete(leader)) return;
    const isLeft = (one: Stranger): boolean => one.leader !== leader;
    this.#kept = this.#kept.filter(isLeft);
    for (const [place, all] of this.#byPlaceAfter)
      this.#byPlaceAfter.set(
        place,
        all.filter(({ one }) => isLeft(one)),
      );
  }
}
