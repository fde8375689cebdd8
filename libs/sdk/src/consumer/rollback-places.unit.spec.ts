// Where a consumer of rollbacks stands: in its scope, and in a log that may be restored from an older copy.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { MemoryInbox } from './inbox.memory.js';
import type { MemoryRows } from './inbox.memory.js';
import { createRollbackConsumer } from './rollback-consumer.js';
import type { RollbackConsumer, RollbackConsumerOptions } from './rollback-consumer.js';
import { createRollbackPoll } from './rollback-poll.js';
import { LOG_ID, PARTITIONS, RollbackStage } from './rollback-stage.testing.js';

const REF = (commit_id: string) => ({ run_id: 'run-1', commit_id });

let stage: RollbackStage;
let running: { stop(): Promise<void> }[];
let inbox: MemoryInbox;
let heard: string[];
let troubles: string[];
beforeEach(() => {
  [stage, running, inbox, heard, troubles] = [new RollbackStage(), [], new MemoryInbox(), [], []];
});
afterEach(async () => {
  await stopAll();
  await stage.close();
});

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

function made(scope: string, more: Partial<RollbackConsumerOptions<MemoryRows>> = {}): RollbackConsumer<MemoryRows> {
  return createRollbackConsumer({
    kafka: stage.broker.forActor('consumer'),
    codecs: stage.codecs(),
    logId: LOG_ID,
    partitionCount: PARTITIONS,
    clock: stage.clock,
    registerSchemas: true,
    pollMs: 1,
    subscription: { consumer: 'mailer', scope, mode: 'sync' },
    inbox,
    onRollback: ({ commitId }) => {
      heard.push(commitId);
      return Promise.resolve();
    },
    onTrouble: (cause) => {
      troubles.push(String(cause));
    },
    ...more,
  });
}

async function started(
  scope: string,
  more: Partial<RollbackConsumerOptions<MemoryRows>> = {},
): Promise<RollbackConsumer<MemoryRows>> {
  const consumer = made(scope, more);
  running.push(consumer);
  await consumer.start();
  return consumer;
}

async function turns(count = 100): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await stage.clock.advance(1);
}

async function barrier(consumer: RollbackConsumer<MemoryRows>, commit: string): Promise<string | undefined> {
  let kind: string | undefined;
  void consumer.barrier(200, REF(commit)).then((outcome) => {
    kind = outcome.kind;
  });
  await turns(400);
  return kind;
}

/** What a consumer hears who makes something of a commit, and lets something out on it. */
async function toldOf(consumer: Pick<RollbackConsumer<MemoryRows>, 'transact'>, commit: string): Promise<unknown> {
  const mine = { run_id: 'own', commit_id: `of-${commit}` };
  const email = { kind: 'email', ref: null, emitted_at: 1 };
  const codeOf = (cause: unknown): unknown => (cause as Failure).code;
  return Promise.all([
    consumer.transact((_tx, own) => own.derive({ commit: mine, parents: [REF(commit)] })).catch(codeOf),
    consumer.transact((_tx, own) => own.emitted(REF(commit), email)).catch(codeOf),
  ]);
}

/** A log in which these fell, in place of the one that was. */
async function restored(...commits: readonly string[]): Promise<void> {
  await stopAll();
  await stage.close();
  stage = new RollbackStage();
  for (const commit of commits) await stage.fall({ commit });
}

/** A consumer that has forgotten where it stands, and starts again. */
async function forgets(): Promise<void> {
  await inbox.transact('apply', (session) => session.keepMark('position/0/acme', 'null'));
  await started('acme');
  await turns();
}

describe('the scope of a consumer of rollbacks', () => {
  it('that is widened begins anew: what it passed over before is heard, and nothing twice', async () => {
    await stage.fall({ commit: 'a', agent: 'agent-1' });
    await stage.fall({ commit: 'x', agent: 'agent-2' });
    await started('acme/agent-1');
    await turns();
    await stopAll();
    const wide = await started('acme');
    await turns();
    expect([heard, await barrier(wide, 'x')]).toEqual([['a', 'x'], 'fallen']);
  });

  it('stands beside another of the same consumer: each hears its own', async () => {
    await started('acme/agent-1');
    await started('acme/agent-2');
    for (const at of [1, 2, 3, 4])
      await stage.fall({ commit: `c${String(at)}`, agent: `agent-${String(1 + (at % 2))}` });
    await turns();
    expect(heard.sort()).toEqual(['c1', 'c2', 'c3', 'c4']);
  });

  it('reads on in a place that was kept without it', async () => {
    await stage.fall({ commit: 'a' });
    await started('acme');
    await turns();
    await stopAll();
    const kept = await inbox.transact('derive', (session) => session.mark('position/0/acme'));
    const older = new MemoryInbox();
    await older.transact('apply', (session) => session.keepMark('position/0', kept ?? ''));
    await stage.fall({ commit: 'b' });
    await started('acme', { inbox: older });
    await turns();
    expect(heard).toEqual(['a', 'b']);
  });

  it.each(['acme/', '', 'a b', '/acme', 'acme/a*'])('is refused where no subscription has it: %j', (scope) => {
    expect(() => made(scope)).toThrow('SUBSCRIPTION_INVALID');
  });
});

