import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Kafka } from '@recourse/kafka';
import type { RollbackAcknowledged } from '@recourse/messages';
import { MemoryInbox } from './inbox.memory.js';
import type { MemoryRows } from './inbox.memory.js';
import type { Inbox } from './inbox.port.js';
import type { HeardCommit } from './own-record.js';
import { NOTIFICATIONS_TOPIC } from './notification-consumer.js';
import { createRollbackConsumer } from './rollback-consumer.js';
import type { RollbackConsumer, RollbackConsumerOptions } from './rollback-consumer.js';
import { rollbackModesContract } from './rollback-modes.contract.js';
import { createRollbackPoll } from './rollback-poll.js';
import { LOG_ID, PARTITIONS, RollbackStage } from './rollback-stage.testing.js';

const SCOPE = 'acme/agent-1';
const PLACE = `position/0/${SCOPE}`;

for (const mode of ['async', 'sync'] as const) {
  rollbackModesContract(mode, (stage, more) =>
    Promise.resolve(
      createRollbackConsumer({
        kafka: stage.broker.forActor('consumer'),
        codecs: stage.codecs(),
        logId: LOG_ID,
        partitionCount: PARTITIONS,
        clock: stage.clock,
        registerSchemas: true,
        pollMs: 1,
        subscription: { consumer: 'mailer', scope: SCOPE, mode },
        ...more,
      }),
    ),
  );
}
rollbackModesContract('poll', async (stage, more) =>
  createRollbackPoll({
    edge: { url: await stage.edge(), token: () => Promise.resolve('t') },
    kafka: stage.broker.forActor('consumer'),
    codecs: stage.codecs(),
    clock: stage.clock,
    registerSchemas: true,
    intervalMs: 5,
    subscription: { consumer: 'mailer', scope: SCOPE, mode: 'poll' },
    ...more,
  }),
);

let stage = new RollbackStage();
let running: RollbackConsumer<MemoryRows>[] = [];
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await stage.close();
  [stage, running] = [new RollbackStage(), []];
});

/** An inbox whose database ends and comes back. */
class EndingInbox extends MemoryInbox {
  readonly cause = new Error('terminating connection due to administrator command');
  isOver = false;
  override transact<T>(...asked: Parameters<MemoryInbox['transact']>): Promise<T> {
    return this.isOver ? Promise.reject(this.cause) : (super.transact(...asked) as Promise<T>);
  } // the work says what it gives
}

/** A consumer whose heard rollbacks are listed. */
async function consumer(more: Partial<RollbackConsumerOptions<MemoryRows>> = {}, heard: string[] = []) {
  const made = createRollbackConsumer({
    kafka: stage.broker.forActor('consumer'),
    codecs: stage.codecs(),
    logId: LOG_ID,
    partitionCount: PARTITIONS,
    clock: stage.clock,
    registerSchemas: true,
    pollMs: 1,
    subscription: { consumer: 'mailer', scope: SCOPE, mode: 'sync' },
    inbox: new MemoryInbox(),
    onRollback: ({ commitId }) => {
      heard.push(commitId);
      return Promise.resolve();
    },
    ...more,
  });
  running.push(made);
  await made.start();
  return made;
}

/** A broker of which a process reads, and gets to what it read once it may go on. */
function reading(actor: string): { readonly kafka: Kafka; readonly goOn: () => void } {
  const kafka = stage.broker.forActor(actor);
  const { promise: held, resolve: goOn } = Promise.withResolvers<undefined>();
  const rawReader: Kafka['rawReader'] = async () => {
    const reader = await kafka.rawReader();
    return {
      ...reader,
      readMany: async (...asked) => {
        const fetched = await reader.readMany(...asked);
        await held;
        return fetched;
      },
    };
  };
  return {
    kafka: { ...kafka, rawReader },
    goOn: () => {
      goOn(undefined);
    },
  };
}

