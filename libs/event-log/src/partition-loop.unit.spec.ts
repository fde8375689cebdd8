// The loop of one partition on memory adapters: each rule of docs/design/loop.md as a scenario.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GateVerdict } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { countingCore, LOG, LOG_ID, LoopWorld, WIRE } from './loop.testing.js';
import type { Statement } from './loop.testing.js';
import { OwnLog } from './own-log.js';
import { REDIRECTED } from './parking.decisions.js';
import { MemoryKeyStore } from './sealing/key-store.memory.js';
import type { KeyStore } from './sealing/key-store.port.js';
import { Vault } from './sealing/vault.js';
import type { Decided, Doc, ServiceCore } from './service-core.js';
import { FAILED_AGAIN_MS, HORIZON_MS } from './timers.js';

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

const recorded =
  (...expected: readonly string[]) =>
  async (): Promise<boolean> =>
    (await world.statements()).join() === [...expected].sort().join();
/** A log that others write. */
const OTHERS = 'recourse.contracts';
/** A verdict for the next `times` appends of the own log by somebody. */
function onAppend(verdict: GateVerdict, times = 1, actor = 'a'): void {
  let left = times;
  world.verdicts.push((operation) => {
    if (operation.kind !== 'append' || operation.actor !== actor || left === 0) return undefined;
    left -= 1;
    return verdict;
  });
}
/** A process's vault over a store; its secrets are of no interest. */
function vaultOver(store: KeyStore): Vault {
  let drawn = 0;
  return new Vault({ store, windowMs: 86_400_000, now: () => 0, random: (size) => Buffer.alloc(size, (drawn += 1)) });
}
const settledHash = async (partition: number): Promise<string> => world.database.partition(LOG, partition).stateHash();
const projected = async (): Promise<void> => {
  await world.until('projected', async () => {
    for (const partition of [0, 1]) {
      const [head, records] = [await world.database.partition(LOG, partition).head(), await world.accepted(partition)];
      if ((head?.seq ?? 0) !== records.length) return false;
    }
    return true;
  });
};

describe('a loop with inputs', () => {
  it('records each of them once, Progress first', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r2', id: '2' },
      { ref: 'r1', id: '3' },
    ]);
    await world.until('three', recorded('r1:1', 'r1:3', 'r2:2'));
    const records = await world.accepted(world.partitionOf('r1'));
    expect(records[0]?.type).toBe('Progress');
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  });

  it("passes over what is another service's to answer, at no cost but the cursor", async () => {
    const core = countingCore();
    await world.start('a', {
      ...core,
      inputs: core.inputs.map((input) =>
        input.topic === WIRE ? { ...input, concerns: ({ body }) => body['source'] !== 'theirs' } : input,
      ),
    });
    await world.state([
      { ref: 'r1', id: '1', source: 'theirs' },
      { ref: 'r1', id: '2' },
    ]);
    await world.until('the one of ours', recorded('r1:2'));
    expect((await world.accepted(world.partitionOf('r1'))).map(({ type }) => type)).toEqual([
      'Progress',
      'AssumptionStated',
    ]);
  });

  it('writes everything that waits into one batch', async () => {
    await world.state(Array.from({ length: 50 }, (_, index) => ({ ref: 'r1', id: String(index) })));
    await world.start('a');
    await world.until('fifty', async () => (await world.statements()).length === 50);
    const records = await world.accepted(world.partitionOf('r1'));
    expect(records.filter(({ type }) => type === 'Progress').length).toBeLessThan(10);
  });

  it('takes no more of them at a time than it decides in 150 ms, however many wait', async () => {
    const sound = countingCore();
    await world.start('a', {
      ...sound,
      decide: (context, input) => {
        for (const until = performance.now() + 50; performance.now() < until;);
        return sound.decide(context, input);
      },
    });
    await world.state(Array.from({ length: 5 }, (_, index) => ({ ref: 'r1', id: `first${index}` })));
    await world.until('five', async () => (await world.statements()).length === 5);
    await world.state(Array.from({ length: 30 }, (_, index) => ({ ref: 'r1', id: String(index) })));
    await world.until('all', async () => (await world.statements()).length === 35);
    const records = await world.accepted(world.partitionOf('r1'));
    expect(records.filter(({ type }) => type === 'Progress').length).toBeGreaterThan(10);
  });

  it('writes a Progress alone only for inputs that mean something, and never for its own', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1', source: 'idle' }]);
    await world.until('a lazy Progress', async () => (await world.accepted(world.partitionOf('r1'))).length === 1);
    await new Promise((resolve) => {
      setTimeout(resolve, 80);
    });
    expect((await world.accepted(world.partitionOf('r1'))).map(({ type }) => type)).toEqual(['Progress']);
  });
});

describe('views that a decision wants read to their end', () => {
  it('are read before it is made, over all that was there when its input came', async () => {
    /** By event, as it was decided last: what lacks is decided again. */
    const made = new Map<string, readonly [isFresh: boolean, position: number]>();
    const plain = countingCore({
      views: [{ name: 'heard', topic: OTHERS, fold: () => [] }],
    });
    const core: ServiceCore = {
      ...plain,
      decide: (context, input) => {
        if (input.source === 'timer') return plain.decide(context, input);
        const isNewest = input.body['source'] === 'newest';
        if (isNewest) context.views.readToEnd();
        const decision = plain.decide(context, input);
        made.set(String(input.body['event_id']), [isNewest, context.views.view('heard').position(0)]);
        return decision;
      },
    };
    const aged = await new LoopWorld(core, { viewAgeMs: 1_000_000 }).prepare();
    const others = new OwnLog({
      ...{ kafka: aged.broker.forActor('others'), codecs: aged.codecs, logId: LOG_ID },
      ...{ topic: OTHERS, partition: 0, partitionCount: 1 },
    });
    try {
      await aged.start('a');
      for (const [id, source] of [
        ['1', 'outside'],
        ['2', 'outside'],
        ['3', 'newest'],
      ] as const) {
        await aged.state([{ ref: 'r1', id, source }]);
        await aged.until(`statement ${id}`, async () => (await aged.statements()).includes(`r1:${id}`));
        const news = others.seal(0);
        news.add({ type: 'Progress', body: { cursors: [], reacted_seq: 0 } }, 'progress');
        expect(await others.append(news)).toBe('accepted');
      }
      // Others append a record after each: the third is decided over both of them, the second over what was there at the first.
      expect([...made]).toEqual([
        ['1', [false, 0]],
        ['2', [false, 0]],
        ['3', [true, 2]],
      ]);
    } finally {
      await aged.stop();
    }
  });
});

