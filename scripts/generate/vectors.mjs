// schemas/vectors/: what every implementation in every language must agree on. Built here from the grammar alone, sharing
// no code with libs/, so that TypeScript and Python are both checked against a third.
//
// In JSON: bytes and fixed are lower-case hex; longs are numbers below 2^53; a key is text (UTF-8).
import { createHash } from 'node:crypto';
import avsc from 'avsc';
import { messageNames } from './catalogue.mjs';
import { versionsOf } from './history.mjs';

const FOLDER = 'schemas/vectors';
const SCHEMA_ID = 7;
const UNKNOWN_SCHEMA_ID = 4040;

/** Vector files, as `{ path, text }`. */
export function vectorFiles(root, catalogue) {
  const released = messageNames(catalogue).flatMap((message) =>
    versionsOf(root, message).map((entry) => ({ message, ...entry })),
  );
  return [
    file(
      'frames',
      'Framed values. `body` is the record; `schema` is schemas/history/<message>/<version>.avsc.',
      released.flatMap(frames),
    ),
    file(
      'fingerprints',
      'SHA-256 of the Parsing Canonical Form of schemas/history/<message>/<version>.avsc.',
      released.map(fingerprintVector),
    ),
    file('canonical-forms', 'Parsing Canonical Form and its SHA-256.', canonicalForms()),
    file(
      'leaf-hashes',
      'SHA-256(0x00, then fingerprint, key and Avro bytes, each after its length as uint32).',
      leafHashes(),
    ),
    file('genesis-hashes', 'prev_hash of the first record of a partition.', genesisHashes()),
    file('partitions', 'Partition of a key: (murmur2(UTF-8 bytes) & 0x7fffffff) mod count.', partitions()),
    file(
      'acceptance',
      'Records of a partition in offset order and what a reader makes of each; it stops at unknown_schema.',
      acceptance(),
    ),
    file('merkle-roots', 'RFC 6962 roots over the first n leaf hashes.', merkleRoots()),
    file(
      'effect-keys',
      'eff_ + hex SHA-256 of the canonical JSON (RFC 8785) of [step, capability, target, hex SHA-256 of the canonical JSON of args]; mut_ + the first 32 hex digits of SHA-256 over tenant, run and key, each after its length in UTF-16 units and a colon.',
      effectKeys(),
    ),
  ];
}

const file = (name, doc, vectors) => ({
  path: `${FOLDER}/${name}.json`,
  text: `${JSON.stringify({ doc, vectors }, null, 1)}\n`,
});

// --- hashes, from the grammar in libs/chain/src/leaf.ts ---

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const part = (bytes) => Buffer.concat([uint32(bytes.length), bytes]);
const text = (value) => Buffer.from(value, 'utf8');
const leafOf = (fingerprint, key, avro) => sha256(Buffer.from([0]), part(fingerprint), part(key), part(avro));
const genesisOf = ({ log_id, topic, partition, partition_count }) =>
  sha256(
    Buffer.from([2]),
    part(text('recourse.genesis.v1')),
    part(text(log_id)),
    part(text(topic)),
    uint32(partition),
    uint32(partition_count),
  );
const frame = (id, avro) => Buffer.concat([Buffer.from([0]), uint32(id), avro]);

// --- effect keys, from RFC 8785 and DESIGN section 5 ---

const hex = (value) => sha256(text(value)).toString('hex');

/** Canonical JSON: members by the UTF-16 units of their names, which are compared as bytes here; numbers as ECMAScript writes them. */
function canonicalValue(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const units = (name) => Buffer.from(name, 'utf16le').swap16();
  const names = Object.keys(value).sort((a, b) => Buffer.compare(units(a), units(b)));
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalValue(value[name])}`).join(',')}}`;
}

