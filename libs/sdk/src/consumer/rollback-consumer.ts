// Rollback consumer: hears of rollbacks in its scope, undoes what it made of them in its own transaction, and says so.
//
// Boundary: reads announcements through the notification consumer, which applies the acceptance rule. What it keeps is the
// inbox's: its place, what it heard, what it made, what it owes. Modes `sync` and `async`; a consumer that polls is in
// rollback-poll.ts.
//
// Invariants
//   R1. A notice is applied once, with all its members or none: its place moves in the transaction of their handlers.
//   R2. Members are applied in their order, those outside the scope are passed over: what is not for the consumer moves its place too.
//   R3. An acknowledgement leaves after the transaction that owes it, until the broker has it: whichever process of the consumer
//       owes it, each that runs sends it.
import { isInScope } from '@recourse/contract';
import type { Kafka, RawReader } from '@recourse/kafka';
import type { Clock } from '@recourse/kernel';
import { announcedIn } from '@recourse/messages';
import type { Announced, Codecs, CommitRef } from '@recourse/messages';
import type { PositionStore } from '../stores/position-store.port.js';
import { refuseUnnamed } from './acknowledged.js';
import { AckOutbox } from './ack-outbox.js';
import { Barrier } from './barrier.js';
import type { BarrierOutcome, Offsets } from './barrier.js';
import { Hearing } from './hearing.js';
import type { Inbox, InboxSession } from './inbox.port.js';
import { adoptPlaces, keepPosition, partitionPlace, positionIn, refuseScope } from './places.js';
import { UnnestedInbox } from './inbox.unnested.js';
import { createNotificationConsumer, NOTIFICATIONS_TOPIC } from './notification-consumer.js';
import type { Notification, NotificationConsumer } from './notification-consumer.js';
import { hasFallen, hearRollback, ownRecordOf } from './own-record.js';
import { warningOf } from './warning.js';
import type { ArrivedRollback, HeardCommit, OwnRecord, RollbackHandlers } from './own-record.js';

/** A subscription as it was registered. */
export interface Subscription<Mode extends 'sync' | 'async' | 'poll' = 'sync' | 'async' | 'poll'> {
  /** Who consumes; acknowledgements bear this name. */
  readonly consumer: string;
  /** Prefix of tenant/agent/run/subject; `*` stands for one part. */
  readonly scope: string;
  readonly mode: Mode;
}

/** What a consumer of rollbacks needs. */
export interface RollbackConsumerOptions<Tx> extends RollbackHandlers<Tx> {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  /** Name the logs were begun with; it is part of the genesis hash. */
  readonly logId: string;
  readonly partitionCount: number;
  readonly subscription: Subscription<'sync' | 'async'>;
  readonly inbox: Inbox<Tx>;
  readonly clock: Clock;
  /** Where a consumer that never ran begins: with all that was ever announced (unless told), or with what it is waited for and what comes. */
  readonly from?: 'beginning' | 'now';
  /** Registers schemas that are not there; off where schemas are provisioned. */
  readonly registerSchemas?: boolean;
  /** Told of what fails and is tried again; a warning of the process unless told otherwise. */
  readonly onTrouble?: (cause: unknown) => void;
  /** Pause when nothing is new, in milliseconds. Default 200. */
  readonly pollMs?: number;
}

/** A consumer of rollbacks under way. */
export interface RollbackConsumer<Tx> {
  /** Resolves once each partition was looked at: what is made of commits can be told then. Errors: those of the notification consumer and of the inbox; Failure(REGISTRY_UNAVAILABLE, UNKNOWN_SCHEMA). */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs work of the consumer's own in one transaction with what it tells of it. Errors: those of the work, of what it tells and of the inbox; Error within a handler, or other work of it. */
  transact<T>(work: (tx: Tx, own: OwnRecord) => Promise<T>): Promise<T>;
  /** Waits until all that is announced by now is applied; asked for before something reaches users. Errors: Failure(RECORD_UNFIT) for what names no commit. */
  barrier(deadlineMs: number, commit?: CommitRef): Promise<BarrierOutcome>;
}

/**
 * Makes a consumer of rollbacks that is told by Kafka.
 *
 * Shape:  nothing is read before `start`.
 * Errors: Failure(SUBSCRIPTION_INVALID); those of what it offers are theirs.
 */