describe('an observer of accepted records', () => {
  const told = (by: string) =>
    world.events.flatMap((event) =>
      event.kind === 'accepted' && event.by === by && event.record.type === 'AssumptionStated' ? [event] : [],
    );
  const countsIn = (by: string) =>
    told(by).map(({ record, rows }) => [
      record.body['event_id'],
      ...rows().map(({ kind, before, after }) => [kind, before?.['count'] ?? null, after?.['count'] ?? null]),
    ]);

  it('hears each once, with the rows it changed as they were and as they are', async () => {
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r1', id: '2' },
      { ref: 'r1', id: '3', source: 'thrower' },
      { ref: 'r2', id: '4' },
    ]);
    await world.start('a');
    await world.until('three', recorded('r1:1', 'r1:2', 'r2:4'));
    await projected();
    expect(countsIn('a').sort()).toEqual([
      ['1', ['count', null, 1]],
      ['2', ['count', 1, 2]],
      ['4', ['count', null, 1]],
    ]);
  });

  it('hears nothing anew when the log is read again, so that nothing is counted twice', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r2', id: '2' },
    ]);
    await world.until('two', recorded('r1:1', 'r2:2'));
    await projected();
    world.kill('a');
    world.database.wipe();
    await world.start('b');
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('three', recorded('r1:1', 'r1:3', 'r2:2'));
    await projected();
    expect(countsIn('b')).toEqual([['3', ['count', 1, 2]]]);
  });
});

describe('an append of unknown outcome', () => {
  it.each(['fail', 'lose_ack', 'late', 'duplicate'] as const)(
    'leads to each input recorded once (%s)',
    async (verdict) => {
      onAppend(verdict, 2);
      await world.start('a');
      await world.state([
        { ref: 'r1', id: '1' },
        { ref: 'r1', id: '2' },
        { ref: 'r1', id: '3' },
      ]);
      await world.until('three', recorded('r1:1', 'r1:2', 'r1:3'));
      for (const packet of [...world.broker.pendingLate]) packet.release();
      await world.state([{ ref: 'r1', id: '4' }]);
      await world.until('four', recorded('r1:1', 'r1:2', 'r1:3', 'r1:4'));
    },
  );
});

describe('two owners of one partition', () => {
  it('fight without harm: the chain takes each decision once', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '0' }]);
    await world.until('first', recorded('r1:0'));
    world.broker.evict('a');
    await world.start('b');
    await world.state(
      Array.from({ length: 20 }, (_, index) => ({ ref: index % 2 === 0 ? 'r1' : 'r2', id: String(index + 1) })),
    );
    await world.until('all', async () => (await world.statements()).length === 21);
    expect(new Set(await world.statements()).size).toBe(21);
    await projected();
  });
});

describe('a database that is only a cache', () => {
  it('is rebuilt from offset 0 to the same state, and nothing is sent', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1', source: 'messenger' },
      { ref: 'r2', id: '2' },
    ]);
    await world.until('both', recorded('r1:1', 'r2:2'));
    await world.until(
      'sent',
      async () =>
        (await (await world.broker.forActor('x').rawReader()).range('recourse.tool-requests.payments', 0)).high +
          (await (await world.broker.forActor('x').rawReader()).range('recourse.tool-requests.payments', 1)).high ===
        1,
    );
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('third', recorded('r1:1', 'r1:3', 'r2:2'));
    await projected();
    const before = [await settledHash(0), await settledHash(1)];
    world.kill('a');
    world.database.wipe();
    await world.start('b');
    await projected();
    expect([await settledHash(0), await settledHash(1)]).toEqual(before);
  });

  it('is not asked for rows while it is filled anew: it holds none', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r2', id: '2' },
    ]);
    await world.until('both', recorded('r1:1', 'r2:2'));
    await projected();
    world.kill('a');
    world.database.wipe();
    const asked: string[] = [];
    const forActor = world.database.forActor.bind(world.database);
    world.database.forActor = (name) => ({
      partition: (log, partition) => {
        const store = forActor(name).partition(log, partition);
        const load = store.load.bind(store);
        store.load = (groups) => {
          asked.push(...groups.map(({ group }) => group));
          return load(groups);
        };
        return store;
      },
    });
    await world.start('b');
    await projected();
    expect(asked).toEqual([]);
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('third', recorded('r1:1', 'r1:3', 'r2:2'));
    await projected();
    const { rows } = await world.database
      .partition(LOG, world.partitionOf('r1'))
      .load([{ kind: 'count', group: 'r1' }]);
    expect(rows[0]?.doc['count']).toBe(2);
  });

  it('catches up when it was set back to an older copy', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    await projected();
    const older = world.database.snapshot();
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('two', recorded('r1:1', 'r1:2'));
    await projected();
    const before = await settledHash(world.partitionOf('r1'));
    world.kill('a');
    world.database.restore(older);
    await world.start('b');
    await projected();
    expect(await settledHash(world.partitionOf('r1'))).toBe(before);
  });

  it('is caught up also where nothing new comes in: a crash of it may take what was projected last', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    await projected();
    const older = world.database.snapshot();
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('two', recorded('r1:1', 'r1:2'));
    await projected();
    const before = await settledHash(world.partitionOf('r1'));
    world.database.restore(older);
    await world.until('two again', recorded('r1:1', 'r1:2'));
    await projected();
    expect(await settledHash(world.partitionOf('r1'))).toBe(before);
  });

  it('is made again from the log when it was emptied under its service', async () => {
    const empty = world.database.snapshot();
    const runtime = await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    await projected();
    const before = await settledHash(world.partitionOf('r1'));
    world.database.restore(empty);
    await world.until('made again', async () => (await settledHash(world.partitionOf('r1'))) === before);
    await world.until('ready', () => runtime.health().ready);
  });

  it('that is ahead of the log stops the partition: the log was cut', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r1', id: '2' },
    ]);
    await world.until('two', recorded('r1:1', 'r1:2'));
    await projected();
    const partition = world.partitionOf('r1');
    world.kill('a');
    world.broker.truncate(LOG, partition, 1);
    const runtime = await world.start('b');
    await world.until('halted', () => runtime.loops().some((loop) => loop.health().state === 'halted'));
    const halted = world.events.find(({ kind }) => kind === 'halted');
    expect(halted?.kind === 'halted' ? (halted.cause as { code?: string }).code : null).toBe('LOG_CUT');
  });
});