const OWED: RollbackAcknowledged = {
  event_id: 'ack-1',
  tenant: 'acme',
  run_id: 'run-1',
  mutation_id: 'a',
  rollback_id: 'rb',
  consumer: 'mailer',
  applied_at: 1,
  derived: [],
  emissions: [],
};

describe('a consumer that is told by Kafka', () => {
  it('stops at a notice that names nobody, and tells it', async () => {
    const [heard, troubles]: [string[], unknown[]] = [[], []];
    await stage.announce({}, []);
    await stage.fall({ commit: 'b' });
    await consumer(
      {
        onTrouble: (cause) => {
          troubles.push(cause);
        },
      },
      heard,
    );
    await stage.until('a refusal', () => troubles.length > 0);
    expect(String(troubles[0])).toContain('names nobody');
    expect(heard).toEqual([]);
  });

  it('warns where nobody listens', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    try {
      await stage.fall({ commit: 'a' });
      await consumer({ onRollback: () => Promise.reject(new Error('no such row')) });
      await stage.until('a warning', () => emitted.mock.calls.length > 0);
      expect(emitted.mock.calls[0]?.[0]).toMatch(/RollbackHandlerFailed: onRollback of commit a in run .* no such row/);
    } finally {
      emitted.mockRestore();
    }
  });

  it('applies a notice whole: its place moves with the last of its members', async () => {
    const places: (string | null)[] = [];
    const inbox = new MemoryInbox();
    await stage.fall({ commit: 'c' }, { commit: 'b' }, { commit: 'a' });
    await consumer({
      inbox,
      onRollback: (_rollback, tx) => {
        places.push(inbox.rows.get('seen') ?? null);
        tx.rows.set('seen', String(places.length));
        return Promise.resolve();
      },
    });
    await stage.until('all of it', () => inbox.rows.get('seen') === '3');
    expect(places).toEqual([null, null, null]);
    expect(await inbox.transact('derive', (session) => session.mark(PLACE))).toContain('"seq":1');
  });

  it('whose database ends for a while says so, tries the same announcement again, and applies and answers it once', async () => {
    const [heard, troubles]: [string[], unknown[]] = [[], []];
    const inbox = new EndingInbox();
    await consumer(
      {
        inbox,
        onTrouble: (cause) => {
          troubles.push(cause);
        },
      },
      heard,
    );
    await stage.fall({ commit: 'a' });
    await stage.until('the first', () => heard.length === 1);
    inbox.isOver = true;
    await stage.fall({ commit: 'b' });
    await stage.until('a second try', () => troubles.length > 1);
    expect([heard, troubles.every((cause) => cause === inbox.cause)]).toEqual([['a'], true]);
    inbox.isOver = false;
    await stage.until('the answers', async () => (await stage.acks()).length === 2);
    expect(heard).toEqual(['a', 'b']);
  });

  it('that begins now hears what comes, what it is waited for, and knows what fell before', async () => {
    const [heard, named]: [string[], string[]] = [[], []];
    await stage.fall({ commit: 'old', consumers: [] });
    await stage.fall({ commit: 'due' });
    const onCommit = ({ commitId }: HeardCommit): Promise<void> => {
      named.push(commitId);
      return Promise.resolve();
    };
    const made = await consumer({ from: 'now', onCommit }, heard);
    await stage.fall({ commit: 'new', consumers: [] });
    await stage.until('the new one', () => heard.includes('new'));
    expect([heard, named]).toEqual([
      ['due', 'new'],
      ['due', 'new'],
    ]);
    expect(
      await made.transact((_tx, own) =>
        own.derive({ commit: { run_id: 'own', commit_id: 'x' }, parents: [{ run_id: 'run-1', commit_id: 'old' }] }),
      ),
    ).toBe(false);
  });

  it('keeps where it began, so that a restart misses nothing', async () => {
    const [heard, inbox]: [string[], MemoryInbox] = [[], new MemoryInbox()];
    const first = await consumer({ from: 'now', inbox }, heard);
    await first.stop();
    running = [];
    await stage.fall({ commit: 'meanwhile', consumers: [] });
    await consumer({ from: 'now', inbox }, heard);
    await stage.until('what came meanwhile', () => heard.length > 0);
    expect(heard).toEqual(['meanwhile']);
  });

  it('sends an acknowledgement that an earlier process left', async () => {
    const inbox = new MemoryInbox();
    stage.registry.available = false;
    await expect(consumer({ inbox })).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
    running = [];
    stage.registry.available = true;
    await inbox.transact('apply', (session) => session.owe(OWED));
    await consumer({ inbox });
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
    expect(await inbox.transact('derive', (session) => session.owed(9))).toEqual([]);
  });
});

