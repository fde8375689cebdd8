// Vectors of the chain: hashes, partitions, what a reader makes of a log, Merkle roots.
import avsc from 'avsc';
import { fingerprintOf, NOTE } from './schema-vectors.mjs';
import { frame, genesisOf, leafOf, sha256, text } from './vector-bytes.mjs';

const SCHEMA_ID = 7;
const UNKNOWN_SCHEMA_ID = 4040;

const KEYS = ['run-1', '', 'order/4711#not_shipped', 'käse', '注文/4711', '😀', 'a'.repeat(512)];

export function leafHashes() {
  const bodies = [Buffer.alloc(0), text('x'), Buffer.alloc(300, 0xab)];
  return KEYS.flatMap((key, n) =>
    bodies.map((avro) => {
      const fingerprint = sha256(text(`schema ${n}`));
      return {
        fingerprint: fingerprint.toString('hex'),
        key,
        avro: avro.toString('hex'),
        leaf: leafOf(fingerprint, text(key), avro).toString('hex'),
      };
    }),
  );
}

export function genesisHashes() {
  const logs = [
    ['log-1', 'recourse.mutations', 0, 6],
    ['log-1', 'recourse.mutations', 1, 6],
    ['log-1', 'recourse.mutations', 0, 7],
    ['log-2', 'recourse.mutations', 0, 6],
    ['log-1', 'recourse.recoveries', 0, 6],
    ['', '', 0, 1],
    ['lög', 'recourse.contracts', 0, 1],
  ];
  return logs.map(([log_id, topic, partition, partition_count]) => {
    const of = { log_id, topic, partition, partition_count };
    return { ...of, genesis: genesisOf(of).toString('hex') };
  });
}

/** murmur2 in 64-bit integers, to be unlike the product's. */
function murmur2(bytes) {
  const mask = 0xffffffffn;
  const m = 0x5bd1e995n;
  let h = 0x9747b28cn ^ BigInt(bytes.length);
  const whole = bytes.length - (bytes.length % 4);
  for (let at = 0; at < whole; at += 4) {
    let k = (BigInt(bytes.readUInt32LE(at)) * m) & mask;
    k = ((k ^ (k >> 24n)) * m) & mask;
    h = ((h * m) & mask) ^ k;
  }
  const rest = bytes.subarray(whole);
  rest.forEach((octet, n) => {
    h ^= BigInt(octet) << BigInt(8 * n);
  });
  if (rest.length > 0) h = (h * m) & mask;
  h = ((h ^ (h >> 13n)) * m) & mask;
  return Number(h ^ (h >> 15n));
}

export function partitions() {
  const keys = [
    ...KEYS,
    'run_0a1b2c',
    'acme',
    'payments.issue_refund',
    '21',
    'foobar',
    'a-little-bit-long-string',
    'Ω',
    'نص',
    '\u0000',
  ];
  return keys.flatMap((key) =>
    [1, 2, 3, 6, 12].map((count) => ({
      key,
      murmur2: murmur2(text(key)) | 0,
      count,
      partition: (murmur2(text(key)) & 0x7fffffff) % count,
    })),
  );
}

const GENESIS = { log_id: 'log-1', topic: 'recourse.mutations', partition: 0, partition_count: 6 };

/** Writes records after a head; by default the next one, as a sound writer would. */
function writer() {
  const type = avsc.Type.forSchema(NOTE);
  const fingerprint = fingerprintOf(NOTE);
  const after = (head, note, { seq = head.seq + 1, id = SCHEMA_ID, key = 'run-1' } = {}) => {
    const avro = type.toBuffer({ seq, prev_hash: head.hash, note });
    return { key, value: frame(id, avro), head: { seq, hash: leafOf(fingerprint, text(key ?? ''), avro) } };
  };
  const chain = (head, notes) => {
    const records = [];
    for (const note of notes) {
      records.push(after(head, note));
      head = records.at(-1).head;
    }
    return records;
  };
  return { after, chain };
}

const garbage = (value, key = 'run-1') => ({ key, value, head: null });

export function acceptance() {
  const start = { seq: 0, hash: genesisOf(GENESIS) };
  const fingerprints = { [SCHEMA_ID]: fingerprintOf(NOTE).toString('hex') };
  return [...orders(start), ...oddities(start)].map(([name, records, letters]) =>
    acceptanceVector(name, records, letters, { start, fingerprints }),
  );
}

