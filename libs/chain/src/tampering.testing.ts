// Everything somebody can do to a log, as a table: what it is called, the logs it makes, and the names it must be found by.
import { FRAME_SIZE, frameOf } from './framing.js';
import { genesisHead } from './acceptance.js';
import type { Head } from './acceptance.js';
import type { Finding, KnownHead } from './log-findings.js';
import { LogVerifier } from './log-verifier.js';
import type { StoredRecord } from './log-verifier.js';
import { MerkleTree } from './merkle.js';
import {
  fingerprintOf,
  GENESIS,
  headAfter,
  KNOWN_SCHEMA,
  OTHER_SCHEMA,
  recordAfter,
  renumbered,
} from './records.testing.js';

/** A head is signed behind each so many records. */
const SIGNED_EACH = 100;
export const OTHER_GENESIS = genesisHead({
  logId: 'log-1',
  topic: 'recourse.mutations',
  partition: 1,
  partitionCount: 2,
});

export interface SignedLog {
  readonly records: readonly StoredRecord[];
  readonly heads: readonly Head[];
  readonly signed: readonly KnownHead[];
}

/** A sound log of this many records under three keys and two schemas, with heads signed along the way. */
export function signedLog(
  count: number,
  { genesis = GENESIS, body = 'body', from = 0, before = [] as readonly StoredRecord[] } = {},
): SignedLog {
  const [records, heads, signed]: [StoredRecord[], Head[], KnownHead[]] = [[], [genesis], []];
  const tree = new MerkleTree();
  let head = genesis;
  for (let n = 0; n < count; n += 1) {
    const schema = n % 5 === 4 ? OTHER_SCHEMA : KNOWN_SCHEMA;
    const fresh = { ...recordAfter(head, `${body} ${n} of a log`, n, schema), key: Buffer.from(`run-${n % 3}`) };
    const record = (n < from ? before[n] : undefined) ?? fresh;
    head = headAfter(head, record);
    tree.append(head.hash);
    records.push(record);
    heads.push(head);
    if (head.seq % SIGNED_EACH === 0 || head.seq === count)
      signed.push({ ...head, root: tree.root(), nextOffset: n + 1 });
  }
  return { records, heads, signed };
}

/** Kinds of findings in a log, each once. */
export function kindsIn(
  log: readonly StoredRecord[],
  known: readonly KnownHead[],
  genesis = GENESIS,
): readonly string[] {
  return [...new Set(findingsIn(log, known, genesis).map(({ kind }) => kind))].sort();
}

/** Findings in a log. */
export function findingsIn(
  log: readonly StoredRecord[],
  known: readonly KnownHead[],
  genesis = GENESIS,
): readonly Finding[] {
  const verifier = new LogVerifier({ genesis, fingerprintOf, known });
  for (const record of renumbered(log)) verifier.add(record);
  return verifier.report().findings;
}

/** One way to tamper with a log. */
export interface Tampering {
  readonly title: string;
  /** What it must be called; where several stand, one of them, or some together. */
  readonly names: readonly Finding['kind'][];
  /** The log after it was done to record `seq`; null where it cannot be done there. */
  readonly at: (log: SignedLog, seq: number) => readonly StoredRecord[] | null;
  /** Its place is known exactly: some finding is about this very record. */
  readonly isPlaced?: true;
  /** Heads the reader has; those signed unless told. */
  readonly known?: (log: SignedLog, seq: number) => readonly KnownHead[];
}

const recordOf = ({ records }: SignedLog, seq: number): StoredRecord => {
  const record = records[seq - 1];
  if (record === undefined) throw new RangeError(`no record ${seq}`);
  return record;
};
const replaced = (log: SignedLog, seq: number, record: StoredRecord): readonly StoredRecord[] =>
  log.records.toSpliced(seq - 1, 1, record);

/** Octets of a record that are changed: of the frame, the seq, the hash before it and the rest. */
const POSITIONS: readonly {
  readonly of: string;
  readonly at: (size: number) => number;
  readonly names: Tampering['names'];
}[] = [
  { of: 'the first octet of the frame', at: () => 0, names: ['flipped', 'unreadable'] },
  { of: 'the first octet of the schema id', at: () => 1, names: ['flipped', 'unreadable', 'schema_swapped'] },
  { of: 'the last octet of the schema id', at: () => 4, names: ['flipped', 'unreadable', 'schema_swapped'] },
  { of: 'the seq', at: () => FRAME_SIZE, names: ['flipped', 'unreadable'] },
  { of: 'the first octets of prev_hash', at: () => FRAME_SIZE + 3, names: ['flipped'] },
  { of: 'the last octets of prev_hash', at: () => FRAME_SIZE + 30, names: ['flipped'] },
  { of: 'the body', at: (size) => size - 8, names: ['flipped'] },
  { of: 'the last octet', at: (size) => size - 1, names: ['flipped'] },
];

/** The last bit, and the first, which makes a longer number of a seq. */
const MASKS = [0x01, 0x80];