describe('a consumer of rollbacks whose log was restored from an older copy', () => {
  beforeEach(async () => {
    for (const commit of ['a', 'b', 'c', 'd', 'e']) await stage.fall({ commit });
    await started('acme');
    await turns();
    await stopAll();
    heard.splice(0);
  });

  it.each([
    ['is shorter', ['a', 'b', 'c']],
    ['is empty', []],
    ['has grown past what was heard', ['a', 'b', 'c', 'f', 'g', 'h', 'i']],
  ])('halts where it %s, says so, and lets no barrier pass', async (_what, commits) => {
    await restored(...commits);
    const consumer = await started('acme');
    await turns();
    expect([heard, await barrier(consumer, 'h')]).toEqual([[], 'timeout']);
    expect(troubles[0]).toContain('LOG_CUT');
  });

  it('makes nothing and lets nothing out while it is halted, or stopped: what stands is not known', async () => {
    const consumer = await started('acme');
    await turns();
    expect(await toldOf(consumer, 'x')).toEqual([true, true]);
    await restored('a', 'b', 'c');
    const cut = await started('acme');
    await turns();
    expect(await toldOf(cut, 'x')).toEqual(['LOG_CUT', 'LOG_CUT']);
    expect(await toldOf(cut, 'a')).toEqual([false, false]);
    expect(await toldOf(consumer, 'x')).toEqual(['NOT_READY', 'NOT_READY']);
    expect(await toldOf(consumer, 'a')).toEqual([false, false]);
  });

  it('makes nothing and lets nothing out while it is being started, nor once that failed, and at once when it is', async () => {
    const failing: { cause: Error | null } = { cause: new Error('no registry') };
    const codecs = stage.codecs();
    const consumer = made('acme', {
      codecs: {
        ...codecs,
        prepareWriter: (...asked) =>
          failing.cause === null ? codecs.prepareWriter(...asked) : Promise.reject(failing.cause),
      },
    });
    expect(await toldOf(consumer, 'before')).toEqual([true, true]);
    await expect(consumer.start()).rejects.toThrow('no registry');
    expect(await toldOf(consumer, 'x')).toEqual(['NOT_READY', 'NOT_READY']);
    expect(await toldOf(consumer, 'a')).toEqual([false, false]);
    failing.cause = null;
    running.push(consumer);
    const starting = consumer.start();
    expect(await toldOf(consumer, 'x')).toEqual(['NOT_READY', 'NOT_READY']);
    await starting;
    expect(await toldOf(consumer, 'x')).toEqual([true, true]);
  });

  it('is known to be halted as soon as it has started', async () => {
    await restored('a', 'b', 'c');
    expect(await toldOf(await started('acme'), 'x')).toEqual(['LOG_CUT', 'LOG_CUT']);
  });

  it('goes on once its place is forgotten, and undoes nothing twice', async () => {
    await restored('a', 'b', 'c', 'f');
    await inbox.transact('apply', (session) => session.keepMark('position/0/acme', 'null'));
    const consumer = await started('acme');
    await turns();
    expect([heard, await barrier(consumer, 'f'), troubles]).toEqual([['f'], 'fallen', []]);
  });

  it('answers what is announced anew though it fell in the lost records, as it did before, and undoes nothing twice', async () => {
    const consumer = await started('acme');
    await toldOf(consumer, 'f');
    await consumer.transact((_tx, own) =>
      own.emitted({ run_id: 'own', commit_id: 'of-f' }, { kind: 'page', ref: 'p', emitted_at: 2 }),
    );
    await stage.fall({ commit: 'f' });
    await turns();
    const before = await stage.acks();
    expect(before.at(-1)).toMatchObject({ derived: [{ commit_id: 'of-f' }], emissions: [{}, { kind: 'page' }] });
    await restored('a', 'b', 'c');
    heard.splice(0);
    await forgets();
    await stage.fall({ commit: 'f' });
    await turns();
    const again = await stage.acks();
    expect(again).toEqual(before.filter(({ mutation_id }) => !['d', 'e'].includes(mutation_id)));
    expect(heard).toEqual([]);
  });

  it('answers anew as it did first, though what it made fell with another since, or by itself', async () => {
    const consumer = await started('acme');
    const own = { run_id: 'own', commit_id: 'of-two' };
    const page = { kind: 'page', ref: 'p', emitted_at: 2 };
    await consumer.transact((_tx, record) => record.derive({ commit: own, parents: [REF('f'), REF('g')] }));
    await consumer.transact((_tx, record) => record.emitted(own, page));
    const falls = [{ commit: 'f' }, { commit: 'g' }, { commit: 'of-two', run: 'own' }];
    const answers = async (): Promise<readonly (readonly object[])[]> =>
      (await stage.acks()).slice(-3).map(({ derived, emissions }) => [...derived, ...emissions]);
    for (const fall of falls) await stage.fall(fall);
    await turns();
    expect(await answers()).toEqual([[own, page], [], [page]]);
    await restored('a', 'b', 'c');
    await forgets();
    for (const fall of falls) await stage.fall(fall);
    await turns();
    expect(await answers()).toEqual([[own, page], [], [page]]);
  });

  it('answers nothing anew where it kept no answer', async () => {
    await started('acme');
    await stage.fall({ commit: 'f', consumers: [] });
    await turns();
    await restored('a', 'b', 'c');
    await forgets();
    await stage.fall({ commit: 'f' });
    await turns();
    expect((await stage.acks()).map(({ mutation_id }) => mutation_id)).toEqual(['a', 'b', 'c']);
  });

  it('goes on in a log that holds all that was heard', async () => {
    await restored('a', 'b', 'c', 'd', 'e', 'f');
    await started('acme');
    await turns();
    expect([heard, troubles]).toEqual([['f'], []]);
  });

  it('halts while it runs: at the end that is not there any more, and at a record that follows on one it did not hear', async () => {
    const [short, next, long] = [new RollbackStage(), new RollbackStage(), new RollbackStage()];
    for (const commit of ['a', 'b', 'c']) await short.fall({ commit });
    for (const commit of ['a', 'b', 'c', 'f', 'g', 'h']) await next.fall({ commit });
    for (const commit of ['a', 'b', 'c', 'f', 'g', 'h', 'i']) await long.fall({ commit });
    const moved = moving([stage, short, next, long]);
    const consumer = await started('acme', { kafka: moved.kafka });
    await turns();
    expect([heard, troubles]).toEqual([[], []]);
    for (const each of [short, next, long]) {
      moved.now = each;
      expect([heard, await barrier(consumer, 'b')]).toEqual([[], 'timeout']);
      await turns(600);
      expect(troubles.at(-1)).toContain('LOG_CUT');
      troubles.splice(0);
      moved.now = stage;
      await turns(600);
      expect([await barrier(consumer, 'b'), await toldOf(consumer, 'x')]).toEqual(['fallen', [true, true]]);
    }
  });

  it('halts after its broker was away, also where the log is as long as the one that was heard', async () => {
    const same = new RollbackStage();
    for (const commit of ['a', 'b', 'c', 'f', 'g']) await same.fall({ commit });
    const moved = moving([stage, same]);
    await started('acme', { kafka: moved.kafka });
    await turns();
    moved.now = null;
    await turns();
    expect(troubles.at(-1)).toContain('BROKER_UNAVAILABLE');
    moved.now = same;
    await turns(600);
    expect([heard, troubles.at(-1)]).toEqual([[], expect.stringContaining('LOG_CUT')]);
  });
});

