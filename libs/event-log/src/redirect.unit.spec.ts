// A record on another partition than that of its key goes home, on record (L14).
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LoopWorld, LOG, WIRE } from './loop.testing.js';
import { REDIRECTED } from './parking.decisions.js';
import type { AcceptedRecord } from './service-core.js';

let world: LoopWorld;

beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(() => world.stop());

const home = (): number => world.partitionOf('r1');
const away = (): number => 1 - home();
const recorded = (statement: string) => async (): Promise<boolean> => (await world.statements()).includes(statement);
const ofType = async (type: string): Promise<readonly AcceptedRecord['body'][]> =>
  (await world.accepted(away())).filter((record) => record.type === type).map(({ body }) => body);
const put = (id: string, headers: Readonly<Record<string, string>> = {}): Promise<void> =>
  world.raw(away(), 'r1', world.encoded('r1', id), headers);

describe('a record with the key of another partition', () => {
  it('is sent to its own and taken there, and nothing waits', async () => {
    await world.start('a');
    await put('1');
    await world.until('home', recorded('r1:1'));
    expect(await ofType('RecordParked')).toEqual([]);
    expect(await ofType('RecordRedirected')).toEqual([
      expect.objectContaining({
        topic: WIRE,
        partition: away(),
        offset: 0,
        record_key: 'r1',
        to_partition: home(),
        producer: 'outside',
        value: world.encoded('r1', '1'),
      }),
    ]);
  });

  it('is told with its producer, so that the mistake can be found', async () => {
    await world.start('a');
    await put('1');
    await world.until('home', recorded('r1:1'));
    expect(world.events.filter(({ kind }) => kind === 'redirected')).toEqual([
      { kind: 'redirected', topic: WIRE, producer: 'outside', log: LOG, partition: away(), by: 'a' },
    ]);
  });

  it('keeps the order of its key', async () => {
    await world.start('a');
    for (const id of ['1', '2', '3']) await put(id);
    await world.until('home', recorded('r1:3'));
    const stated = (await world.accepted(home())).filter(({ type }) => type === 'AssumptionStated');
    expect(stated.map(({ body }) => body['event_id'])).toEqual(['1', '2', '3']);
  });

  it('is sent after a crash that came between the record and the sending', async () => {
    let mayGo = false;
    world.verdicts.push(({ kind, actor }) => (kind === 'wire' && actor === 'a' && !mayGo ? 'fail' : undefined));
    await world.start('a');
    await put('1');
    await world.until('recorded', async () => (await ofType('RecordRedirected')).length === 1);
    world.kill('a');
    mayGo = true;
    await world.start('b');
    await world.until('home', recorded('r1:1'));
    expect(await ofType('ObligationResent')).toHaveLength(1);
  });

  it('waits for a person when it comes back: nothing goes round in circles', async () => {
    await world.start('a');
    await put('1', { [REDIRECTED]: 'from elsewhere' });
    await world.until('parked', async () => (await ofType('RecordParked')).length === 1);
    expect((await ofType('RecordParked')).map(({ reason }) => reason)).toEqual(['FOREIGN_PARTITION']);
    expect(await ofType('RecordRedirected')).toEqual([]);
    await put('2');
    await world.until('the next', recorded('r1:2'));
  });
});