const BYTES: readonly Tampering[] = POSITIONS.flatMap(({ of, at, names }) =>
  MASKS.map((mask) => ({
    title: `changes ${of} by ${mask.toString(16)}`,
    names,
    isPlaced: true,
    at: (log: SignedLog, seq: number) => {
      const record = recordOf(log, seq);
      const value = Buffer.from(record.value ?? []);
      const place = at(value.length);
      value.writeUInt8(value.readUInt8(place) ^ mask, place);
      return replaced(log, seq, { ...record, value });
    },
  })),
);

/** Records of another log of the same length, for what is put in from elsewhere. */
const foreign = signedLog(64, { genesis: OTHER_GENESIS });

export const TAMPERINGS: readonly Tampering[] = [
  ...BYTES,
  {
    title: 'swaps the schema id for another known one',
    names: ['schema_swapped'],
    isPlaced: true,
    at: (log, seq) => {
      const record = recordOf(log, seq);
      const id = seq % 5 === 0 ? KNOWN_SCHEMA : OTHER_SCHEMA;
      return replaced(log, seq, {
        ...record,
        value: Buffer.concat([frameOf(id), (record.value ?? Buffer.alloc(0)).subarray(FRAME_SIZE)]),
      });
    },
  },
  {
    title: 'gives it the key of another run',
    names: ['rekeyed'],
    isPlaced: true,
    // Who never had a record of its own before has no key that could be tried.
    at: (log, seq) =>
      seq <= 3 ? null : replaced(log, seq, { ...recordOf(log, seq), key: Buffer.from(`run-${seq % 3}`) }),
  },
  {
    title: 'gives it a key that nobody has',
    names: ['rekeyed', 'flipped'],
    isPlaced: true,
    at: (log, seq) => replaced(log, seq, { ...recordOf(log, seq), key: Buffer.from('nobody') }),
  },
  {
    title: 'deletes it',
    names: ['missing', 'cut_tail'],
    isPlaced: true,
    at: (log, seq) => log.records.toSpliced(seq - 1, 1),
  },
  {
    title: 'puts a record of another log before it',
    names: ['stray', 'foreign_genesis', 'inserted'],
    at: (log, seq) => log.records.toSpliced(seq - 1, 0, recordOf(foreign, 1 + (seq % 64))),
  },
  {
    title: 'puts bytes before it that are no record',
    names: ['unreadable', 'inserted'],
    at: (log, seq) =>
      log.records.toSpliced(seq - 1, 0, { offset: 0, key: Buffer.from('x'), value: Buffer.from('nothing') }),
  },
  {
    title: 'puts a copy of it behind it',
    names: ['inserted'],
    at: (log, seq) => (seq === log.records.length ? null : log.records.toSpliced(seq, 0, recordOf(log, seq))),
  },
  {
    title: 'puts a record before it that takes its place',
    names: ['regrown', 'rewritten', 'flipped'],
    at: (log, seq) => log.records.toSpliced(seq - 1, 0, recordAfter(log.heads[seq - 1] ?? GENESIS, 'another')),
  },
  {
    title: 'swaps it with the next',
    names: ['reordered'],
    at: (log, seq) =>
      seq === log.records.length ? null : log.records.toSpliced(seq - 1, 2, recordOf(log, seq + 1), recordOf(log, seq)),
  },
  {
    title: 'swaps it with one further on',
    names: ['reordered'],
    at: (log, seq) =>
      seq + 7 > log.records.length
        ? null
        : log.records.toSpliced(seq - 1, 1, recordOf(log, seq + 7)).toSpliced(seq + 6, 1, recordOf(log, seq)),
  },
  {
    title: 'cuts the tail before it',
    names: ['cut_tail'],
    isPlaced: true,
    at: (log, seq) => log.records.slice(0, seq - 1),
  },
  {
    title: 'cuts the tail before it and lets the log grow on',
    names: ['regrown', 'rewritten', 'flipped'],
    at: (log, seq) => signedLog(log.records.length, { body: 'other', from: seq - 1, before: log.records }).records,
  },
  {
    title: 'cuts the tail before it and lets the log grow on further than it was',
    names: ['regrown', 'rewritten'],
    at: (log, seq) => signedLog(log.records.length + 20, { body: 'other', from: seq - 1, before: log.records }).records,
  },
];

/** Ways to tamper with a log as a whole. */
export const WHOLE: readonly (Omit<Tampering, 'at'> & { readonly log: (log: SignedLog) => readonly StoredRecord[] })[] =
  [
    {
      title: 'rewrites all of it, with a valid chain',
      names: ['rewritten'],
      log: ({ records }) => signedLog(records.length, { body: 'other' }).records,
    },
    {
      title: 'shows two readers two logs, each signed',
      names: ['forked'],
      log: ({ records }) => records,
      known: (log) => [...log.signed, ...signedLog(log.records.length, { body: 'other' }).signed],
    },
    {
      title: 'puts another partition in its place',
      names: ['foreign_genesis'],
      log: ({ records }) => signedLog(records.length, { genesis: OTHER_GENESIS }).records,
    },
    { title: 'takes all of it away', names: ['cut_tail'], log: () => [] },
  ];
