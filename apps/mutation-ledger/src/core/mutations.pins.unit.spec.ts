// Decisions of the ledger, made again from a packet: with the keys of what they looked into, without them, and after those were destroyed.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import { checkDerived, checkPins, MemoryKeyStore, OpenKeys } from '@recourse/event-log';
import type { CheckedPin, Doc, Pin, PinsToCheck, RecordInput } from '@recourse/event-log';
import { packed, unpacked } from '@recourse/service/replay';
import { ChainedLog, ownCodecs } from '@recourse/testing';
import { mutationsCore } from '../core.js';
import { REMAKING } from '../remaking.js';
import {
  ASKING,
  executed,
  intent,
  NOW,
  planned,
  refund,
  REFUND,
  registered,
  statement,
  TENANT,
} from './ledger.testing.js';

const SECRET = 'planted-in-a-result';
const core = () => mutationsCore(ASKING);
const store = new MemoryKeyStore();
let log: ChainedLog;
let pins: readonly Pin[];

const stated = (verdict: 'holds' | 'invalidated', event: string): RecordInput => {
  const { type, body } = statement(verdict, event);
  return {
    ...{ source: 'log', topic: 'recourse.assumptions', partition: 0, offset: 0, seq: 0, hash: Buffer.alloc(32) },
    ...{ key: String(body['ref']), type, body },
  };
};

async function refunded(into: ChainedLog): Promise<void> {
  await into.see(1_000, registered(REFUND), 'payments.issue_refund');
  await into.hear(NOW - 3_000, stated('holds', 'ok-1'));
  await into.take(NOW - 2_000, planned(intent({ prior_value: plainPayload({ note: SECRET }) })));
  await into.take(NOW, executed(refund({ result: plainPayload({ refund_id: 're_1', note: SECRET }) })));
  await into.hear(NOW + 1_000, stated('invalidated', 'inv-1'));
}

beforeAll(async () => {
  log = new ChainedLog(core(), ownCodecs(), store);
  await refunded(log);
  ({ pins } = await log.pins(undefined, core(), store));
});

async function check(from: MemoryKeyStore | null, changed: Partial<PinsToCheck> = {}): Promise<readonly CheckedPin[]> {
  const keys = from === null ? null : new OpenKeys(from);
  await keys?.loadFor(log.records.map(({ whole }) => whole));
  return checkPins({
    ...{ core: core(), codecs: log.codecs, keyed: REMAKING.keyed, partitions: 1, records: log.records, pins },
    ...(keys === null ? {} : { keys }),
    ...changed,
  });
}
const said = (checked: readonly CheckedPin[]): readonly (string | null)[][] =>
  checked.map(({ outcome, code }) => [outcome, code]);
const typesOf = (some: readonly Pin[]): readonly (string | undefined)[] =>
  some.map(({ records: [first] }) => log.records.find(({ place }) => place.hash === first?.hash)?.record.type);