describe('the time of a loop that has just worked', () => {
  it('is kept young while it rests, so that what comes next asks nothing first', async () => {
    world = await new LoopWorld(countingCore(), { timeAgeMs: 100, headCheckMs: 60_000 }).prepare();
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    const before = world.loads;
    await world.until('it looked again', () => world.loads >= before + 3);
  });
});

describe('a clock behind the chain', () => {
  it('decides nothing until it has caught up', async () => {
    world = await new LoopWorld(countingCore(), { timeAgeMs: 0 }).prepare();
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('one', recorded('r1:1'));
    world.now -= 60_000;
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('refused', () =>
      world.events.some((event) => event.kind === 'error' && String(event.cause).includes('CLOCK_BEHIND')),
    );
    expect(await world.statements()).toEqual(['r1:1']);
    world.now += 60_000;
    await world.until('two', recorded('r1:1', 'r1:2'));
  });
});

describe('a durable timer', () => {
  it('fires when database time reaches it, once, also after a restart', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1', source: 'timed', statedAt: world.now + 5_000 }]);
    await world.until('one', recorded('r1:1'));
    await projected();
    world.kill('a');
    await world.start('b');
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect(await world.statements()).toEqual(['r1:1']);
    world.now += 6_000;
    await world.until('fired', recorded('r1:1', 'r1:timer'));
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect(await world.statements()).toEqual(['r1:1', 'r1:timer']);
  });
});

describe('durable timers that are due together', () => {
  it('fire in several batches when one cannot hold what they lead to', async () => {
    const sound = countingCore();
    await world.start('a', {
      ...sound,
      decide: (context, input) => {
        const decision = sound.decide(context, input);
        return input.source === 'timer'
          ? { records: Array.from({ length: 3 }, () => decision.records[0] ?? { type: '', body: {} }) }
          : decision;
      },
    });
    const refs = Array.from({ length: 900 }, (_, n) => `r${String(n)}`);
    await world.state(refs.map((ref) => ({ ref, id: '1', source: 'timed', statedAt: world.now + 5_000 })));
    await world.until('told', async () => (await world.statements()).length === refs.length);
    world.now += 6_000;
    await world.until('all fired', async () => (await world.statements()).length === 4 * refs.length);
    expect(world.events.filter(({ kind }) => kind === 'halted')).toEqual([]);
  });

  it('go on where one leads to more than a batch, and say whose it is and what ends that', async () => {
    const sound = countingCore();
    const runtime = await world.start('a', {
      ...sound,
      decide: (context, input) => {
        const decision = sound.decide(context, input);
        return input.source === 'timer' && input.address.group === 'r1'
          ? { records: Array.from({ length: 1_200 }, () => decision.records[0] ?? { type: '', body: {} }) }
          : decision;
      },
    });
    const statedAt = world.now + 5_000;
    await world.state(['r1', 'r2'].map((ref) => ({ ref, id: '1', source: 'timed', statedAt, partition: 0 })));
    await world.until('told', recorded('r1:1', 'r2:1'));
    world.now += 6_000;
    await world.until('the other fired', recorded('r1:1', 'r2:1', 'r2:timer'));
    const { state, problem } = runtime.loops()[0]?.health() ?? {};
    expect(state).toBe('ready');
    expect(problem).toContain('DECISION_TOO_LARGE: what the deadline of count r1/count leads to does not fit a batch.');
    expect(problem).toContain('no command and no setting decides it');
    expect(world.events.filter(({ kind }) => kind === 'halted')).toEqual([]);
  });
});

