// Verification names the tampering it finds, and takes ordinary void records for what they are.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { genesisHead, merkleRoot, verifyLog } from './index.js';
import type { Finding, Head, StoredRecord } from './index.js';
import {
  fingerprintOf,
  GENESIS,
  headAfter,
  recordAfter,
  renumbered,
  soundLog,
  UNKNOWN_SCHEMA,
} from './records.testing.js';

const COUNT = 8;
const { records, heads } = soundLog(COUNT);
const headOf = (seq: number): Head => heads[seq] ?? GENESIS;
const recordOf = (seq: number): StoredRecord => records[seq - 1] ?? { offset: -1, key: null, value: null };

const findingsIn = (log: readonly StoredRecord[], olderHead?: Head): readonly Finding[] =>
  verifyLog(renumbered(log), { genesis: GENESIS, fingerprintOf, known: olderHead === undefined ? [] : [olderHead] })
    .findings;

function withOctetFlipped(record: StoredRecord, at: number): StoredRecord {
  const value = Buffer.from(record.value ?? []);
  value.writeUInt8(value.readUInt8(at) ^ 0x01, at);
  return { ...record, value };
}

describe('a sound log', () => {
  it('has no findings, and a root over what was accepted', () => {
    const report = verifyLog(records, { genesis: GENESIS, fingerprintOf, known: [headOf(3)] });
    expect(report).toMatchObject({ accepted: COUNT, voids: 0, findings: [], head: headOf(COUNT) });
    expect(report.root?.equals(merkleRoot(heads.slice(1).map((head) => head.hash)))).toBe(true);
  });

  it('stays sound with duplicates, a late rival batch and a repeated prefix', () => {
    const rival = recordAfter(headOf(2), 'rival');
    const second = recordAfter(headAfter(headOf(2), rival), 'rival too');
    const third = recordAfter(headAfter(headAfter(headOf(2), rival), second), 'rival still');
    const log = [...records.slice(0, 3), rival, second, third, recordOf(3), ...records.slice(2), recordOf(COUNT)];
    expect(findingsIn(log)).toEqual([]);
  });
});

describe('a log that was cut behind its third record', () => {
  const late = recordAfter(headOf(COUNT), 'of the owner that did not know');
  const acceptance = recordAfter(headOf(3), 'accepts the loss');
  const log = [...records.slice(0, 3), late, acceptance, recordAfter(headAfter(headOf(3), acceptance), 'goes on')];
  const findings = (lost: Head): readonly Finding[] =>
    verifyLog(renumbered(log), {
      genesis: GENESIS,
      fingerprintOf,
      lossIn: ({ value }) => (value === acceptance.value ? lost : null),
    }).findings;

  it('shows what is missing as long as nobody has accepted the loss', () => {
    expect(findingsIn(log)).toEqual([{ kind: 'missing', seq: 6, lastSeq: COUNT, offset: 3 }]);
  });
  it('is sound once an accepted record gives up the very head that was lost', () => {
    expect(findings(headOf(COUNT))).toEqual([]);
  });
  it('is not, when another head was given up', () => {
    expect(findings(headOf(COUNT - 1))).toHaveLength(1);
  });
});

describe('a tampered log', () => {
  it('shows the altered record, also when only its key was altered', () => {
    expect(
      findingsIn(records.map((record) => (record === recordOf(4) ? withOctetFlipped(record, 41) : record))),
    ).toEqual([{ kind: 'flipped', seq: 4, offset: 3 }]);
    expect(
      findingsIn(records.map((record) => (record === recordOf(4) ? { ...record, key: Buffer.from('run-2') } : record))),
    ).toEqual([{ kind: 'rekeyed', seq: 4, offset: 3 }]);
  });

  it('shows a record whose prev_hash was altered', () => {
    expect(
      findingsIn(records.map((record) => (record === recordOf(4) ? withOctetFlipped(record, 10) : record))),
    ).toEqual([{ kind: 'flipped', seq: 4, offset: 3 }]);
  });

  it('shows a record that was made unreadable', () => {
    const broken = records.map((record) => (record === recordOf(4) ? withOctetFlipped(record, 0) : record));
    expect(findingsIn(broken)).toEqual([
      { kind: 'unreadable', offset: 3 },
      { kind: 'flipped', seq: 4, offset: 3 },
    ]);
  });

  it('shows which records are missing', () => {
    expect(findingsIn(records.filter((record) => record !== recordOf(3) && record !== recordOf(4)))).toEqual([
      { kind: 'missing', seq: 3, lastSeq: 4, offset: 2 },
    ]);
  });

  it('shows records that changed places', () => {
    const log = [recordOf(1), recordOf(2), recordOf(4), recordOf(3), ...records.slice(4)];
    expect(findingsIn(log)).toEqual([{ kind: 'reordered', seq: 4, offset: 2 }]);
  });

  it('shows a stray record, and calls no other altered', () => {
    const stray = recordAfter(headAfter(headOf(2), recordAfter(headOf(2), 'elsewhere')), 'stray');
    expect(findingsIn([...records.slice(0, 5), stray, ...records.slice(5)])).toEqual([
      { kind: 'stray', seq: 4, offset: 5 },
    ]);
    expect(findingsIn([...records.slice(0, 3), stray, ...records.slice(3)])).toEqual([
      { kind: 'stray', seq: 4, offset: 3 },
    ]);
  });

  it('shows a log that begins from another genesis', () => {
    const other = genesisHead({ logId: 'log-1', topic: 'recourse.mutations', partition: 0, partitionCount: 3 });
    const first = recordAfter(other, 'a');
    expect(findingsIn([first])).toEqual([{ kind: 'foreign_genesis', seq: 1, offset: 0 }]);
  });

  it('shows a cut tail and a rewritten past against an older head', () => {
    expect(findingsIn(records.slice(0, 5), headOf(7))).toEqual([{ kind: 'cut_tail', seq: 6, lastSeq: 7 }]);
    const rewritten = recordAfter(headOf(COUNT - 1), 'another end');
    expect(findingsIn([...records.slice(0, COUNT - 1), rewritten], headOf(COUNT))).toEqual([
      { kind: 'rewritten', seq: COUNT, offset: COUNT - 1 },
    ]);
  });

  it('ends at an unknown schema', () => {
    const strange = recordAfter(headOf(2), 'strange', 2, UNKNOWN_SCHEMA);
    expect(findingsIn([...records.slice(0, 2), strange, ...records.slice(2)])).toEqual([
      { kind: 'unknown_schema', id: UNKNOWN_SCHEMA, offset: 2 },
    ]);
  });

  it('is found out whatever octet is altered and whatever record is taken, given the newest head', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: COUNT }), fc.nat(), fc.boolean(), (seq, pick, isTaken) => {
        const target = recordOf(seq);
        const altered = withOctetFlipped(target, pick % (target.value?.length ?? 1));
        const log = isTaken
          ? records.filter((record) => record !== target)
          : records.map((record) => (record === target ? altered : record));
        return findingsIn(log, headOf(COUNT)).length > 0;
      }),
      { numRuns: 500 },
    );
  });
});
