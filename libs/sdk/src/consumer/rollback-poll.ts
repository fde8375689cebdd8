// Rollback poll: a consumer that asks from time to time what is rolled back in its scope, and makes its own state agree (E26).
//
// Boundary: reads the ledger's HTTP edge behind a cursor; applies and acknowledges as the consumer told by Kafka does, in
// the same inbox and by the same rules.
//
// Invariants
//   P1. The cursor moves in the transaction that applied what came before it: nothing is missed, nothing comes twice.
import type { Kafka } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import { bodyOf, edgeClient, EdgeProblem } from '../edge/edge.js';
import type { EdgeClient, EdgeOptions } from '../edge/edge.js';
import { quietly } from '../quietly.js';
import { AckOutbox } from './ack-outbox.js';
import { Hearing } from './hearing.js';
import type { Inbox } from './inbox.port.js';
import { UnnestedInbox } from './inbox.unnested.js';
import { hearRollback, ownRecordOf, RollbackHandlerFailed } from './own-record.js';
import { adoptPlaces, markOf, refuseScope } from './places.js';
import { warningOf } from './warning.js';
import type { OwnRecord, RollbackHandlers } from './own-record.js';
import { heardCommitOf, isCovered } from './rollback-consumer.js';
import type { Subscription } from './rollback-consumer.js';

/** What a poll needs. */
export interface RollbackPollOptions<Tx> extends RollbackHandlers<Tx> {
  /** Edge of the mutation ledger. */
  readonly edge: EdgeOptions;
  /** For the acknowledgements. */
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly subscription: Subscription<'poll'>;
  readonly inbox: Inbox<Tx>;
  readonly clock: Clock;
  /** Pause between polls, milliseconds. Default a minute. */
  readonly intervalMs?: number;
  readonly registerSchemas?: boolean;
  /** Told of what fails and is tried again; a warning of the process unless told otherwise. */
  readonly onTrouble?: (cause: unknown) => void;
}

/** A poll under way. */
export interface RollbackPoll<Tx> {
  /** Errors: Failure(BROKER_UNAVAILABLE, REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
  start(): Promise<void>;
  stop(): Promise<void>;
  transact<T>(work: (tx: Tx, own: OwnRecord) => Promise<T>): Promise<T>;
  /** Asks now, to the end; resolves to the number of commits that came. Errors: what the edge or a handler throws; the cursor has not moved past it. */
  poll(): Promise<number>;
}

const INTERVAL_MS = 60_000;
const PAGE_MAX = 200;
const CURSOR = 'poll';
/** All that is asked for, as one partition. */
const ASKED = 0;

/** Makes a consumer of rollbacks that asks by itself. Nothing is asked before `start` or `poll`. Errors: Failure(SUBSCRIPTION_INVALID). */
export function createRollbackPoll<Tx>(options: RollbackPollOptions<Tx>): RollbackPoll<Tx> {
  refuseScope(options.subscription.scope);
  return new Poller(options);
}

const page = z.object({
  items: z.array(
    z.object({
      tenant: z.string(),
      agent_id: z.string(),
      run_id: z.string(),
      commit_id: z.string(),
      subject_ref: z.string().nullable(),
      rollback_id: z.string(),
      has_effect: z.boolean(),
      consumers: z.array(z.string()),
    }),
  ),
  after: z.string(),
  more: z.boolean(),
});
type Page = z.infer<typeof page>;

class Poller<Tx> implements RollbackPoll<Tx> {
  private readonly stopped = new AbortController();
  private readonly hearing = new Hearing();
  private readonly ledger: EdgeClient;
  private readonly outbox: AckOutbox<Tx>;
  private loop: Promise<void> = Promise.resolve();
  private last: Promise<unknown> = Promise.resolve();
  private readonly onTrouble: (cause: unknown) => void;

  private readonly inbox: UnnestedInbox<Tx>;
  private readonly cursor: string;
  private isAdopted = false;