describe('a durable timer whose decision fails', () => {
  /** Timers of `r1` fail while `isBroken()`; those of others are decided. */
  const failing = (isBroken: () => boolean): ServiceCore => {
    const sound = countingCore();
    return {
      ...sound,
      decide: (context, input) => {
        if (input.source === 'timer' && input.address.group === 'r1' && isBroken()) throw new Error('PAYLOAD_SEALED');
        return sound.decide(context, input);
      },
    };
  };
  const timed = (ref: string): Statement => ({
    ref,
    id: '1',
    source: 'timed',
    statedAt: world.now + 5_000,
    partition: 0,
  });

  it('holds up no other timer and no input of its partition, and is told of until it is decided', async () => {
    let isBroken = true;
    const runtime = await world.start(
      'a',
      failing(() => isBroken),
    );
    await world.state([timed('r1'), timed('r2')]);
    await world.until('told', recorded('r1:1', 'r2:1'));
    world.now += 6_000;
    await world.state([{ ref: 'r3', id: '1', partition: 0 }]);
    await world.until('others went on', recorded('r1:1', 'r2:1', 'r2:timer', 'r3:1'));
    expect(runtime.loops()[0]?.health()).toMatchObject({
      state: 'ready',
      problem: 'timer of count/count failed, and is tried again: PAYLOAD_SEALED',
    });
    isBroken = false;
    world.now += FAILED_AGAIN_MS;
    await world.until('decided', recorded('r1:1', 'r1:timer', 'r2:1', 'r2:timer', 'r3:1'));
    expect(runtime.loops()[0]?.health()).toMatchObject({ state: 'ready', problem: null });
  });

  it('is tried at most every ten seconds', async () => {
    await world.start(
      'a',
      failing(() => true),
    );
    await world.state([timed('r1')]);
    await world.until('told', recorded('r1:1'));
    world.now += 6_000;
    const failures = (): number =>
      world.events.filter((event) => event.kind === 'error' && event.where === 'timer').length;
    await world.until('failed', () => failures() === 1);
    for (let n = 0; n < 20; n += 1) await world.state([{ ref: 'r3', id: String(n), partition: 0 }]);
    await world.until('others went on', async () => (await world.statements()).length === 21);
    expect(failures()).toBe(1);
    world.now += FAILED_AGAIN_MS;
    await world.until('failed again', () => failures() === 2);
  });
});

describe('a durable timer beyond those in memory', () => {
  it('fires although the store is behind: nobody waits for what was decided before to be projected', async () => {
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1', source: 'timed', statedAt: world.now + HORIZON_MS + 1_000 }]);
    await world.until('one', recorded('r1:1'));
    await projected();
    let release = (): void => undefined;
    world.holding = new Promise((resolve) => {
      release = resolve;
    });
    await world.state([
      { ref: 'r1', id: '2' },
      { ref: 'r2', id: '1', source: 'timed', statedAt: world.now + HORIZON_MS + 1_000 },
    ]);
    await world.until('others', recorded('r1:1', 'r1:2', 'r2:1'));
    world.now += HORIZON_MS + 2_000;
    await world.until('fired', recorded('r1:1', 'r1:2', 'r2:1', 'r2:timer'));
    release();
    await projected();
    expect(await world.statements()).toEqual(['r1:1', 'r1:2', 'r2:1', 'r2:timer']);
  });
});

describe('a loop that seals payloads', () => {
  const secret = 'planted';
  const bytes = async (): Promise<string> =>
    (await Promise.all([0, 1].map(async (partition) => JSON.stringify(await world.accepted(partition))))).join();
  const telling = (): ServiceCore =>
    countingCore({
      decide: (context, input) => {
        const decision = countingCore().decide(context, input);
        return {
          records: decision.records.map(({ type, body }) => ({ type, body: { ...body, statement: plainly(secret) } })),
        };
      },
    });
  const plainly = (text: string): Doc => ({
    content_type: 'text/plain',
    encoding: 'plain',
    key_id: null,
    body: Buffer.from(text),
    sha256: Buffer.alloc(32),
  });
  const payloads = async (): Promise<readonly Doc[]> =>
    (await Promise.all([0, 1].map((partition) => world.accepted(partition))))
      .flat()
      .filter(({ type }) => type === 'AssumptionStated')
      .map(({ body }) => body['statement'] as Doc);

  it('appends none in the clear, under a key that the store knows', async () => {
    const store = new MemoryKeyStore();
    await world.start('a', telling(), vaultOver(store));
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r3', id: '2' },
    ]);
    await world.until('told', recorded('r1:1', 'r3:2'));
    const sealed = await payloads();
    expect(sealed.map(({ encoding }) => encoding)).toEqual(['sealed', 'sealed']);
    expect(await store.find(sealed.map(({ key_id }) => String(key_id)))).toHaveLength(2);
    expect(await bytes()).not.toContain(JSON.stringify([...Buffer.from(secret)]).slice(1, -1));
  });

  it('appends nothing under a key that the store does not know, also where it waited for no row', async () => {
    const store = new MemoryKeyStore();
    const scoped = {
      ...telling(),
      sealScope: ({ body }: Decided) => ({ tenant: 'acme', subject: String(body['event_id']) }),
    };
    await world.start('a', scoped, vaultOver(store));
    for (const id of ['1', '2']) {
      await world.state([{ ref: 'r1', id }]);
      await world.until('told', async () => (await payloads()).length === Number(id));
    }
    const sealed = await payloads();
    expect(await store.find(sealed.map(({ key_id }) => String(key_id)))).toHaveLength(2);
  });

  it('makes its keys durable while its rows are loaded', async () => {
    const store = new MemoryKeyStore();
    const events: string[] = [];
    const ensure = store.ensure.bind(store);
    store.ensure = (wanted) => {
      events.push('keys');
      return ensure(wanted);
    };
    const sound = telling();
    await world.start('before');
    await world.state([{ ref: 'r1', id: '0' }]);
    await world.until('before', recorded('r1:0'));
    await projected();
    world.kill('before');
    await world.start(
      'a',
      {
        ...sound,
        decide: (context, input) => {
          const decision = sound.decide(context, input);
          events.push('decided');
          return decision;
        },
      },
      vaultOver(store),
    );
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('told', recorded('r1:0', 'r1:1'));
    expect(events.indexOf('keys')).toBeLessThan(events.lastIndexOf('decided'));
  });

  it('appends nothing while the key store does not answer, and goes on when it does', async () => {
    const store = new MemoryKeyStore();
    let isDown = true;
    const ensure: KeyStore['ensure'] = (wanted) =>
      isDown ? Promise.reject(new Failure('KEY_STORE_UNAVAILABLE', 'down')) : store.ensure(wanted);
    await world.start(
      'a',
      telling(),
      vaultOver({
        ensure,
        find: (ids) => store.find(ids),
        destroy: (erasure) => store.destroy(erasure),
        destroyUnits: (units, by, reason) => store.destroyUnits(units, by, reason),
        close: () => store.close(),
      }),
    );
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('an error', () =>
      Promise.resolve(
        world.events.some((event) => event.kind === 'error' && String(event.cause).includes('KEY_STORE_UNAVAILABLE')),
      ),
    );
    expect(await world.statements()).toEqual([]);
    isDown = false;
    await world.until('told', recorded('r1:1'));
  });

  it('hands deciders what is sealed in rows in the clear, and puts it back as it was', async () => {
    const seen: unknown[] = [];
    const core = countingCore();
    const keeping = countingCore({
      decide: (context, input) => {
        const kept =
          input.source === 'timer'
            ? undefined
            : (context.state.get('count', input.key, 'count')?.['statement'] as Doc | undefined);
        if (kept !== undefined) seen.push(String(kept['body']));
        return {
          records: core
            .decide(context, input)
            .records.map(({ type, body }) => ({ type, body: { ...body, statement: kept ?? plainly(secret) } })),
        };
      },
      evolve: (state, record) =>
        core
          .evolve(state, record)
          .map((change) =>
            change.op === 'put'
              ? { op: 'put', row: { ...change.row, doc: { ...change.row.doc, statement: record.body['statement'] } } }
              : change,
          ),
    });
    await world.start('a', keeping, vaultOver(new MemoryKeyStore()));
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r1', id: '2' },
    ]);
    await world.until('both told', recorded('r1:1', 'r1:2'));
    expect(seen.at(-1)).toBe(secret);
    const [first, second] = await payloads();
    expect(second).toEqual(first);
  });
});