function effectKeys() {
  const cases = [
    {
      step: 'refund',
      capability: 'payments.issue_refund',
      target: 'order/4711',
      args: { amount_minor: 120000, currency: 'INR', order: '4711' },
    },
    {
      step: 'refund',
      capability: 'payments.issue_refund',
      target: null,
      args: { order: '4711', currency: 'INR', amount_minor: 120000 },
    },
    {
      step: 'numbers',
      capability: 'a.b',
      target: null,
      args: [0, -0, 1, 1.5, 0.1, 1e21, 1e-7, 123456789012345680000, 4.35, -1e-9, 5e-324],
    },
    {
      step: 'names',
      capability: 'a.b',
      target: 'größe/€',
      args: { '\u{1F600}': 1, '\uFB33': 2, '€': 3, ö: 4, a: { b: null, a: true }, '': [] },
    },
    { step: 'text', capability: 'a.b', target: '', args: 'quotes " and \\ and \n and \u0001 and \u007f and \u2028' },
    { step: '', capability: '', target: null, args: null },
  ];
  return cases.map((identity) => {
    const { step, capability, target, args } = identity;
    const effectKey = `eff_${hex(canonicalValue([step, capability, target, hex(canonicalValue(args))]))}`;
    const counted = ['acme', 'run-1', effectKey].map((one) => `${one.length}:${one}`).join('');
    return {
      ...identity,
      canonical_args: canonicalValue(args),
      effect_key: effectKey,
      tenant: 'acme',
      run_id: 'run-1',
      mutation_id: `mut_${hex(counted).slice(0, 32)}`,
    };
  });
}

// --- Parsing Canonical Form, from the Avro specification ---

const FIELD_ORDER = ['name', 'type', 'fields', 'symbols', 'items', 'values', 'size'];

function canonical(schema) {
  if (typeof schema === 'string') return JSON.stringify(schema);
  if (Array.isArray(schema)) return `[${schema.map(canonical).join(',')}]`;
  if (typeof schema.type === 'string' && !['record', 'enum', 'fixed', 'array', 'map'].includes(schema.type))
    return canonical(schema.type);
  const members = FIELD_ORDER.filter((member) => member in schema).map(
    (member) => `"${member}":${canonicalMember(member, schema)}`,
  );
  return `{${members.join(',')}}`;
}

function canonicalMember(member, schema) {
  if (member === 'name')
    return JSON.stringify(
      schema.namespace && !schema.name.includes('.') ? `${schema.namespace}.${schema.name}` : schema.name,
    );
  if (member === 'type') return JSON.stringify(schema.type);
  if (member === 'fields')
    return `[${schema.fields.map((field) => `{"name":${JSON.stringify(field.name)},"type":${canonical(field.type)}}`).join(',')}]`;
  if (member === 'symbols') return JSON.stringify(schema.symbols);
  return member === 'size' ? String(schema.size) : canonical(schema[member]);
}

const fingerprintOf = (schema) => sha256(text(canonical(schema)));
const fingerprintVector = ({ message, version, schema }) => ({
  message,
  version,
  fingerprint: fingerprintOf(schema).toString('hex'),
});

const NOTE = {
  type: 'record',
  name: 'recourse.vectors.Note',
  fields: [
    { name: 'seq', type: 'long' },
    { name: 'prev_hash', type: { type: 'fixed', name: 'recourse.vectors.Digest', size: 32 } },
    { name: 'note', type: 'string' },
  ],
};

