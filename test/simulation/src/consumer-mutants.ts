// Mutants of consumers: each switches off one rule of who has to hear of a fall, what counts as their answer, or what they keep.
import type { Decided, DecideContext, Doc, RecordInput, ServiceCore, StateView } from '@recourse/event-log';
import type { Kafka } from '@recourse/kafka';
import type { Inbox, InboxSession, MemoryRows } from '@recourse/sdk';
import { MemoryInbox } from '@recourse/sdk';
import type { Bias } from './bias.js';
import type { MutantContext, Mutation } from './mutation.js';

const MUTATIONS = 'recourse.mutations';
const NOTICES = 'recourse.rollback-notifications';

/** Every consumer there is, much that falls, and many answers that are none. */
const HEARING: Bias = {
  profile: { consumers: 7 },
  stories: { commit: 40, trigger_commit: 14, forge_ack: 8, answer_again: 8 },
};

/** The rules, by name. */
export const CONSUMER_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'due-forgotten': {
    mutation: { core: (core) => marking(core, (consumers) => consumers.slice(0, -1)) },
    bias: HEARING,
  },
  'due-unscoped': {
    mutation: { core: (core) => deciding(core, (context) => ({ ...context, views: unscoped(context.views) })) },
    bias: HEARING,
  },
  'ack-foreign': { mutation: { core: (core) => deciding(core, (context) => context, onBehalf) }, bias: HEARING },
  'ack-twice': {
    mutation: {
      core: (core) =>
        deciding(core, (context, input) =>
          input.type === 'RollbackAcknowledged' ? { ...context, state: unanswered(context.state) } : context,
        ),
    },
    bias: HEARING,
  },
  'inbox-forgets': { mutation: { inbox: forgetful }, bias: HEARING },
  'inbox-late': { mutation: { inbox: beginningAtTheEnd }, bias: HEARING },
  'outbox-forgets': { mutation: { inbox: unowing }, bias: HEARING },
  'subscribed-late': {
    mutation: {
      core: (core) => {
        const remembered: Remembered = new Map();
        return deciding(core, (context) => ({ ...context, views: remembering(context, remembered) }));
      },
    },
    bias: { ...HEARING, stories: { ...HEARING.stories, resubscribe: 60 } },
  },
  barrier: { mutation: { consumerKafka: unending }, bias: HEARING },
};

// Views --------------------------------------------------------------------------------------------------------------------

/** What was read of entries, by key, and when. */
type Remembered = Map<string, { readonly entry: Doc | undefined; readonly at: number }>;
const REMEMBERED_MS = 2_000;

/** What is subscribed is not read to its end, and believed for a while. */
function remembering({ views, now }: DecideContext, remembered: Remembered): DecideContext['views'] {
  return {
    readToEnd: () => undefined,
    view: (name) => {
      const view = views.view(name);
      if (name !== 'entries') return view;
      return {
        get: (key) => {
          const known = remembered.get(key);
          if (known !== undefined && now - known.at < REMEMBERED_MS) return known.entry;
          const entry = view.get(key);
          remembered.set(key, { entry, at: now });
          return entry;
        },
        position: (partition) => view.position(partition),
        partitionOf: (key) => view.partitionOf(key),
      };
    },
  };
}

// Cores --------------------------------------------------------------------------------------------------------------------

/** Changes what a decision about a record is made on, and the record. */
function deciding(
  core: ServiceCore,
  change: (context: DecideContext, input: RecordInput) => DecideContext,
  heard: (context: DecideContext, input: RecordInput) => RecordInput = (_context, input) => input,
): ServiceCore {
  if (core.log !== MUTATIONS) return core;
  return {
    ...core,
    decide: (context, input) =>
      input.source === 'timer'
        ? core.decide(context, input)
        : core.decide(change(context, input), heard(context, input)),
  };
}

/** Changes who is waited for with a mark. */
function marking(core: ServiceCore, change: (consumers: readonly Doc[]) => readonly Doc[]): ServiceCore {
  if (core.log !== MUTATIONS) return core;
  const changedIn = (doc: Doc): Doc => ({ ...doc, consumers: change(doc['consumers'] as readonly Doc[]) }); // a list by the schema
  const changed = (record: Decided): Decided => {
    if (record.type === 'CheckpointRolledBack') {
      const others = (record.body['others'] as readonly Doc[]).map(changedIn); // likewise
      return { ...record, body: { ...changedIn(record.body), others } };
    }
    if (record.type !== 'MutationsFell') return record;
    const members = (record.body['members'] as readonly Doc[]).map(changedIn); // likewise
    return { ...record, body: { ...record.body, members } };
  };
  return {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      return { ...decision, records: decision.records.map(changed) };
    },
  };
}