describe('a consumer of which two processes run', () => {
  it('keeps the place of the one that is ahead', async () => {
    const [kept, inbox]: [number[], MemoryInbox] = [[], new MemoryInbox()];
    const noting: Inbox<MemoryRows> = {
      transact: (kind, work) =>
        inbox.transact(kind, (session) =>
          work({
            ...session,
            keepMark: (name, text) => {
              if (name === PLACE) kept.push((JSON.parse(text) as { readonly offset: number }).offset);
              return session.keepMark(name, text);
            }, // the consumer wrote it
          }),
        ),
    };
    await stage.fall({ commit: 'a' });
    await stage.fall({ commit: 'b' });
    // It has read everything, and gets to it when the other one is through.
    const { kafka, goOn } = reading('slow');
    await consumer({ inbox: noting, kafka });
    const heard: string[] = [];
    await consumer({ inbox: noting }, heard);
    await stage.until('both rollbacks', () => heard.length === 2);
    goOn();
    await stage.until('the slow one', () => kept.length > 0);
    await stage.clock.advance(20);
    expect(heard).toEqual(['a', 'b']);
    expect(kept).toEqual([1, 2]);
  });

  it('sends what the other applied and died before it answered', async () => {
    const inbox = new MemoryInbox();
    const first: string[] = [];
    const dying = stage.broker.forActor('dying');
    const unsent = { send: () => Promise.reject(new Error('it is dead')), close: () => Promise.resolve() };
    await consumer({ inbox, kafka: { ...dying, wireProducer: () => Promise.resolve(unsent) } }, first);
    const { kafka, goOn } = reading('other');
    await consumer({ inbox, kafka });
    await stage.fall({ commit: 'a' });
    await stage.until('the one that dies', () => first.length === 1);
    await stage.clock.advance(20);
    expect(await stage.acks()).toEqual([]);
    goOn();
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
    expect(await inbox.transact('derive', (session) => session.owed(9))).toEqual([]);
  });

  it('sends what the other applied while it started, and will not hear again', async () => {
    const inbox = new MemoryInbox();
    let asked = 0;
    // Between its look at what is owed and the place it begins at, the other applies a rollback and dies.
    const meanwhile: Inbox<MemoryRows> = {
      transact: async (kind, work) => {
        asked += 1;
        if (asked === 3) await inbox.transact('apply', (session) => session.owe(OWED));
        return inbox.transact(kind, work);
      },
    };
    await consumer({ inbox: meanwhile });
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
  });
});