export function createRollbackConsumer<Tx>(options: RollbackConsumerOptions<Tx>): RollbackConsumer<Tx> {
  refuseScope(options.subscription.scope);
  return new StreamConsumer(options);
}

class StreamConsumer<Tx> implements RollbackConsumer<Tx> {
  private readonly notices: NotificationConsumer;
  private readonly outbox: AckOutbox<Tx>;
  private readonly gate: Barrier;
  private readonly hearing = new Hearing();
  private reader: RawReader | null = null;
  /** Up to here announcements are older than the subscription, by partition. */
  private since: Offsets = new Map();
  private readonly options: RollbackConsumerOptions<Tx>;

  constructor(given: RollbackConsumerOptions<Tx>) {
    const options = { ...given, inbox: UnnestedInbox.of(given.inbox) };
    this.options = options;
    const {
      kafka,
      codecs,
      logId,
      partitionCount,
      inbox,
      clock,
      pollMs,
      onTrouble = warningOf(`consumer ${options.subscription.consumer}`, options.clock),
      registerSchemas = false,
    } = options;
    this.gate = new Barrier(clock);
    this.outbox = new AckOutbox({ kafka, codecs, inbox, clock, registerSchemas, onTrouble });
    this.notices = createNotificationConsumer({
      kafka,
      codecs,
      logId,
      partitionCount,
      clock,
      positions: this.positions(),
      onNotification: (notice) => this.hear(notice),
      onPlace: (partition, offset) => {
        this.hearing.stands(partition);
        this.gate.passed(partition, offset);
      },
      onTrouble: (partition, cause) => {
        if (this.hearing.isLost(partition, cause)) this.gate.lost(partition);
        onTrouble(cause);
      },
      ...(pollMs === undefined ? {} : { pollMs }),
    });
  }

  async start(): Promise<void> {
    try {
      await this.open();
    } catch (cause) {
      await this.release();
      throw cause;
    }
  }

  private async open(): Promise<void> {
    this.hearing.begin(this.partitions);
    this.reader = await this.options.kafka.rawReader();
    this.since = await this.beginning();
    await this.adopt();
    await this.outbox.start();
    await this.notices.start();
    // What another process of this consumer applied while this one began, neither hears again.
    void this.outbox.flush();
    await this.hearing.looked();
  }

  async stop(): Promise<void> {
    this.hearing.stop();
    await this.notices.stop();
    await this.outbox.stop();
    await this.release();
  }

  private async release(): Promise<void> {
    await this.outbox.close();
    await this.reader?.close();
    this.reader = null;
  }

  transact<T>(work: (tx: Tx, own: OwnRecord) => Promise<T>): Promise<T> {
    return this.options.inbox.transact('derive', (session) => work(session.tx, ownRecordOf(session, this.hearing)));
  }

  async barrier(deadlineMs: number, commit?: CommitRef): Promise<BarrierOutcome> {
    if (commit === undefined) return (await this.through(deadlineMs)) ?? { kind: 'clear' };
    refuseUnnamed([commit]);
    const found = { isFallen: false };
    const timeout = await this.through(deadlineMs, async () => {
      found.isFallen = hasFallen(await this.options.inbox.transact('derive', (session) => session.stateOf(commit)));
    });
    return timeout ?? (found.isFallen ? { kind: 'fallen', commit } : { kind: 'clear' });
  }

  private through(deadlineMs: number, look = () => Promise.resolve()): ReturnType<Barrier['through']> {
    return this.gate.through({ endsOf: () => this.ends(), look }, deadlineMs);
  }

  private get partitions(): readonly number[] {
    return Array.from({ length: this.options.partitionCount }, (_, partition) => partition);
  }

  private async adopt(): Promise<void> {
    const { inbox, subscription } = this.options;
    const places = this.partitions.map(partitionPlace);
    await inbox.transact('apply', (session) => adoptPlaces(session, subscription.scope, places));
  }

