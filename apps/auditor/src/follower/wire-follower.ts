// Follows one partition of a public wire and commits to its bytes. A wire has no chain, so nothing else is verified.
//
// Invariants
//   W1. A head is offered only while nothing it committed to was taken back before its retention.
import { wireLeaf } from '@recourse/audit';
import type { HashTree, SignedHead, TreeHead } from '@recourse/audit';
import { handsOutNothing } from '@recourse/kafka';
import type { FetchedRecord, RawReader } from '@recourse/kafka';
import type { Found } from '../rules/alarm/alarm.messages.js';
import type { FollowedPartition } from './followed-partition.js';

export interface WireFollowerOptions {
  readonly reader: RawReader;
  readonly logId: string;
  readonly topic: string;
  readonly partition: number;
  readonly tree: HashTree;
  readonly signed: () => { readonly heads: readonly SignedHead[]; readonly generation: number };
}

/** How many times further back is looked where there was no record. */
const FURTHER_BACK = 16;

export class WireFollower implements FollowedPartition {
  #first = 0;
  #offset = 0;
  #cutAt: number | null = null;
  #alteredAt: number | null = null;
  #gapAt: number | null = null;

  constructor(private readonly options: WireFollowerOptions) {}

  get topic(): string {
    return this.options.topic;
  }
  get partition(): number {
    return this.options.partition;
  }
  get tree(): HashTree {
    return this.options.tree;
  }
  get offset(): number {
    return this.#offset;
  }

  async resume(): Promise<void> {
    const { reader, topic, partition, tree, signed } = this.options;
    const last = signed().heads.at(-1);
    // What contradicted heads that a person has given up contradicts none of those that follow.
    [this.#cutAt, this.#alteredAt] = [null, null];
    if (last !== undefined && tree.count >= last.size) {
      tree.truncate(last.size);
      if (tree.tree.root().equals(last.root)) {
        [this.#first, this.#offset] = [last.firstOffset, last.nextOffset];
        await this.lookBack();
        return;
      }
    }
    const { low } = await reader.range(topic, partition);
    tree.truncate(0);
    // What retention took before it was read can be committed to no more: a person says that a new tree may begin.
    if (last !== undefined && low > last.firstOffset) this.#gapAt = last.firstOffset;
    [this.#first, this.#offset] = [last?.firstOffset ?? low, Math.max(low, last?.firstOffset ?? 0)];
    await this.readOn();
    if (last !== undefined && this.#gapAt === null && !this.#holds(last)) this.#alteredAt = last.firstOffset;
  }

  async readOn(): Promise<number> {
    const { reader, topic, partition, tree } = this.options;
    const { low, high } = await reader.range(topic, partition);
    if (high < this.#offset) {
      this.#cutAt ??= high;
      return 0;
    }
    if (low > this.#offset && this.#offset > this.#first) this.#gapAt ??= this.#offset;
    this.#offset = Math.max(low, this.#offset);
    let count = 0;
    while (this.#offset < high) {
      const batch = await reader.read(topic, partition, this.#offset);
      for (const record of batch.records) {
        if (record.offset < this.#offset) continue;
        tree.append(wireLeaf(record));
        count += 1;
      }
      if (batch.nextOffset <= this.#offset) throw handsOutNothing(this, this.#offset);
      this.#offset = batch.nextOffset;
    }
    return count;
  }

  async lookBack(): Promise<void> {
    const { reader, topic, partition, tree } = this.options;
    const { low, high } = await reader.range(topic, partition);
    const at = this.#offset - 1;
    if (high < this.#offset) this.#cutAt ??= high;
    if (tree.count === 0 || at < low || high < this.#offset) return;
    const last = await this.#lastFrom(low);
    // Of what retention has begun to take, ends of transactions may be all that is left.
    if (last === null ? low <= this.#first : !isLast(last, tree)) this.#alteredAt ??= at;
  }

  /** The last record before where the next read begins, which the end of a transaction is not; null where none is left. */
  async #lastFrom(low: number): Promise<FetchedRecord | null> {
    for (let back = 1; ; back *= FURTHER_BACK) {
      const from = Math.max(low, this.#offset - back);
      const last = await this.#lastBehind(from);
      if (last !== null || from === low) return last;
    }
  }

  async #lastBehind(from: number): Promise<FetchedRecord | null> {
    const { reader, topic, partition } = this.options;
    let last: FetchedRecord | null = null;
    for (let at = from; at < this.#offset;) {
      const { records, nextOffset } = await reader.read(topic, partition, at);
      if (nextOffset <= at) throw handsOutNothing(this, at);
      last = records.findLast(({ offset }) => offset < this.#offset) ?? last;
      at = nextOffset;
    }
    return last;
  }

  head(now: number): TreeHead | null {
    const { logId, topic, partition, tree, signed } = this.options;
    if (tree.count === 0 || this.found.length > 0) return null;
    return {
      logId,
      topic,
      partition,
      generation: signed().generation,
      size: tree.count,
      root: tree.tree.root(),
      head: null,
      nextOffset: this.#offset,
      firstOffset: this.#first,
      signedAt: now,
    };
  }

  get found(): readonly Found[] {
    const here = { topic: this.topic, partition: this.partition, seq: null };
    const places = { cut_tail: this.#cutAt, regrown: this.#alteredAt, gap: this.#gapAt } as const;
    return (['cut_tail', 'regrown', 'gap'] as const).flatMap((kind) =>
      places[kind] === null ? [] : [{ ...here, kind, offset: places[kind] }],
    );
  }

  #holds({ size, root }: SignedHead): boolean {
    const { tree } = this.options;
    return tree.count >= size && tree.rootAt(size).equals(root);
  }
}

function isLast(record: FetchedRecord, tree: HashTree): boolean {
  return tree.at(tree.count - 1)?.equals(wireLeaf(record)) === true;
}