describe('a consumer that polls', () => {
  it('asks in the way it is given', async () => {
    const asked: string[] = [];
    const poll = createRollbackPoll({
      edge: {
        url: 'http://ledger',
        token: () => Promise.resolve('t'),
        fetch: (url) => {
          asked.push(url);
          return Promise.resolve({
            status: 200,
            headers: new Headers(),
            text: () => Promise.resolve('{"items":[],"after":"7","more":false}'),
          });
        },
      },
      kafka: stage.broker.forActor('poll'),
      codecs: stage.codecs(),
      clock: stage.clock,
      registerSchemas: true,
      subscription: { consumer: 'mailer', scope: SCOPE, mode: 'poll' },
      inbox: new MemoryInbox(),
      onRollback: () => Promise.resolve(),
    });
    expect([await poll.poll(), await poll.poll()]).toEqual([0, 0]);
    expect(asked).toEqual([
      'http://ledger/v1/rolled-back?scope=acme%2Fagent-1&limit=200',
      'http://ledger/v1/rolled-back?scope=acme%2Fagent-1&limit=200&after=7',
    ]);
  });

  it('drops a page that another process of it has passed', async () => {
    const inbox = new MemoryInbox();
    const answers: ((page: object) => void)[] = [];
    const pollOf = (name: string) =>
      createRollbackPoll({
        edge: {
          url: 'http://ledger',
          token: () => Promise.resolve('t'),
          fetch: async () => {
            const page = await new Promise<object>((resolve) => {
              answers.push(resolve);
            });
            return { status: 200, headers: new Headers(), text: () => Promise.resolve(JSON.stringify(page)) };
          },
        },
        kafka: stage.broker.forActor(name),
        codecs: stage.codecs(),
        clock: stage.clock,
        registerSchemas: true,
        subscription: { consumer: 'mailer', scope: SCOPE, mode: 'poll' },
        inbox,
        onRollback: () => Promise.resolve(),
      });
    const [slow, quick] = [pollOf('slow').poll(), pollOf('quick').poll()];
    await stage.until('both questions', () => answers.length === 2);
    answers[1]?.({ items: [], after: '9', more: false });
    await quick;
    answers[0]?.({ items: [], after: '4', more: false });
    await slow;
    expect(await inbox.transact('derive', (session) => session.mark(`poll/${SCOPE}`))).toBe('9');
  });
});

describe('a barrier', () => {
  it('opens once all that was announced by then is applied, in every partition', async () => {
    const made = await consumer();
    await stage.fall({ commit: 'a', partition: 1, run: 'run-2' });
    let outcome: unknown = null;
    void made.barrier(1_000).then((ended) => {
      outcome = ended;
    });
    await stage.until('the barrier', () => outcome !== null);
    expect(outcome).toEqual({ kind: 'clear' });
    expect(
      await made.transact((_tx, own) =>
        own.emitted({ run_id: 'run-2', commit_id: 'a' }, { kind: 'email', ref: null, emitted_at: 1 }),
      ),
    ).toBe(false);
  });

  it("opens where a log ends with the marker of somebody's transaction", async () => {
    const made = await consumer();
    const written = [{ key: Buffer.from('x'), value: Buffer.from('not of the log') }];
    stage.broker.transaction(NOTIFICATIONS_TOPIC, 0, written).abort();
    let outcome: unknown = null;
    void made.barrier(1_000).then((ended) => {
      outcome = ended;
    });
    await stage.until('the barrier', () => outcome !== null);
    expect(outcome).toEqual({ kind: 'clear' });
  });

  it('tells that the commit it was asked about fell', async () => {
    const made = await consumer();
    await stage.fall({ commit: 'a' });
    let outcome: unknown = null;
    void made.barrier(1_000, { run_id: 'run-1', commit_id: 'a' }).then((ended) => {
      outcome = ended;
    });
    await stage.until('the barrier', () => outcome !== null);
    expect(outcome).toEqual({ kind: 'fallen', commit: { run_id: 'run-1', commit_id: 'a' } });
  });

  it('that does not open in time says how far behind the consumer is, and lets nobody through', async () => {
    const made = await consumer({ onRollback: () => Promise.reject(new Error('the database is away')) });
    await stage.fall({ commit: 'a' });
    let outcome: unknown = null;
    void made.barrier(50).then((ended) => {
      outcome = ended;
    });
    await stage.until('the barrier', () => outcome !== null);
    expect(outcome).toEqual({
      kind: 'timeout',
      code: 'BARRIER_TIMEOUT',
      behind: [{ partition: 0, applied: 0, end: 1 }],
    });
  });
});
