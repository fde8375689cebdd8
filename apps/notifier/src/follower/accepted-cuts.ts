// Losses that a person has accepted, as a log itself tells them.
//
// Boundary: reads the log and keeps nothing beside how far it has looked: while nobody accepts a loss it is asked every second.
import type { LogPosition } from '@recourse/event-log';
import type { ReadPosition } from '../store/notifier-store.port.js';
import { accountsFor, cutIn, isKnown } from '../rules/cut/cut.decisions.js';
import type { ToldCut } from '../rules/cut/cut.decisions.js';
import type { FollowedPartition } from './followed-partition.js';

export class AcceptedCuts {
  #looked: { readonly of: Buffer; readonly to: LogPosition } | null = null;

  constructor(private readonly log: FollowedPartition) {}

  /** The accepted loss that accounts for a record which was read and is gone; null where nobody has accepted that. Errors: those of the log. */
  async consentTo(read: ReadPosition): Promise<ToldCut | null> {
    const from = await this.#from(read);
    // Where the log fails, it is looked through from its beginning the next time.
    this.#looked = null;
    for await (const records of this.log.read(from))
      for (const record of records) {
        const told = cutIn(record);
        if (told === null || isKnown(told, read.cuts)) continue;
        return accountsFor(told, read) ? told : null;
      }
    this.#looked = { of: read.hash, to: this.log.position() };
    return null;
  }

  /** What was looked through for the same record is not read again, while the log still holds it. */
  async #from({ hash }: ReadPosition): Promise<LogPosition> {
    const looked = this.#looked;
    return looked?.of.equals(hash) === true && (await this.log.holds(looked.to)) ? looked.to : this.log.origin();
  }
}