/** Sound records in orders that several writers leave behind. */
function orders(start) {
  const { chain, after } = writer();
  const [a, b, c, d] = chain(start, ['a', 'b', 'c', 'd']);
  const rival = chain(a.head, ['rival 1', 'rival 2', 'rival 3', 'rival 4']);
  return [
    ['a sound log', [a, b, c, d], 'AAAA'],
    ['every record twice', [a, a, b, b, c, c], 'AVAVAV'],
    ['a prefix of a batch repeated', [a, b, a, b, c, d], 'AAVVAA'],
    ['the batch that lands first wins, a late one is void', [a, b, c, ...rival, d], 'AAAVVVVA'],
    ['a rival that lands first voids the rest', [a, ...rival, b, c, d], 'AAAAAVVV'],
    ['void after accepted, then accepted again', [a, rival[1], b, rival[0], c], 'AVAVA'],
    ['a gap in seq', [a, c, d], 'AVV'],
    ['a gap that is filled later', [a, c, b, d], 'AVAV'],
    ['a seq that is right with a wrong hash', [a, after({ seq: 1, hash: Buffer.alloc(32) }, 'forged'), b], 'AVA'],
  ];
}

/** Records that no sound writer leaves behind. */
function oddities(start) {
  const { chain, after } = writer();
  const [a, b, c] = chain(start, ['a', 'b', 'c']);
  return [
    [
      'seq 0, negative and beyond 2^53',
      [
        after(start, 'zero', { seq: 0 }),
        after(start, 'negative', { seq: -1 }),
        garbage(frame(SCHEMA_ID, Buffer.concat([Buffer.from('feffffffffffffffff01', 'hex'), start.hash]))),
        a,
      ],
      'VVVA',
    ],
    ['another genesis', [after({ seq: 0, hash: genesisOf({ ...GENESIS, partition_count: 7 }) }, 'foreign'), a], 'VA'],
    [
      'unframed, empty, truncated and missing values, and a record without a key',
      [
        garbage(text('{"a":1}')),
        garbage(Buffer.alloc(0)),
        garbage(a.value.subarray(0, 20)),
        garbage(null),
        garbage(a.value, null),
        a,
      ],
      'VVVVVA',
    ],
    ['an unknown schema stops the reader', [a, after(a.head, 'unknown', { id: UNKNOWN_SCHEMA_ID }), b], 'AU'],
    [
      'an unknown schema in a void record stops nobody',
      [a, b, after(a.head, 'late and unknown', { id: UNKNOWN_SCHEMA_ID }), c],
      'AAVA',
    ],
    ['bytes after the head are not looked at', [garbageAfterHead(start, fingerprintOf(NOTE))], 'A'],
    ['nothing', [], ''],
  ];
}

/** Accepted although its body fits no schema: acceptance must not depend on who can decode. */
function garbageAfterHead(start, fingerprint) {
  const avro = Buffer.concat([Buffer.from([2]), start.hash, Buffer.from([0xff, 0xff])]);
  return {
    key: 'run-1',
    value: frame(SCHEMA_ID, avro),
    head: { seq: 1, hash: leafOf(fingerprint, text('run-1'), avro) },
  };
}

function acceptanceVector(name, records, letters, { start, fingerprints }) {
  const verdicts = [...letters].map((letter) => ({ A: 'accepted', V: 'void', U: 'unknown_schema' })[letter]);
  const last = records[verdicts.lastIndexOf('accepted')]?.head ?? start;
  return {
    name,
    genesis: GENESIS,
    fingerprints,
    records: records.map(({ key, value }) => ({ key, value: value?.toString('hex') ?? null })),
    verdicts,
    head: { seq: last.seq, hash: last.hash.toString('hex') },
  };
}

export function merkleRoots() {
  const leaves = Array.from({ length: 9 }, (_, n) => sha256(text(`leaf ${n}`)));
  return leaves.concat(null).map((_, count) => ({
    leaves: leaves.slice(0, count).map((leaf) => leaf.toString('hex')),
    root: rootOf(leaves.slice(0, count)).toString('hex'),
  }));
}

function rootOf(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0];
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return sha256(Buffer.from([1]), rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}
