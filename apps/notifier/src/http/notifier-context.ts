// What the controllers of the notifier get.
import type { NotifierStore } from '../store/notifier-store.port.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';

/** How far one partition of a log was read, and kept. */
export interface Followed {
  readonly log: string;
  readonly partition: number;
  readonly keptSeq: number;
}

export interface NotifierContext {
  readonly followed: () => readonly Followed[];
  readonly endpoints: readonly Endpoint[];
  readonly store: Pick<NotifierStore, 'find' | 'list' | 'items' | 'retry' | 'queue' | 'turnOn' | 'figures'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Something nobody said before. */
  readonly nonce: () => string;
}

/** Token of the NotifierContext. */
export const NOTIFIER_CONTEXT = Symbol('NotifierContext');