describe('a record that cannot be taken', () => {
  const parked = async (): Promise<readonly string[]> =>
    (await Promise.all([world.accepted(0), world.accepted(1)]))
      .flat()
      .filter(({ type }) => type === 'RecordParked')
      .map(({ body }) => `${String(body['record_key'])}:${String(body['reason'])}`);

  it("is another log's to take where its topic carries it: it passes without a word", async () => {
    const sound = countingCore();
    await world.start('a', {
      ...sound,
      inputs: [{ topic: WIRE, source: 'wire', mode: 'aligned', types: ['AssumptionInvalidated'] }],
    });
    await world.state([{ ref: 'r1', id: '1' }]);
    const at = world.partitionOf('r1');
    await world.until('passed', async () => (await world.accepted(at)).some(({ type }) => type === 'Progress'));
    expect(await parked()).toEqual([]);
    expect(await world.statements()).toEqual([]);
  });

  it('parks with its reason, and later ones of its key behind it; other keys go on', async () => {
    await world.start('a');
    await world.state([
      { ref: 'r1', id: '1', source: 'thrower' },
      { ref: 'r1', id: '2' },
      { ref: 'r3', id: '3' },
    ]);
    await world.until('both parked', async () => (await parked()).length === 2);
    expect(await parked()).toEqual(['r1:DECIDER_FAILED', 'r1:BEHIND']);
    await world.until('the other', recorded('r3:3'));
    const told = world.events.filter((event) => event.kind === 'parked');
    expect(told.map(({ topic, thrown }) => [topic, thrown instanceof Error && 'stack' in thrown])).toEqual([
      [WIRE, true],
      [WIRE, false],
    ]);
  });

  it.each([
    ['unframed bytes', 'UNFRAMED', (): Buffer => Buffer.from('hello')],
    ['an unknown schema id', 'UNKNOWN_SCHEMA', (): Buffer => Buffer.from('000001e240aabb', 'hex')],
    ['truncated Avro', 'TRUNCATED', (): Buffer => world.encoded('r1', '1').subarray(0, 12)],
    ['a record that is too large', 'RECORD_TOO_LARGE', (): Buffer => world.encoded('r1', '1', 'x'.repeat(300_000))],
    ['text with NUL', 'NUL_IN_TEXT', (): Buffer => world.encoded('r1', 'a\u0000b')],
    ['an identifier of 10 KB', 'TEXT_TOO_LONG', (): Buffer => world.encoded('r1', 'x'.repeat(10_000))],
  ])('%s: %s', async (_, reason, value) => {
    await world.start('a');
    await world.raw(world.partitionOf('r1'), 'r1', value());
    await world.until('parked', async () => (await parked()).length === 1);
    expect(await parked()).toEqual([`r1:${reason}`]);
  });

  it('whose decision does not fit a batch parks, and stops nobody else', async () => {
    const sound = countingCore();
    await world.start('a', {
      ...sound,
      decide: (context, input) => {
        const decision = sound.decide(context, input);
        return input.source !== 'timer' && input.body['source'] === 'flood'
          ? { records: Array.from({ length: 1_200 }, () => decision.records[0] ?? { type: '', body: {} }) }
          : decision;
      },
    });
    await world.state([
      { ref: 'r1', id: '1', source: 'flood' },
      { ref: 'r3', id: '2' },
    ]);
    await world.until('parked', async () => (await parked()).includes('r1:DECISION_TOO_LARGE'));
    await world.until('the other', recorded('r3:2'));
  });
});

