// What the controllers of the notifier get.
import type { EdgeContext } from '@recourse/service';
import type { NotifierStore } from '../store/notifier-store.port.js';
import type { NotifierLoop } from '../notifier.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';

/** How far one partition of a log was read, and kept, and what is in the way. */
export interface Followed extends NotifierLoop {
  readonly log: string;
  readonly partition: number;
  readonly keptSeq: number;
  /** Last of it that is more than a reading. */
  readonly movedSeq: number;
}

export interface NotifierContext {
  readonly health: EdgeContext['host']['health'];
  /** None before the logs are there. */
  readonly followed: () => readonly Followed[];
  /** When the auditor signed heads last, epoch milliseconds; null where nobody can say. */
  readonly headsSignedAt: () => Promise<number | null>;
  readonly endpoints: readonly Endpoint[];
  /** Errors: Failure(DATABASE_UNAVAILABLE) where it was not reached yet. */
  readonly store: Pick<NotifierStore, 'find' | 'list' | 'items' | 'retry' | 'queue' | 'turnOn' | 'figures'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Something nobody said before. */
  readonly nonce: () => string;
}

/** Token of the NotifierContext. */
export const NOTIFIER_CONTEXT = Symbol('NotifierContext');