/** A broker whose log is `now` one of these, or that is away. */
function moving(logs: readonly RollbackStage[]) {
  const kafka = stage.broker.forActor('consumer');
  const moved: { now: RollbackStage | null; readonly kafka: typeof kafka } = {
    now: stage,
    kafka: {
      ...kafka,
      rawReader: async () => {
        const readers = new Map(
          await Promise.all(
            logs.map(async (each) => [each, await each.broker.forActor('consumer').rawReader()] as const),
          ),
        );
        const reader = () => {
          const found = moved.now === null ? undefined : readers.get(moved.now);
          if (found === undefined) throw new Failure('BROKER_UNAVAILABLE', 'it is away');
          return found;
        };
        return {
          read: async (...asked) => reader().read(...asked),
          readMany: async (...asked) => reader().readMany(...asked),
          range: async (...asked) => reader().range(...asked),
          close: async () => {
            for (const each of readers.values()) await each.close();
          },
        };
      },
    },
  };
  return moved;
}

describe('a consumer of rollbacks that does not start', () => {
  it('lets the broker go, and starts once it can', async () => {
    let open = 0;
    const real = stage.broker.forActor('consumer');
    const counted = async <T extends { close(): Promise<void> }>(made: Promise<T>): Promise<T> => {
      const one = await made;
      open += 1;
      return {
        ...one,
        close: async () => {
          open -= 1;
          await one.close();
        },
      };
    };
    const kafka: typeof real = {
      ...real,
      rawReader: (...asked) => counted(real.rawReader(...asked)),
      wireProducer: (...asked) => counted(real.wireProducer(...asked)),
    };
    const lacking = made('acme', { kafka, partitionCount: 3 });
    await expect(lacking.start()).rejects.toThrow();
    expect(open).toBe(0);
    stage.registry.available = false;
    const consumer = made('acme', { kafka });
    await expect(consumer.start()).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
    expect(open).toBe(0);
    stage.registry.available = true;
    await stage.fall({ commit: 'a' });
    running.push(consumer);
    await consumer.start();
    await turns();
    expect(heard).toEqual(['a']);
  });
});

