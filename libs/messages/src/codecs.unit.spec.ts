// Codecs: what goes in comes out, and bytes of every other kind have a coded answer.
import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readHead } from '@recourse/chain';
import fc from 'fast-check';
import { avroType } from './avro-types.js';
import { createCodecs, recordOf, recordsOf, SCHEMAS } from './index.js';
import type { AssumptionInvalidated, Progress, SchemaSource } from './index.js';

const ID_OF_STRANGER = 900;

/** A registry in memory that counts its look-ups; ids by schema text, as registries do. */
function registry(extra: Readonly<Record<number, string>> = {}): SchemaSource & { readonly lookUps: string[] } {
  const texts = new Map<number, string>(Object.entries(extra).map(([id, schema]) => [Number(id), schema]));
  const lookUps: string[] = [];
  return {
    lookUps,
    schemaById: async (id) => {
      lookUps.push(`schema ${id}`);
      await Promise.resolve();
      const text = texts.get(id);
      if (text === undefined) throw new Error(`UNKNOWN_SCHEMA ${id}`);
      return text;
    },
    idOf: async (subject, schema) => {
      lookUps.push(subject);
      await Promise.resolve();
      const known = [...texts].find(([, text]) => text === schema);
      const id = known?.[0] ?? texts.size + 1;
      texts.set(id, schema);
      return id;
    },
  };
}

const HASH = Buffer.alloc(32, 7);
const progress: Progress = {
  seq: 3,
  prev_hash: HASH,
  decided_at: 1_700_000_000_000,
  reacted_seq: 2,
  cursors: [{ topic: 'recourse.tool-executions', partition: 1, offset: 42, seq: 0, hash: Buffer.alloc(32) }],
};

async function prepared() {
  const source = registry();
  const codecs = createCodecs(source);
  await codecs.prepareWriter('recourse.mutations', { register: true });
  const value = codecs.encode('recourse.mutations', 'Progress', progress);
  const id = value.readInt32BE(1);
  await codecs.load(id);
  return { codecs, source, value, id };
}

describe('codecs of a known record', () => {
  it('give back what was encoded, with the writer fingerprint', async () => {
    const { codecs, value, id } = await prepared();
    const decoded = codecs.decodeSync(value);
    expect(decoded).toMatchObject({
      kind: 'decoded',
      type: 'Progress',
      fullName: 'recourse.log.Progress',
      schemaId: id,
      payloadOffset: 5,
    });
    expect(decoded.kind === 'decoded' && { ...(decoded.body as object) }).toEqual(progress);
    expect(codecs.fingerprintOf(id)).toHaveLength(32);
    expect(decoded.kind === 'decoded' && decoded.fingerprint.equals(codecs.fingerprintOf(id) ?? Buffer.alloc(0))).toBe(
      true,
    );
  });

  it('narrow to the union of a topic, and to none of another', async () => {
    const { codecs, value } = await prepared();
    const decoded = codecs.decodeSync(value);
    const record = recordOf('recourse.mutations', decoded);
    expect(record?.type === 'Progress' && record.body.cursors[0]?.offset).toBe(42);
    expect(recordOf('recourse.rollback-notifications', decoded)).toBeNull();
  });

  it('use the subject <topic>-<full name>', async () => {
    const { source } = await prepared();
    expect(source.lookUps).toContain('recourse.mutations-recourse.log.Progress');
  });

  it('let the head be read without a schema', async () => {
    const { value } = await prepared();
    expect(readHead(value)).toEqual({ seq: 3, prevHash: HASH });
  });

  it('encode records larger than the scratch buffer, and small ones after', async () => {
    const codecs = createCodecs(registry());
    await codecs.prepareWriter('recourse.assumption-events');
    const big = invalidated(Buffer.alloc(300_000, 1));
    const value = codecs.encode('recourse.assumption-events', 'AssumptionInvalidated', big);
    await codecs.load(value.readInt32BE(1));
    const small = codecs.encode('recourse.assumption-events', 'AssumptionInvalidated', invalidated(Buffer.from('{}')));
    expect(bodyOf(codecs, value).statement.body).toHaveLength(300_000);
    expect(bodyOf(codecs, small).statement.body.toString()).toBe('{}');
  });

  it('refuse a body that does not fit its schema, and a topic that was not prepared', async () => {
    const { codecs } = await prepared();
    expect(() => codecs.encode('recourse.mutations', 'Progress', { ...progress, seq: 'x' })).toThrow(
      /codecs: Progress/,
    );
    expect(() => codecs.encode('recourse.mutations', 'Progress', { ...progress, seq: 2 ** 60 })).toThrow(
      /codecs: Progress/,
    );
    expect(() => codecs.encode('recourse.recoveries', 'Progress', progress)).toThrow(/no writer was prepared/);
  });

  it('serve every adapter from one catalogue entry, and refuse a topic outside the catalogue', () => {
    expect(recordsOf('recourse.tool-requests.warehouse')).toEqual(recordsOf('recourse.tool-requests.payments'));
    expect(() => recordsOf('recourse.nonsense')).toThrow(/not in schemas/);
    expect(() => recordsOf('recourse.mutations.x')).toThrow(/not in schemas/);
  });
});