/** Subscriptions that reach over all there is. */
function unscoped(views: DecideContext['views']): DecideContext['views'] {
  const widened = (doc: Doc | undefined): Doc | undefined =>
    typeof doc?.['body'] === 'string' && doc['body'].includes('commit_to_user_ms')
      ? {
          ...doc,
          body: JSON.stringify({
            ...(JSON.parse(doc['body']) as object),
            scope: String((JSON.parse(doc['body']) as { readonly scope: string }).scope.split('/')[0]),
          }),
        }
      : doc; // the registry takes JSON objects alone
  return {
    ...views,
    view: (name) => {
      const real = views.view(name);
      return {
        get: (key) => (name === 'entries' ? widened(real.get(key)) : real.get(key)),
        position: (partition) => real.position(partition),
        partitionOf: (key) => real.partitionOf(key),
      };
    },
  };
}

/** An answer of somebody who was not asked counts for who was. */
function onBehalf({ state }: DecideContext, input: RecordInput): RecordInput {
  if (input.type !== 'RollbackAcknowledged') return input;
  const { run_id, mutation_id, consumer } = input.body;
  const waiting = state.list('delivery', String(run_id)).filter((delivery) => delivery['mutation_id'] === mutation_id);
  const [first] = waiting;
  return first === undefined || waiting.some((delivery) => delivery['consumer'] === consumer)
    ? input
    : { ...input, body: { ...input.body, consumer: first['consumer'] } };
}

/** Deliveries that nobody has answered. */
function unanswered(state: StateView): StateView {
  const cleared = (kind: string, doc: Doc): Doc => (kind === 'delivery' ? { ...doc, answer: null } : doc);
  return {
    get: (kind, group, key) => {
      const doc = state.get(kind, group, key);
      return doc === undefined ? undefined : cleared(kind, doc);
    },
    stored: (kind, group, key) => {
      const doc = state.stored(kind, group, key);
      return doc === undefined ? undefined : cleared(kind, doc);
    },
    list: (kind, group) => state.list(kind, group).map((doc) => cleared(kind, doc)),
    all: (kind, group) => state.all(kind, group).map((doc) => cleared(kind, doc)),
    lastFirst: (kind, group, below) => [...state.lastFirst(kind, group, below)].map((doc) => cleared(kind, doc)),
  };
}

// Inboxes ------------------------------------------------------------------------------------------------------------------

/** Changes what a transaction finds in an inbox. */
function finding(
  kept: Inbox<MemoryRows>,
  change: (session: InboxSession<MemoryRows>) => Partial<InboxSession<MemoryRows>>,
): Inbox<MemoryRows> {
  return { transact: (kind, work) => kept.transact(kind, (session) => work({ ...session, ...change(session) })) };
}

/** Rows of the consumer's own are kept; where it stood and what it heard is gone with each process. */
function forgetful(kept: Inbox<MemoryRows>): Inbox<MemoryRows> {
  const own = new MemoryInbox();
  return {
    transact: (kind, work) =>
      kept.transact(kind, ({ tx }) => own.transact(kind, (session) => work({ ...session, tx }))),
  };
}

/** Who never read begins with the newest rollback: what came before it is not looked at. */
function beginningAtTheEnd(kept: Inbox<MemoryRows>, { beforeNewest }: MutantContext): Inbox<MemoryRows> {
  const ends = new Map<string, string>();
  for (const partition of [0, 1]) {
    const place = beforeNewest(NOTICES, partition, 'RollbackAnnounced');
    if (place !== null) ends.set(`position/${String(partition)}`, JSON.stringify(place));
  }
  const endOf = (name: string): string | undefined => ends.get(name.split('/').slice(0, 2).join('/'));
  return finding(kept, (session) => ({
    mark: async (name) => (await session.mark(name)) ?? endOf(name) ?? null,
  }));
}

/** What is owed is forgotten before it was sent. */
function unowing(kept: Inbox<MemoryRows>): Inbox<MemoryRows> {
  return finding(kept, (session) => ({
    owed: async (limit) => {
      const owed = await session.owed(limit);
      await session.settle(owed.map(({ event_id }) => event_id));
      return owed;
    },
  }));
}

/** Partitions that end where somebody has got to: whoever waits for the end does not wait. */
function unending(kafka: Kafka): Kafka {
  const reached = new Map<number, number>();
  return {
    ...kafka,
    rawReader: async () => {
      const reader = await kafka.rawReader();
      return {
        ...reader,
        readMany: (places, ...more) => {
          for (const { partition, offset } of places) reached.set(partition, offset);
          return reader.readMany(places, ...more);
        },
        range: async (topic, partition) => {
          const range = await reader.range(topic, partition);
          return { ...range, high: reached.get(partition) ?? range.high };
        },
      };
    },
  };
}