  private async hear(notice: Notification): Promise<void> {
    const { inbox, subscription } = this.options;
    const isOwing = await inbox.transact('apply', async (session) => {
      const { scope } = subscription;
      const known = await positionIn(session, scope, notice.partition);
      // Another process of this consumer applied it, and may be gone before it answers.
      if (known !== null && known.seq >= notice.seq) return isDueTo(subscription.consumer, notice);
      const owes = await this.apply(session, notice);
      const place = { scope, partition: notice.partition };
      const [record, hash] = [notice.offset, notice.hash.toString('hex')];
      await keepPosition(session, place, { offset: record + 1, seq: notice.seq, hash, record });
      return owes;
    });
    if (isOwing) void this.outbox.flush();
  }

  /** Answers whether an acknowledgement may be owed. */
  private async apply(session: InboxSession<Tx>, notice: Notification): Promise<boolean> {
    if (notice.type !== 'RollbackAnnounced') return false;
    const isOld = notice.offset < (this.since.get(notice.partition) ?? 0);
    let owes = false;
    for (const one of announcedIn(notice.body)) owes = (await this.applyOne(session, one, isOld)) || owes;
    return owes;
  }

  private async applyOne(session: InboxSession<Tx>, one: Announced, isOld: boolean): Promise<boolean> {
    const {
      subscription: { consumer, scope },
      clock,
      onCommit,
      onRollback,
    } = this.options;
    const commit = heardCommitOf(one);
    if (!isCovered(scope, commit)) return false;
    const { rollback_id, has_effect, consumers } = one;
    const isDue = consumers.includes(consumer);
    const rollback: ArrivedRollback = { ...commit, rollbackId: rollback_id, hasEffect: has_effect, isDue };
    await hearRollback(session, rollback, {
      consumer,
      now: clock.now(),
      handlers: isOld && !isDue ? SILENT : { onRollback, ...(onCommit === undefined ? {} : { onCommit }) },
    });
    return isDue;
  }

  /** What is applied twice is kept once: the transaction of a notice has moved the place already. A process that is behind another of the same consumer moves it back for nobody. */
  private positions(): PositionStore {
    const {
      inbox,
      subscription: { scope },
    } = this.options;
    return {
      load: (_topic, partition) => inbox.transact('derive', (session) => positionIn(session, scope, partition)),
      save: (_topic, partition, position) =>
        inbox.transact('apply', async (session) => {
          if (((await positionIn(session, scope, partition))?.offset ?? -1) < position.offset)
            await keepPosition(session, { scope, partition }, position);
        }),
    };
  }

  /** Ends that were seen when the consumer ran first, kept so that a restart misses nothing in between. */
  private async beginning(): Promise<Offsets> {
    const { inbox, from = 'beginning' } = this.options;
    if (from === 'beginning') return new Map();
    const ends = await this.ends();
    return inbox.transact('apply', async (session) => {
      const kept = await session.mark(SINCE);
      if (kept === null) await session.keepMark(SINCE, JSON.stringify([...ends]));
      return kept === null ? ends : new Map(JSON.parse(kept) as [number, number][]); // written above
    });
  }

  private async ends(): Promise<Offsets> {
    const { reader, partitions } = this;
    if (reader === null) throw new Error('the consumer was not started');
    return new Map(
      await Promise.all(
        partitions.map(
          async (partition) => [partition, (await reader.range(NOTIFICATIONS_TOPIC, partition)).high] as const,
        ),
      ),
    );
  }
}

const SINCE = 'since';
const SILENT: RollbackHandlers<unknown> = { onRollback: () => Promise.resolve() };

interface Named {
  readonly tenant: string;
  readonly agent_id: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly subject_ref: string | null;
}

/** Whether a commit is in the scope of a subscription. */
export function isCovered(scope: string, { tenant, agentId, runId, subjectRef }: HeardCommit): boolean {
  return isInScope(scope, { tenant, agent: agentId, run: runId, subject: subjectRef ?? '' });
}

/** A commit as announcements and polls name it. */
export function heardCommitOf({ tenant, agent_id, run_id, mutation_id, subject_ref }: Named): HeardCommit {
  return { tenant, agentId: agent_id, runId: run_id, commitId: mutation_id, subjectRef: subject_ref };
}

function isDueTo(consumer: string, { type, body }: Notification): boolean {
  return type === 'RollbackAnnounced' && announcedIn(body).some(({ consumers }) => consumers.includes(consumer));
}