describe('bytes that are no record', () => {
  it('are unframed without zero octet, id or value', async () => {
    const { codecs, value } = await prepared();
    for (const bytes of [null, Buffer.alloc(0), Buffer.from('{"a":1}'), value.subarray(0, 4), Buffer.alloc(5)]) {
      expect(codecs.decodeSync(bytes)).toMatchObject({ kind: 'bad', reason: 'UNFRAMED' });
    }
  });

  it('are truncated at every cut inside the record', async () => {
    const { codecs, value } = await prepared();
    for (let end = 5; end < value.length; end += 1) {
      expect(codecs.decodeSync(value.subarray(0, end))).toMatchObject({ kind: 'bad', reason: 'TRUNCATED' });
    }
  });

  it('have trailing bytes after the record', async () => {
    const { codecs, value } = await prepared();
    expect(codecs.decodeSync(Buffer.concat([value, Buffer.from([0])]))).toMatchObject({
      kind: 'bad',
      reason: 'TRAILING_BYTES',
    });
  });

  it('are malformed when a long exceeds 2^53 - 1', async () => {
    const { codecs, id } = await prepared();
    const value = Buffer.concat([frame(id), Buffer.from('feffffffffffffffff01', 'hex'), HASH]);
    expect(codecs.decodeSync(value)).toMatchObject({ kind: 'bad', reason: 'MALFORMED' });
  });

  it('are truncated, and answered at once, when a count claims 2^40 items', async () => {
    const { codecs, id } = await prepared();
    const huge = Buffer.from('808080808040', 'hex');
    const value = Buffer.concat([frame(id), Buffer.from([6]), HASH, Buffer.from([2]), huge]);
    expect(codecs.decodeSync(value)).toMatchObject({ kind: 'bad', reason: 'TRUNCATED' });
  });

  it('never throw nor loop, whatever they are', async () => {
    const { codecs, id } = await prepared();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = codecs.decodeSync(Buffer.concat([frame(id), bytes]));
        return decoded.kind === 'bad' || decoded.kind === 'decoded';
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('schemas of others', () => {
  it('stay unknown until loaded, with one look-up for a burst', async () => {
    const stranger = JSON.stringify({ type: 'record', name: 'other.Thing', fields: [{ name: 'a', type: 'long' }] });
    const source = registry({ [ID_OF_STRANGER]: stranger });
    const codecs = createCodecs(source);
    const value = Buffer.concat([frame(ID_OF_STRANGER), Buffer.from([2])]);
    expect(codecs.decodeSync(value)).toEqual({ kind: 'unknown_schema', id: ID_OF_STRANGER });
    await Promise.all(Array.from({ length: 50 }, async () => codecs.load(ID_OF_STRANGER)));
    expect(source.lookUps).toEqual([`schema ${ID_OF_STRANGER}`]);
    expect(codecs.decodeSync(value)).toMatchObject({
      kind: 'foreign',
      type: 'Thing',
      fullName: 'other.Thing',
      payloadOffset: 5,
    });
  });

  it('fingerprint as SHA-256 of the Parsing Canonical Form', async () => {
    const documented = JSON.stringify({
      type: 'record',
      name: 'Thing',
      namespace: 'other',
      doc: 'x',
      fields: [{ name: 'a', type: { type: 'long', logicalType: 'timestamp-millis' }, doc: 'y', default: 1 }],
    });
    const codecs = createCodecs(registry({ [ID_OF_STRANGER]: documented }));
    await codecs.load(ID_OF_STRANGER);
    const canonical = '{"name":"other.Thing","type":"record","fields":[{"name":"a","type":"long"}]}';
    expect(codecs.fingerprintOf(ID_OF_STRANGER)?.toString('hex')).toBe(
      createHash('sha256').update(canonical).digest('hex'),
    );
  });

  it('are asked for again after the registry failed', async () => {
    const source = registry();
    const codecs = createCodecs(source);
    await expect(codecs.load(77)).rejects.toThrow('UNKNOWN_SCHEMA');
    await expect(codecs.load(77)).rejects.toThrow('UNKNOWN_SCHEMA');
    expect(source.lookUps).toHaveLength(2);
  });

  it('are bad when they are no record, no schema, or a record of ours that ours cannot read', async () => {
    const wrongProgress = JSON.stringify({
      type: 'record',
      name: 'recourse.log.Progress',
      fields: [{ name: 'seq', type: 'string' }],
    });
    const codecs = createCodecs(registry({ 901: '"string"', 902: '{"type":"nonsense"}', 903: wrongProgress }));
    await Promise.all([901, 902, 903].map(async (id) => codecs.load(id)));
    expect(codecs.decodeSync(Buffer.concat([frame(901), Buffer.from([2, 65])]))).toMatchObject({
      kind: 'bad',
      reason: 'NOT_A_RECORD',
    });
    expect(codecs.decodeSync(Buffer.concat([frame(902), Buffer.from([2])]))).toMatchObject({
      kind: 'bad',
      reason: 'SCHEMA_UNREADABLE',
    });
    expect(codecs.decodeSync(Buffer.concat([frame(903), Buffer.from([2])]))).toMatchObject({
      kind: 'bad',
      reason: 'SCHEMA_INCOMPATIBLE',
    });
  });

  it('of our own past are read into our present, under their own fingerprint', async () => {
    const older = JSON.parse(SCHEMAS['recourse.assumptions.AssumptionInvalidated']) as { fields: { name: string }[] };
    older.fields = older.fields.filter((field) => field.name !== 'run_id');
    const text = JSON.stringify(older);
    const codecs = createCodecs(registry({ 904: text }));
    await codecs.load(904);
    const value = Buffer.concat([frame(904), avroType(text).toBuffer(invalidated(Buffer.from('{}')))]);
    expect(bodyOf(codecs, value)).toMatchObject({ run_id: null, ref: 'order/4711#not_shipped', stated_at: 1 });
    expect(codecs.fingerprintOf(904)?.equals(avroType(text).fingerprint('sha256'))).toBe(true);
    expect(
      codecs
        .fingerprintOf(904)
        ?.equals(avroType(SCHEMAS['recourse.assumptions.AssumptionInvalidated']).fingerprint('sha256')),
    ).toBe(false);
  });
});

function invalidated(body: Buffer): AssumptionInvalidated {
  return {
    event_id: 'e1',
    tenant: 'acme',
    ref: 'order/4711#not_shipped',
    run_id: null,
    source: 'warehouse',
    source_kind: 'observation',
    stated_at: 1,
    statement: {
      content_type: 'application/json',
      encoding: 'plain',
      key_id: null,
      body,
      sha256: createHash('sha256').update(body).digest(),
    },
  };
}

function bodyOf(codecs: ReturnType<typeof createCodecs>, value: Buffer): AssumptionInvalidated {
  const record = recordOf('recourse.assumption-events', codecs.decodeSync(value));
  if (record?.type !== 'AssumptionInvalidated') throw new Error('not an AssumptionInvalidated');
  return record.body;
}

function frame(id: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeInt32BE(id, 1);
  return bytes;
}