describe('what was owed and may not have been sent', () => {
  const sent = async (): Promise<number> => {
    const reader = await world.broker.forActor('x').rawReader();
    return (
      (await reader.range('recourse.tool-requests.payments', 0)).high +
      (await reader.range('recourse.tool-requests.payments', 1)).high
    );
  };

  it('is sent again after a take-over, by a recorded decision', async () => {
    let mayGo = false;
    world.verdicts.push(({ kind, actor }) => (kind === 'wire' && actor === 'a' && !mayGo ? 'fail' : undefined));
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1', source: 'messenger' }]);
    await world.until('recorded', recorded('r1:1'));
    world.kill('a');
    mayGo = true;
    await world.start('b');
    await world.until('sent', async () => (await sent()) === 1);
    expect(
      (world.broker.dump()['recourse.tool-requests.payments'] ?? [])
        .flat()
        .map(({ headers }) => String(headers['traceparent'])),
    ).toEqual(['of 1']);
    const records = await world.accepted(world.partitionOf('r1'));
    expect(records.filter(({ type }) => type === 'ObligationResent').map(({ body }) => body['obligation_id'])).toEqual([
      '1',
    ]);
  });

  it('is not sent before the inputs were read to their ends', async () => {
    world.verdicts.push(({ kind, actor }) => (kind === 'wire' && actor === 'a' ? 'fail' : undefined));
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1', source: 'messenger' }]);
    await world.until('recorded', recorded('r1:1'));
    world.kill('a');
    await world.state([{ ref: 'r1', id: '2' }]);
    let open: (verdict: GateVerdict) => void = () => undefined;
    const opened = new Promise<GateVerdict>((resolve) => {
      open = resolve;
    });
    world.verdicts.push(({ kind, actor, topic }) =>
      kind === 'deliver' && actor === 'b' && topic === WIRE ? opened : undefined,
    );
    await world.start('b');
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    expect(await sent()).toBe(0);
    open('proceed');
    await world.until('sent', async () => (await sent()) === 1);
    expect(await world.statements()).toEqual(['r1:1', 'r1:2']);
  });
});

describe('a core whose state is cold', () => {
  it('is asked again after loading', async () => {
    world = await new LoopWorld(countingCore(), { rowsMax: 1 }).prepare();
    await world.start('a');
    await world.state(Array.from({ length: 12 }, (_, index) => ({ ref: `r${String(index % 4)}`, id: String(index) })));
    await world.until('all', async () => (await world.statements()).length === 12);
    await projected();
    const rows = await Promise.all([0, 1].map((partition) => world.database.partition(LOG, partition).all('count')));
    expect(rows.flat().map(({ doc }) => doc['count'])).toEqual([3, 3, 3, 3]);
  });
});

describe('a batch over many cold rows', () => {
  it('is loaded in one go, not a row at a time', async () => {
    const refs = Array.from({ length: 40 }, (_, index) => `r${String(index)}`).filter(
      (ref) => world.partitionOf(ref) === 0,
    );
    await world.start('before');
    await world.state(refs.map((ref) => ({ ref, id: `${ref}-1` })));
    await world.until('all', async () => (await world.statements()).length === refs.length);
    await projected();
    world.kill('before');
    world.loads = 0;
    await world.state(refs.map((ref) => ({ ref, id: `${ref}-2` })));
    await world.start('a');
    await world.until('all again', async () => (await world.statements()).length === 2 * refs.length);
    expect(refs.length).toBeGreaterThan(12);
    // One a partition for its start, one or two for each batch they arrive in, and the time once a second on a slow machine.
    expect(world.loads).toBeLessThan(refs.length / 2);
  });

  it('asks for none that the store cannot hold', async () => {
    world = await new LoopWorld(countingCore(), { timeAgeMs: 60_000, headCheckMs: 60_000 }).prepare();
    await world.start('a');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('the first', recorded('r1:1'));
    const before = world.loads;
    const refs = Array.from({ length: 40 }, (_, index) => `n${String(index)}`);
    for (const ref of refs) await world.state([{ ref, id: ref }]);
    await world.until('all', async () => (await world.statements()).length === 1 + refs.length);
    expect(world.loads).toBe(before);
    await projected();
    const rows = await Promise.all([0, 1].map((partition) => world.database.partition(LOG, partition).all('count')));
    expect(rows.flat()).toHaveLength(1 + refs.length);
  });

  it('asks for those it let go of, and decides upon what they hold', async () => {
    world = await new LoopWorld(countingCore(), { rowsMax: 1 }).prepare();
    await world.start('a');
    const refs = Array.from({ length: 20 }, (_, index) => `n${String(index)}`);
    for (const id of ['1', '2']) {
      await world.state(refs.map((ref) => ({ ref, id: `${ref}-${id}` })));
      await world.until('all', async () => (await world.statements()).length === Number(id) * refs.length);
      await projected();
    }
    const rows = await Promise.all([0, 1].map((partition) => world.database.partition(LOG, partition).all('count')));
    expect(rows.flat().map(({ doc }) => doc['count'])).toEqual(refs.map(() => 2));
  });

  it('asks for those of an earlier life, and decides upon what they hold', async () => {
    await world.start('before');
    await world.state([{ ref: 'r1', id: '1' }]);
    await world.until('before', recorded('r1:1'));
    await projected();
    world.kill('before');
    await world.start('a');
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    await world.state([{ ref: 'r1', id: '2' }]);
    await world.until('both', recorded('r1:1', 'r1:2'));
    await projected();
    const rows = await world.database.partition(LOG, world.partitionOf('r1')).all('count');
    expect(rows.map(({ doc }) => doc['count'])).toEqual([2]);
  });
});