it('a consumer of rollbacks keeps nothing that no acknowledgement could say of when it went out', async () => {
  const consumer = await started('acme');
  for (const emitted_at of [-1, 8.64e15 + 1, 1.5, undefined, '2030'])
    await expect(
      consumer.transact((_tx, own) =>
        own.emitted(REF('a'), { kind: 'email', ref: null, emitted_at: emitted_at as number }),
      ),
    ).rejects.toMatchObject({ code: 'INSTANT_INVALID' });
});

describe('what a barrier is asked about', () => {
  it.each([[{ runId: 'run-1', commitId: 'a' }], ['a'], [{ run_id: 'run-1', mutation_id: 'a' }]])(
    'names a commit, or is refused: %j',
    async (commit) => {
      const consumer = await started('acme');
      await expect(consumer.barrier(100, commit as never)).rejects.toMatchObject({ code: 'RECORD_UNFIT' });
    },
  );

  it('is looked up within the deadline, however long its database takes', async () => {
    const { promise: never } = Promise.withResolvers<never>();
    let isHung = false;
    const consumer = await started('acme', {
      inbox: { transact: (kind, work) => (isHung ? never : inbox.transact(kind, work)) },
    });
    await turns();
    isHung = true;
    expect(await barrier(consumer, 'a')).toBe('timeout');
    running.splice(0);
  });
});

it('a poll whose start failed says of nothing that it stands, and of all once it has started', async () => {
  const codecs = stage.codecs();
  stage.registry.available = false;
  const poll = createRollbackPoll({
    edge: { url: await stage.edge(), token: () => Promise.resolve('t') },
    kafka: stage.broker.forActor('poll'),
    codecs,
    clock: stage.clock,
    registerSchemas: true,
    subscription: { consumer: 'mailer', scope: 'acme', mode: 'poll' },
    inbox,
    onRollback: () => Promise.resolve(),
  });
  await expect(poll.start()).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE' });
  expect(await toldOf(poll, 'x')).toEqual(['NOT_READY', 'NOT_READY']);
  stage.registry.available = true;
  await poll.start();
  expect(await toldOf(poll, 'x')).toEqual([true, true]);
  await poll.stop();
});

describe('a poll of which one rollback always fails', () => {
  it('takes what comes before it on its page', async () => {
    for (const commit of ['a', 'b', 'c']) await stage.fall({ commit });
    const poll = createRollbackPoll({
      edge: { url: await stage.edge(), token: () => Promise.resolve('t') },
      kafka: stage.broker.forActor('poll'),
      codecs: stage.codecs(),
      clock: stage.clock,
      registerSchemas: true,
      subscription: { consumer: 'mailer', scope: 'acme', mode: 'poll' },
      inbox,
      onRollback: ({ commitId }) => {
        if (commitId === 'b') return Promise.reject(new Error('poison'));
        heard.push(commitId);
        return Promise.resolve();
      },
    });
    await expect(poll.poll()).rejects.toThrow('of commit b');
    await expect(poll.poll()).rejects.toThrow('of commit b');
    expect(await toldOf(poll, 'b')).toEqual([true, true]);
    await poll.stop();
    expect(await toldOf(poll, 'b')).toEqual(['NOT_READY', 'NOT_READY']);
    const state = await inbox.transact('derive', (session) => session.stateOf(REF('a')));
    expect([heard, state]).toEqual([['a', 'a'], 'fallen']);
  });
});