function canonicalForms() {
  const schemas = [
    NOTE,
    {
      type: 'record',
      name: 'Sample',
      namespace: 'recourse.vectors',
      doc: 'Docs, defaults, aliases and logical types are no part of the form.',
      aliases: ['Old'],
      fields: [
        { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' }, doc: 'An instant.', default: 0 },
        { name: 'mode', type: { type: 'enum', name: 'recourse.vectors.Mode', symbols: ['a', 'b'], default: 'a' } },
        { name: 'again', type: ['null', 'recourse.vectors.Mode'], default: null },
        { name: 'list', type: { type: 'array', items: { type: 'map', values: 'bytes' } } },
        { name: 'whole', type: { type: 'string' }, order: 'ignore' },
      ],
    },
  ];
  return schemas.map((schema) => ({
    schema,
    canonical: canonical(schema),
    fingerprint: fingerprintOf(schema).toString('hex'),
  }));
}

// --- frames: two sample records of every message, one sparse and one full ---

function frames({ message, version, schema }, index) {
  const type = avsc.Type.forSchema(schema, { wrapUnions: 'never' });
  return ['sparse', 'full'].map((variant) => {
    const body = sample(schema, variant === 'full', message, namesIn(schema));
    return {
      message,
      version,
      variant,
      schema_id: index + 1,
      body: inJson(body),
      hex: frame(index + 1, type.toBuffer(body)).toString('hex'),
    };
  });
}

function sample(schema, isFull, path, names) {
  if (typeof schema === 'string' && names.has(schema)) return sample(names.get(schema), isFull, path, names);
  if (Array.isArray(schema))
    return sample(schema.find((branch) => (branch === 'null') !== isFull) ?? schema[0], isFull, path, names);
  const kind = schema.type ?? schema;
  const seed = sha256(text(`${path} ${isFull}`));
  switch (kind) {
    case 'record':
      return Object.fromEntries(
        schema.fields.map((field) => [field.name, sample(field.type, isFull, `${path}.${field.name}`, names)]),
      );
    case 'array':
      return isFull ? [0, 1].map((n) => sample(schema.items, n === 0, `${path}[${n}]`, names)) : [];
    case 'map':
      return isFull ? { 'a key': sample(schema.values, true, `${path}{}`, names) } : {};
    case 'enum': {
      const meant = schema.symbols.filter((symbol) => symbol !== schema.default);
      return meant[isFull ? meant.length - 1 : 0];
    }
    case 'fixed':
      return Buffer.concat([seed, seed]).subarray(0, schema.size);
    case 'bytes':
      return isFull ? seed.subarray(0, 5) : Buffer.alloc(0);
    case 'string':
      return isFull ? `${path.split('.').at(-1)} ü€😀` : '';
    case 'boolean':
      return isFull;
    case 'int':
      return isFull ? -2_147_483_648 : seed.readUInt8(0);
    case 'long':
      return isFull ? Number.MAX_SAFE_INTEGER - 1 - seed.readUInt8(0) : -seed.readUInt8(0);
    case 'float':
    case 'double':
      return isFull ? -0.5 : 1.25;
    default:
      return null;
  }
}

function namesIn(schema, names = new Map()) {
  if (typeof schema !== 'object' || schema === null) return names;
  if (schema.name !== undefined && schema.type !== undefined && ['record', 'enum', 'fixed'].includes(schema.type))
    names.set(schema.name, schema);
  for (const member of Object.values(schema)) namesIn(member, names);
  return names;
}

function inJson(value) {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return value.map(inJson);
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inJson(member)]))
    : value;
}

// --- the chain ---

const KEYS = ['run-1', '', 'order/4711#not_shipped', 'käse', '注文/4711', '😀', 'a'.repeat(512)];

function leafHashes() {
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

function genesisHashes() {
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

function partitions() {
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

function acceptance() {
  const type = avsc.Type.forSchema(NOTE);
  const fingerprint = fingerprintOf(NOTE);
  const start = { seq: 0, hash: genesisOf(GENESIS) };
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
  const [a, b, c, d] = chain(start, ['a', 'b', 'c', 'd']);
  const rival = chain(a.head, ['rival 1', 'rival 2', 'rival 3', 'rival 4']);
  const garbage = (value, key = 'run-1') => ({ key, value, head: null });
  const cases = [
    ['a sound log', [a, b, c, d], 'AAAA'],
    ['every record twice', [a, a, b, b, c, c], 'AVAVAV'],
    ['a prefix of a batch repeated', [a, b, a, b, c, d], 'AAVVAA'],
    ['the batch that lands first wins, a late one is void', [a, b, c, ...rival, d], 'AAAVVVVA'],
    ['a rival that lands first voids the rest', [a, ...rival, b, c, d], 'AAAAAVVV'],
    ['void after accepted, then accepted again', [a, rival[1], b, rival[0], c], 'AVAVA'],
    ['a gap in seq', [a, c, d], 'AVV'],
    ['a gap that is filled later', [a, c, b, d], 'AVAV'],
    ['a seq that is right with a wrong hash', [a, after({ seq: 1, hash: Buffer.alloc(32) }, 'forged'), b], 'AVA'],
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
    ['bytes after the head are not looked at', [garbageAfterHead(start, fingerprint)], 'A'],
    ['nothing', [], ''],
  ];
  const fingerprints = { [SCHEMA_ID]: fingerprint.toString('hex') };
  return cases.map(([name, records, letters]) => acceptanceVector(name, records, letters, { start, fingerprints }));
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

// --- Merkle roots ---

function merkleRoots() {
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