describe('what inputs of a type lack', () => {
  it('is brought before the next of them is decided', async () => {
    const sound = countingCore();
    const decided: string[] = [];
    await world.start('a', {
      ...sound,
      decide: (context, input) => {
        if (input.source !== 'timer') decided.push(String(input.body['event_id']));
        context.views.readToEnd();
        return sound.decide(context, input);
      },
    });
    for (const id of ['1', '2', '3']) {
      await world.state([{ ref: 'r1', id }]);
      await world.until(id, async () => (await world.statements()).length === Number(id));
    }
    expect(decided.filter((id) => id === '1').length).toBeGreaterThan(1);
    expect(decided.filter((id) => id !== '1')).toEqual(['2', '3']);
  });
});

describe('a parked record', () => {
  const envelope = (id: string, roles: readonly string[]): object => ({
    command_id: id,
    tenant: '*',
    principal: 'human:admin',
    roles,
    route: 'POST /v1/parked/:id/redrive',
    idempotency_key: id,
    body_sha256: Buffer.alloc(32, 1),
    issued_at: 0,
    signature: Buffer.alloc(0),
  });
  const wire = 'recourse.ledger-commands';
  async function command(
    type: 'RedriveParked' | 'DiscardParked',
    id: string,
    parkedId: string,
    log = LOG,
    roles = ['administrator'],
  ): Promise<void> {
    const value = world.codecs.encode(wire, type, {
      envelope: envelope(id, roles),
      log,
      parked_id: parkedId,
      reason: 'mended',
    });
    const key =
      [...Array(100).keys()]
        .map((n) => `${id}${String(n)}`)
        .find((text) => world.partitionOf(text) === world.partitionOf('r1')) ?? '';
    await (await world.broker.forActor('edge').wireProducer()).send(wire, [{ key: Buffer.from(key), value }]);
  }
  const records = async (type: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await world.accepted(world.partitionOf('r1'))).filter((record) => record.type === type).map(({ body }) => body);
  const answers = async (): Promise<readonly string[]> =>
    (await records('CommandAnswered')).map(
      ({ command_id, status, code }) => `${String(command_id)}:${String(status)}:${String(code)}`,
    );

  /** What another decision about the same record says otherwise. */
  const AS_BEFORE = { reason: '', detail: '' };

  async function parkTwo(core = failing()): Promise<readonly string[]> {
    await world.start('a', core.core);
    await world.state([
      { ref: 'r1', id: '1' },
      { ref: 'r1', id: '2' },
    ]);
    await world.until('parked', async () => (await records('RecordParked')).length === 2);
    core.mend();
    return (await records('RecordParked')).map(({ parked_id }) => String(parked_id));
  }

  interface Failing {
    readonly core: ReturnType<typeof countingCore>;
    /** It goes on throwing at what these say. */
    readonly mend: (...but: readonly string[]) => void;
  }

  /** A decider that throws until it is mended. */
  function failing(): Failing {
    let sick: readonly string[] | null = null;
    const sound = countingCore();
    return {
      core: {
        ...sound,
        decide: (context, input) => {
          const id = input.source === 'timer' ? '' : String(input.body['event_id']);
          if (sick === null || sick.includes(id)) throw new Error('broken');
          return sound.decide(context, input);
        },
      },
      mend: (...but) => {
        sick = but;
      },
    };
  }

  it('is redriven with those behind it, in order, and its key goes on', async () => {
    const [first = ''] = await parkTwo();
    await command('RedriveParked', 'c1', first);
    await world.until('both', recorded('r1:1', 'r1:2'));
    expect((await records('ParkedResolved')).map(({ resolution }) => resolution)).toEqual(['redriven', 'redriven']);
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('three', recorded('r1:1', 'r1:2', 'r1:3'));
  });

  it('that was behind it and stays is parked again where it stood, with what is wrong with it, once', async () => {
    const core = failing();
    const [first = '', second = ''] = await parkTwo(core);
    core.mend('2');
    await command('RedriveParked', 'c1', first);
    await world.until('first', recorded('r1:1'));
    await world.state([{ ref: 'r1', id: '3' }]);
    await world.until('third', async () => (await records('RecordParked')).length === 4);
    expect((await records('RecordParked')).map(({ parked_id, reason }) => [parked_id, reason])).toEqual([
      [first, 'DECIDER_FAILED'],
      [second, 'BEHIND'],
      [second, 'STILL_FAILING'],
      [expect.anything(), 'BEHIND'],
    ]);
    const [, behind, again] = await records('RecordParked');
    expect({ ...again, ...AS_BEFORE }).toEqual({ ...behind, ...AS_BEFORE });
    await projected();
    const rows = await world.database.partition(LOG, world.partitionOf('r1')).all('parked');
    const row = rows.find(({ group, key }) => group === 'r1' && key === second);
    const places = (await world.accepted(world.partitionOf('r1'))).filter(({ body }) => body['parked_id'] === second);
    expect(row?.doc).toMatchObject({ reason: 'STILL_FAILING', parked_seq: places[0]?.seq, open: true });
    await command('RedriveParked', 'c2', second);
    await world.until('refused', async () => (await answers()).length === 2);
    core.mend();
    await command('RedriveParked', 'c3', second);
    await world.until('all', recorded('r1:1', 'r1:2', 'r1:3'));
    expect(await answers()).toEqual(['c1:accepted:null', 'c2:rejected:STILL_FAILING', 'c3:accepted:null']);
    expect(await records('RecordParked')).toHaveLength(4);
  });

  it('as UNKNOWN_SCHEMA is redriven once its schema is registered, though no record came since that names it', async () => {
    await world.start('a');
    const registry = world.registry.forActor('late');
    const value = world.encoded('r1', '1');
    const schema = await registry.schemaById(value.readUInt32BE(1));
    value.writeUInt32BE((await registry.idOf('other', '"string"', { register: true })) + 1, 1);
    await world.raw(world.partitionOf('r1'), 'r1', value);
    await world.until('parked', async () => (await records('RecordParked')).length === 1);
    const [parked = ''] = (await records('RecordParked')).map(({ parked_id }) => String(parked_id));
    await command('RedriveParked', 'c1', parked);
    await world.until('refused', async () => (await answers()).length === 1);
    await registry.idOf('later', schema.replace('"name"', '"note":"later","name"'), { register: true });
    await command('RedriveParked', 'c2', parked);
    await world.until('answered', async () => (await answers()).length === 2);
    expect(await answers()).toEqual(['c1:rejected:STILL_UNREADABLE', 'c2:accepted:null']);
    expect(await recorded('r1:1')()).toBe(true);
  });

  it('is discarded without effect, and those behind it go on', async () => {
    const [first = ''] = await parkTwo();
    await command('DiscardParked', 'c1', first);
    await world.until('second', recorded('r1:2'));
    expect((await records('ParkedResolved')).map(({ resolution }) => resolution)).toEqual(['discarded', 'redriven']);
  });

  it('is not redriven before the one it waits behind, by the wrong role, or twice', async () => {
    const [first = '', second = ''] = await parkTwo();
    await command('RedriveParked', 'c1', second);
    await command('RedriveParked', 'c2', first, LOG, ['approver']);
    await command('RedriveParked', 'c3', first);
    await command('RedriveParked', 'c4', first);
    await world.until('four answers', async () => (await answers()).length === 4);
    expect(await answers()).toEqual([
      'c1:rejected:PARKED_BEHIND',
      'c2:rejected:ROLE_MISSING',
      'c3:accepted:null',
      'c4:rejected:PARKED_UNKNOWN',
    ]);
  });

  it('of another log is passed over', async () => {
    const [first = ''] = await parkTwo();
    await command('RedriveParked', 'c1', first, 'recourse.mutations');
    await command('RedriveParked', 'c2', first);
    await world.until('answered', async () => (await answers()).length === 1);
    expect(await answers()).toEqual(['c2:accepted:null']);
  });

  it('that came back to another partition goes to its own once a person says so', async () => {
    await world.start('a');
    const wrong = 1 - world.partitionOf('r1');
    await world.raw(wrong, 'r1', world.encoded('r1', '1'), { [REDIRECTED]: 'before' });
    const parkedThere = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
      (await world.accepted(wrong)).filter(({ type }) => type === 'RecordParked').map(({ body }) => body);
    await world.until('parked', async () => (await parkedThere()).length === 1);
    const id = String((await parkedThere())[0]?.['parked_id']);
    const value = world.codecs.encode(wire, 'RedriveParked', {
      envelope: envelope('c1', ['administrator']),
      log: LOG,
      parked_id: id,
      reason: 'mended',
    });
    const key =
      [...Array(100).keys()].map((n) => `k${String(n)}`).find((text) => world.partitionOf(text) === wrong) ?? '';
    await (await world.broker.forActor('edge').wireProducer()).send(wire, [{ key: Buffer.from(key), value }]);
    await world.until('recorded where it belongs', recorded('r1:1'));
  });

  it('is answered once per command, and another body under its id is a recorded conflict', async () => {
    const [first = ''] = await parkTwo();
    await command('RedriveParked', 'c1', first);
    await command('RedriveParked', 'c1', first);
    const other = { ...envelope('c1', ['administrator']), body_sha256: Buffer.alloc(32, 2) };
    const key =
      [...Array(100).keys()]
        .map((n) => `k${String(n)}`)
        .find((text) => world.partitionOf(text) === world.partitionOf('r1')) ?? '';
    await (
      await world.broker.forActor('edge').wireProducer()
    ).send(wire, [
      {
        key: Buffer.from(key),
        value: world.codecs.encode(wire, 'RedriveParked', { envelope: other, log: LOG, parked_id: first, reason: 'x' }),
      },
    ]);
    await world.until('two answers', async () => (await answers()).length === 2);
    expect(await answers()).toEqual(['c1:accepted:null', 'c1#0202020202020202:rejected:IDEMPOTENCY_KEY_REUSED']);
  });
});

