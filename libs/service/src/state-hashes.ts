// Hashes of whole partitions, for whoever asks over HTTP: each reads whole tables on a connection of the loops.
//
// Invariants
//   I1. One is made at a time; of one partition all who ask meanwhile share the next.
import type { PartitionStore } from '@recourse/event-log';
import { SharedLooks } from './shared-looks.js';

export interface Hashed {
  /** Last record in the rows when they were hashed. */
  readonly seq: number;
  /** SHA-256 in hex. */
  readonly hash: string;
}

export class StateHashes {
  private readonly looks = new SharedLooks<Hashed>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly store: (log: string, partition: number) => Pick<PartitionStore, 'head' | 'stateHash'>) {}

  /** Errors: Failure(DATABASE_UNAVAILABLE). */
  of(log: string, partition: number): Promise<Hashed> {
    return this.looks.of(`${log}/${String(partition)}`, () => this.behindOthers(log, partition));
  }

  private behindOthers(log: string, partition: number): Promise<Hashed> {
    const make = async (): Promise<Hashed> => {
      const store = this.store(log, partition);
      const head = await store.head();
      return { seq: head?.seq ?? 0, hash: await store.stateHash() };
    };
    const made = this.last.then(make, make);
    this.last = made;
    return made;
  }
}
