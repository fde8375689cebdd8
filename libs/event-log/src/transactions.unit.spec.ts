// Transactions of strangers in logs and wires: the chain of a log says what counts, and markers count as read (L13).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogView, ViewSet } from './broadcast-view.js';
import { countingCore, LOG, LOG_ID, LoopWorld, PARTITIONS, WIRE } from './loop.testing.js';
import type { ServiceCore } from './service-core.js';
import type { ServiceRuntime } from './service-runtime.js';

const REF = 'r1';
const READ_LOG = 'recourse.mutations';
const RUBBISH = { key: Buffer.from(REF), value: Buffer.from('not of this log') };

/** Reads another log beside its wires. */
const reading = (): ServiceCore => {
  const core = countingCore();
  return { ...core, inputs: [...core.inputs, { topic: READ_LOG, source: 'log', mode: 'aligned', types: [] }] };
};

let world: LoopWorld;
const partition = (): number => world.partitionOf(REF);
const isReady = (runtime: ServiceRuntime) => () => runtime.health().ready;
const stated = (id: string) => async () => (await world.statements()).includes(`${REF}:${id}`);
const doubts = (): number => world.events.filter(({ kind }) => kind === 'append_unknown').length;

beforeEach(async () => {
  world = await new LoopWorld(reading()).prepare();
});
afterEach(() => world.stop());

describe('a transaction that a stranger leaves open in a log', () => {
  it('holds up neither its owner nor who starts anew on it', async () => {
    await world.start('a');
    await world.state([{ ref: REF, id: '1' }]);
    await world.until('the first', stated('1'));
    world.broker.transaction(LOG, partition(), [RUBBISH]);
    await world.state([{ ref: REF, id: '2' }]);
    await world.until('the second', stated('2'));
    world.kill('a');
    world.database.wipe();
    await world.until('ready', isReady(await world.start('b')));
    await world.state([{ ref: REF, id: '3' }]);
    await world.until('the third', stated('3'));
  });

  it('holds up nobody who reads that log', async () => {
    world.broker.transaction(READ_LOG, partition(), [RUBBISH]);
    const runtime = await world.start('a');
    await world.until('ready', isReady(runtime));
    await world.state([{ ref: REF, id: '1' }]);
    await world.until('it', stated('1'));
  });
});

describe('the marker of a transaction', () => {
  it('at the end of a log counts as read: its owner appends behind it at the first attempt', async () => {
    await world.start('a');
    await world.state([{ ref: REF, id: '1' }]);
    await world.until('the first', stated('1'));
    world.broker.transaction(LOG, partition(), [RUBBISH]).abort();
    world.kill('a');
    await world.until('ready', isReady(await world.start('b')));
    await world.state([{ ref: REF, id: '2' }]);
    await world.until('the second', stated('2'));
    expect(doubts()).toBe(0);
  });

  it('at the end of every input lets a service that starts become ready', async () => {
    for (const topic of [WIRE, READ_LOG])
      for (let at = 0; at < PARTITIONS; at += 1) world.broker.transaction(topic, at, [RUBBISH]).commit();
    await world.until('ready', isReady(await world.start('a')));
    world.kill('a');
    await world.until('ready again', isReady(await world.start('b')));
  });

  it('in the middle of a log stops no view of it', async () => {
    await world.start('a');
    await world.state([{ ref: REF, id: '1' }]);
    await world.until('the first', stated('1'));
    const { abort } = world.broker.transaction(LOG, partition(), [RUBBISH]);
    abort();
    await world.state([{ ref: REF, id: '2' }]);
    await world.until('the second', stated('2'));
    world.broker.transaction(LOG, partition(), [RUBBISH]).commit();
    const kafka = world.broker.forActor('viewer');
    const fold = (record: { readonly body: object }): readonly [] => {
      folded.push(record.body);
      return [];
    };
    const folded: unknown[] = [];
    const spec = { name: 'all', topic: LOG, fold };
    const common = { kafka, codecs: world.codecs, logId: LOG_ID, partitionCount: PARTITIONS };
    const views = new ViewSet([new LogView(spec, common, () => 0)], kafka, () => 0);
    await views.refresh();
    expect(folded).toHaveLength((await world.accepted(partition())).length);
    expect(views.view('all').positions()[partition()]).toMatchObject({
      offset: world.broker.find(LOG, partition())?.high,
    });
  });
});

describe('a transaction that a stranger leaves open in a wire', () => {
  it('holds what lies behind it and nothing else, and is read when it was committed', async () => {
    await world.state([{ ref: REF, id: '1' }]);
    const open = world.broker.transaction(WIRE, partition(), [
      { key: Buffer.from(REF), value: world.encoded(REF, '2') },
    ]);
    await world.state([{ ref: REF, id: '3' }]);
    await world.until('ready', isReady(await world.start('a')));
    await world.until('what lies before it', stated('1'));
    expect(await world.statements()).toEqual([`${REF}:1`]);
    open.commit();
    await world.until('all', stated('3'));
    expect(await world.statements()).toEqual([`${REF}:1`, `${REF}:2`, `${REF}:3`]);
  });
});