describe('a reading of opened payloads', () => {
  it('is a record of the log, with who read what, and is answered once it is there', async () => {
    await world.start('a');
    const envelope = {
      command_id: 'cmd-1',
      tenant: 'acme',
      principal: 'asha',
      accounts: [],
      roles: ['payload_reader'],
      route: 'GET /v1/mutations/m1',
      idempotency_key: 'k',
      body_sha256: Buffer.alloc(32, 1),
      issued_at: 0,
      signature: Buffer.alloc(0),
    };
    const reading = { things: ['mutation/m1'], subjects: ['guest/7'], payload_count: 2 };
    const wire = 'recourse.ledger-commands';
    const producer = await world.broker.forActor('edge').wireProducer();
    for (const log of ['recourse.mutations', LOG])
      await producer.send(wire, [
        { key: Buffer.from('k1'), value: world.codecs.encode(wire, 'RecordReading', { envelope, log, ...reading }) },
      ]);
    const records = async (type: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
      (await world.accepted(world.partitionOf('k1'))).filter((one) => one.type === type).map(({ body }) => body);
    await world.until('answered', async () => (await records('CommandAnswered')).length === 1);
    expect(await records('PayloadsRead')).toMatchObject([
      {
        reading_id: 'cmd-1',
        tenant: 'acme',
        reader: 'asha',
        roles: ['payload_reader'],
        route: 'GET /v1/mutations/m1',
        ...reading,
      },
    ]);
    expect(await records('CommandAnswered')).toMatchObject([{ command_id: 'cmd-1', http_status: 201 }]);
  });
});