describe('decisions of the ledger in a packet', () => {
  it('are made again with the keys of what they looked into', async () => {
    expect(typesOf(pins)).toEqual(['MutationPlanned', 'MutationRecorded', 'MutationsFell']);
    expect(said(await check(store))).toEqual(pins.map(() => ['equal', null]));
  });

  it('name what a wire told, what was sealed and how far views were read, and prove none of it', async () => {
    const [, recorded] = await check(store);
    expect(recorded?.pinned).toEqual(
      expect.arrayContaining([
        'payloads of recourse.tool-executions/0@1',
        'position of assumptions/0',
        'MutationRecorded /ref/reversal_args',
      ]),
    );
  });

  it('hold nothing of a payload, opened or not, also in JSON', () => {
    const told = JSON.stringify(pins.map(packed));
    const wires = pins.flatMap(({ input }) => (input.source === 'wire' ? [input.value.toString('latin1')] : []));
    expect([told, ...wires].filter((one) => one.includes(SECRET) || one.includes('re_1","note'))).toEqual([]);
    expect(pins.flatMap(({ payloads }) => payloads)).toHaveLength(5);
    expect(pins.map(packed).map(unpacked)).toEqual(pins);
  });

  it('are not made without the keys, and those that look into nothing are', async () => {
    const sealed = ['not_made', 'payload_sealed'];
    expect(said(await check(null))).toEqual([sealed, sealed, ['equal', null]]);
    expect(said(await check(new MemoryKeyStore()))).toEqual([sealed, sealed, ['equal', null]]);
  });

  it('open no payload that their pin does not name', async () => {
    // What was before the call only its intent told: it is read from a row.
    const bare = pins.map((pin) => ({ ...pin, payloads: pin.payloads.filter(({ wire }) => wire !== null) }));
    expect(said(await check(store, { pins: bare })).slice(0, 2)).toEqual([
      ['equal', null],
      ['not_made', 'payload_sealed'],
    ]);
  });

  it('are found to differ by another payload in the place of the one that a wire told', async () => {
    const swapped = pins.map((pin) => {
      const [first, second] = pin.payloads;
      if (first === undefined || second === undefined) return pin;
      return {
        ...pin,
        payloads: [{ ...first, wire: second.wire }, { ...second, wire: first.wire }, ...pin.payloads.slice(2)],
      };
    });
    const [, recorded] = await check(store, { pins: swapped });
    expect([recorded?.outcome, recorded?.code]).toEqual(['differs', 'REPLAY_DECISION_DIFFERS']);
  });

  it('are found to differ where a view was read to another place', async () => {
    const further = pins.map((pin) => ({ ...pin, positions: pin.positions.map((one) => ({ ...one, seq: 99 })) }));
    const [, recorded] = await check(store, { pins: further });
    expect([recorded?.code, recorded?.field]).toEqual(['REPLAY_DECISION_DIFFERS', '/judged/0/position']);
  });

  it('tell of what would have been otherwise that it is so, and nothing of what is in it', async () => {
    const elsewhere = (doc: Doc): Doc => ({ ...doc, execution: { ...(doc['execution'] as Doc), staged_ref: 'there' } });
    const [, recorded] = await check(store, {
      whatIf: { record: () => null, row: (kind, doc) => (kind === 'mutation' ? elsewhere(doc) : null) },
    });
    expect(recorded?.otherwise).toMatchObject({ outcome: 'diverged', why: '/execution/staged_ref' });
    const bodies = recorded?.otherwise?.decided.map(({ body }) => JSON.stringify(body)) ?? [];
    expect(bodies.filter((body) => body.includes('"encoding":"plain"'))).toEqual([]);
  });
});

describe('decisions of the ledger whose keys are gone', () => {
  const erased = new MemoryKeyStore();
  let own: ChainedLog;
  beforeAll(async () => {
    own = new ChainedLog(core(), ownCodecs(), erased);
    await refunded(own);
  });

  it('have no pin without keys, and are said to be erased once nobody has them', async () => {
    const why = async (from: MemoryKeyStore | null): Promise<readonly string[]> => {
      const { unpinned } = await own.pins(undefined, core(), from);
      return [...new Set(unpinned.map((one) => one.why))];
    };
    expect(await why(null)).toEqual(['payload_sealed']);
    expect(await why(erased)).toEqual([]);
    const { pins: before } = await own.pins(undefined, core(), erased);
    await erased.destroy({ by: 'ada', reason: 'asked for', tenant: TENANT });
    expect(await why(erased)).toEqual(['payload_erased']);
    const keys = new OpenKeys(erased);
    await keys.loadFor(own.records.map(({ whole }) => whole));
    const checked = checkPins({
      ...{ core: core(), codecs: own.codecs, keyed: REMAKING.keyed, partitions: 1, records: own.records },
      ...{ pins: before, keys },
    });
    expect(said(checked)).toEqual([
      ['not_made', 'payload_erased'],
      ['not_made', 'payload_erased'],
      ['equal', null],
    ]);
  });
});

describe('notices in a packet', () => {
  const caused = ({ evidence, ...common }: Doc): Doc => ({
    ...common,
    evidence: { ...(evidence as Doc), event_id: 'another' },
  });
  const derived = (change: (records: ChainedLog['records']) => ChainedLog['records'] = (records) => records) =>
    said(
      checkDerived({
        ...{ core: core(), codecs: log.codecs, keyed: REMAKING.keyed, partitions: 1 },
        records: change([...log.records]),
      }),
    );

  it('are derived again from the records that they name', () => {
    expect(derived()).toEqual([['equal', null]]);
  });

  it('are found to differ by another source, and are not made without it', () => {
    const fell = log.records.find(({ record }) => record.type === 'MutationsFell');
    expect(derived((records) => records.filter((one) => one !== fell))).toEqual([['not_made', 'input_missing']]);
    const other = (records: ChainedLog['records']): ChainedLog['records'] =>
      records.map((one) => (one === fell ? { ...one, record: { ...one.record, body: caused(one.record.body) } } : one));
    expect(derived(other)).toEqual([['differs', 'REPLAY_DECISION_DIFFERS']]);
  });
});
