// Losses that a person has accepted, as a log itself tells them.
//
// Boundary: reads the log and keeps nothing beside how far it has looked: while nobody accepts a loss it is asked every second.
import type { LogPosition } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { ReadPosition } from '../store/notifier-store.port.js';
import { accountsFor, cutIn, isKnown, knownAfter, knownWith } from '../rules/cut/cut.decisions.js';
import type { KnownCut } from '../rules/cut/cut.decisions.js';
import type { FollowedPartition } from './followed-partition.js';

/** How far a log was looked through for consent to the loss of a record, and which accepted losses stand before that. */
interface Looked {
  readonly of: Buffer;
  readonly to: LogPosition;
  readonly known: readonly KnownCut[];
}

export class AcceptedCuts {
  #looked: Looked | null = null;

  constructor(private readonly log: FollowedPartition) {}

  /**
   * Losses that were accepted up to a record which the log holds.
   *
   * Shape:  none where its front is gone: consent is looked for from there, too, and not found.
   * Errors: those of the log, but LOG_FRONT_CUT.
   */
  async upTo({ head }: LogPosition): Promise<readonly KnownCut[]> {
    let known: readonly KnownCut[] = [];
    try {
      for await (const records of this.log.read(this.log.origin())) {
        const read = records.filter(({ seq }) => seq <= head.seq);
        known = read.reduce(knownAfter, known);
        if (read.at(-1)?.seq === head.seq) break;
      }
      return known;
    } catch (cause) {
      if (cause instanceof Failure && cause.code === 'LOG_FRONT_CUT') return [];
      throw cause;
    }
  }

  /**
   * What is known with the accepted loss that accounts for a record which was read and is gone; null where nobody has accepted that.
   *
   * Errors: those of the log.
   */
  async consentTo(read: ReadPosition): Promise<readonly KnownCut[] | null> {
    const looked = await this.#stillHeld(read);
    // Where the log fails, it is looked through from its beginning the next time.
    this.#looked = null;
    let known = looked?.known ?? read.cuts ?? [];
    for await (const records of this.log.read(looked?.to ?? this.log.origin()))
      for (const record of records) {
        const told = cutIn(record);
        if (told === null || isKnown(told, known)) continue;
        const isConsent = accountsFor(told, read);
        if (!isConsent && read.cuts !== null) return null;
        known = knownWith(known, told);
        if (isConsent) return known;
      }
    this.#looked = { of: read.hash, to: this.log.position(), known };
    return null;
  }

  /** What was looked through for the same record is not read again, while the log still holds it. */
  async #stillHeld({ hash }: ReadPosition): Promise<Looked | null> {
    const looked = this.#looked;
    return looked?.of.equals(hash) === true && (await this.log.holds(looked.to)) ? looked : null;
  }
}
