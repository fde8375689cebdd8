// An inbox that refuses a transaction within one of its own: it would wait for the one it was asked in, for ever and without a word.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Inbox, InboxSession } from './inbox.port.js';

export class UnnestedInbox<Tx> implements Inbox<Tx> {
  readonly #within = new AsyncLocalStorage<{ isOver: boolean }>();

  constructor(private readonly inbox: Inbox<Tx>) {}

  async transact<T>(kind: 'apply' | 'derive', work: (session: InboxSession<Tx>) => Promise<T>): Promise<T> {
    this.refuseNested();
    const within = { isOver: false };
    try {
      return await this.#within.run(within, () => this.inbox.transact(kind, work));
    } finally {
      within.isOver = true;
    }
  }

  /** Errors: Error where it is asked within a transaction that is not over. */
  refuseNested(): void {
    if (this.#within.getStore()?.isOver === false)
      throw new Error(
        'asked for within a transaction of the same consumer, for which it would wait for ever: use its `tx`, or ask once it is over',
      );
  }
}