  constructor(private readonly options: RollbackPollOptions<Tx>) {
    const { kafka, codecs, clock, registerSchemas = false, subscription } = options;
    this.inbox = UnnestedInbox.of(options.inbox);
    this.cursor = markOf(CURSOR, subscription.scope);
    const { inbox } = this;
    const { onTrouble = warningOf(`consumer ${subscription.consumer}`, clock) } = options;
    this.onTrouble = quietly(onTrouble);
    this.ledger = edgeClient({ name: 'the ledger', ...options.edge });
    this.outbox = new AckOutbox({ kafka, codecs, inbox, clock, registerSchemas, onTrouble });
  }

  async start(): Promise<void> {
    this.hearing.begin([ASKED]);
    await this.outbox.start();
    this.hearing.stands(ASKED);
    this.loop = this.follow();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.hearing.stop();
    await this.loop;
    await this.outbox.stop();
  }

  transact<T>(work: (tx: Tx, own: OwnRecord) => Promise<T>): Promise<T> {
    return this.inbox.transact('derive', (session) => work(session.tx, ownRecordOf(session, this.hearing)));
  }

  async poll(): Promise<number> {
    this.inbox.refuseNested();
    const asked = this.last.then(() => this.toTheEnd());
    this.last = asked.catch(() => undefined);
    return asked;
  }

  private async follow(): Promise<void> {
    const { clock, intervalMs = INTERVAL_MS } = this.options;
    while (!this.stopped.signal.aborted) {
      await this.poll().catch((cause: unknown) => {
        this.onTrouble(cause);
      });
      await clock.sleep(intervalMs, this.stopped.signal);
    }
  }

  private async toTheEnd(): Promise<number> {
    let count = 0;
    await this.adopt();
    for (let isMore = true, limit = PAGE_MAX; isMore;) {
      const cursor = await this.inbox.transact('derive', (session) => session.mark(this.cursor));
      const found = await this.ask(cursor, limit);
      try {
        count += await this.take(found, cursor);
        isMore = found.more;
      } catch (cause) {
        // What comes before the one that fails is taken without it.
        if (!(cause instanceof RollbackHandlerFailed) || found.items.length < 2) throw cause;
        limit = Math.floor(found.items.length / 2);
      }
    }
    await this.outbox.flush();
    return count;
  }

  private async adopt(): Promise<void> {
    const { scope } = this.options.subscription;
    if (!this.isAdopted) await this.inbox.transact('apply', (session) => adoptPlaces(session, scope, [CURSOR]));
    this.isAdopted = true;
  }

  private async ask(cursor: string | null, limit: number): Promise<Page> {
    const { scope } = this.options.subscription;
    const answer = await this.ledger.ask({
      method: 'GET',
      path: '/v1/rolled-back',
      query: { scope, limit: String(limit), after: cursor },
    });
    const read = page.safeParse(bodyOf(answer));
    if (read.success) return read.data;
    const fields = read.error.issues.map(({ path }) => path.join('/')).join(', ');
    throw new EdgeProblem('ANSWER_UNREADABLE', `these fields cannot be read: ${fields}`, answer);
  }

  /** Answers how many were taken: none of a page behind a cursor that another process of the consumer has moved meanwhile. */
  private take({ items, after }: Page, cursor: string | null): Promise<number> {
    const {
      subscription: { consumer, scope },
      clock,
      onCommit,
      onRollback,
    } = this.options;
    const handlers: RollbackHandlers<Tx> = { onRollback, ...(onCommit === undefined ? {} : { onCommit }) };
    return this.inbox.transact('apply', async (session) => {
      if ((await session.mark(this.cursor)) !== cursor) return 0;
      for (const { commit_id, rollback_id, has_effect, consumers, ...named } of items) {
        const commit = heardCommitOf({ ...named, mutation_id: commit_id });
        if (!isCovered(scope, commit)) continue;
        await hearRollback(
          session,
          { ...commit, rollbackId: rollback_id, hasEffect: has_effect, isDue: consumers.includes(consumer) },
          { consumer, now: clock.now(), handlers },
        );
      }
      await session.keepMark(this.cursor, after);
      return items.length;
    });
  }
}
