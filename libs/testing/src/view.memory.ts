// A broadcast log and its view in memory, for specs of cores that read one.
import type { AcceptedRecord, BroadcastView, Decided, Doc, RecordInput, ViewSpec } from '@recourse/event-log';
import { fakeHash, logged } from './inputs.js';
import { deepFreeze } from './plain-data.js';

/** A broadcast log that can be appended to, and the view folded from it as far as the spec lets it. */
export class MemoryView implements BroadcastView {
  private readonly entries = new Map<string, Doc>();
  private readonly waiting: { readonly partition: number; readonly record: AcceptedRecord }[] = [];
  private readonly ends = new Map<number, number>();
  private readonly folded = new Map<number, number>();

  constructor(
    private readonly spec: ViewSpec,
    private readonly partitioner: (key: string) => number = () => 0,
  ) {}

  get(key: string): Doc | undefined {
    return this.entries.get(key);
  }
  position(partition: number): number {
    return this.folded.get(partition) ?? 0;
  }
  partitionOf(key: string): number {
    return this.partitioner(key);
  }

  /** Appends a record of the broadcast log and folds it into the view. Returns it as an input of the loop. */
  append(key: string, record: Decided, decidedAt = 0): RecordInput {
    const input = this.appendUnread(key, record, decidedAt);
    this.catchUp();
    return input;
  }

  /** Appends a record that the view has not read yet. */
  appendUnread(key: string, record: Decided, decidedAt = 0): RecordInput {
    const partition = this.partitioner(key);
    const seq = (this.ends.get(partition) ?? 0) + 1;
    this.ends.set(partition, seq);
    const accepted: AcceptedRecord = deepFreeze({
      ...record,
      seq,
      hash: fakeHash(this.spec.topic, partition, seq, record.body),
      prevHash: Buffer.alloc(32),
      decidedAt,
    });
    this.waiting.push({ partition, record: accepted });
    return logged(this.spec.topic, record.type, record.body, seq, {
      key,
      partition,
      offset: seq - 1,
      hash: accepted.hash,
    });
  }

  /** Folds what was appended, up to seq `to` of a partition, or all of it. */
  catchUp(partition?: number, to = Number.MAX_SAFE_INTEGER): void {
    for (let at = 0; at < this.waiting.length;) {
      const item = this.waiting[at];
      if (item === undefined || (partition !== undefined && item.partition !== partition) || item.record.seq > to) {
        at += 1;
        continue;
      }
      this.waiting.splice(at, 1);
      this.fold(item.partition, item.record);
    }
  }

  private fold(partition: number, record: AcceptedRecord): void {
    this.folded.set(partition, record.seq);
    for (const [key, doc] of this.spec.fold(record, (name) => this.entries.get(name))) {
      if (doc === null) this.entries.delete(key);
      else this.entries.set(key, deepFreeze(doc));
    }
  }
}

/** A view of a spec, its log empty. `partitioner` says which partition a key lives on; partition 0 unless told. */
export function memoryView(spec: ViewSpec, partitioner?: (key: string) => number): MemoryView {
  return new MemoryView(spec, partitioner);
}
