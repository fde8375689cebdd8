// An inbox that refuses a transaction within one of its own: it would wait for the one it was asked in, for ever and without a word. What a
// handler begins and does not wait for goes once the handler is over.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Inbox, InboxSession } from './inbox.port.js';

/** The transaction that something was begun in. */
interface Within {
  isOver: boolean;
  readonly over: Promise<null>;
}

/** Longer than a handler that nobody holds up goes on after it began something else. */
const PATIENCE_MS = 1_000;

export class UnnestedInbox<Tx> implements Inbox<Tx> {
  readonly #within = new AsyncLocalStorage<Within>();

  /** `patienceMs`: how long what is asked for within a transaction waits for that to be over. */
  constructor(
    private readonly inbox: Inbox<Tx>,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  /** One of a consumer's inbox; itself where it is one. */
  static of<Tx>(inbox: Inbox<Tx>): UnnestedInbox<Tx> {
    return inbox instanceof UnnestedInbox ? (inbox as UnnestedInbox<Tx>) : new UnnestedInbox(inbox);
  }

  async transact<T>(kind: 'apply' | 'derive', work: (session: InboxSession<Tx>) => Promise<T>): Promise<T> {
    await patience(this.#within.getStore(), this.patienceMs);
    this.refuseNested();
    const { promise: over, resolve } = Promise.withResolvers<null>();
    const within: Within = { isOver: false, over };
    try {
      return await this.#within.run(within, () => this.inbox.transact(kind, work));
    } finally {
      within.isOver = true;
      resolve(null);
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

/** Waits for the transaction that something was begun in, as long as one may be that does not wait for it. */
async function patience(within: Within | undefined, ms: number): Promise<void> {
  if (within === undefined || within.isOver) return;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  await Promise.race([within.over, late]);
  clearTimeout(timer);
}
