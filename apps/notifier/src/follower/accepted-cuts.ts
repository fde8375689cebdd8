// Losses that a person has accepted, as a log itself tells them.
//
// Boundary: reads the log and keeps nothing beside how far it has looked: while nobody accepts a loss it is asked every second.
import type { LogPosition, PlacedRecord } from '@recourse/event-log';
import type { FollowedPartition } from './followed-partition.js';

export class AcceptedCuts {
  #looked: LogPosition | null = null;

  constructor(private readonly log: FollowedPartition) {}

  /** First seq of the newest accepted loss that `seq` can have been part of; null where nobody has accepted one. Errors: those of the log. */
  async lostFrom(seq: number): Promise<number | null> {
    const from = this.#looked ?? this.log.origin();
    // Where the log fails, it is looked through from its beginning the next time.
    this.#looked = null;
    let lost: number | null = null;
    for await (const records of this.log.read(from))
      for (const record of records) {
        const first = lostFromOf(record);
        if (first !== null && first <= seq) lost = first;
      }
    if (lost === null) this.#looked = this.log.position();
    return lost;
  }
}

function lostFromOf({ type, body }: PlacedRecord): number | null {
  return type === 'CutAccepted' ? Number(body['lost_from_seq']) : null;
}
